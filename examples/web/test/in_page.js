// What runs in the page: conformance cases, on the engine that the page itself uses.

import { Engine } from "../engine.js";

const ARRAYS = { F32: Float32Array, I64: BigInt64Array };

// A case: a safetensors file, with the operator and its attributes as metadata.
async function readCase(name) {
  const response = await fetch(`/cases/${name}`);
  const bytes = await response.arrayBuffer();
  const length = Number(new DataView(bytes).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.slice(8, 8 + length)));
  const { __metadata__: metadata, ...views } = header;
  const tensors = {};
  for (const [view, { dtype, shape, data_offsets }] of Object.entries(views)) {
    const [start, end] = data_offsets.map((offset) => 8 + length + offset);
    const values = new ARRAYS[dtype](bytes.slice(start, end));
    tensors[view] = { values: dtype === "I64" ? Int32Array.from(values, Number) : values, shape };
  }
  const { op: operator, attrs, tolerance } = metadata;
  return { name, operator, attributes: JSON.parse(attrs), tolerance: Number(tolerance), tensors };
}

// The largest of |a - b| / max(1, |b|); infinite where only one is a number.
function largestError(output, expected) {
  if (String(output.shape) !== String(expected.shape)) return Infinity;
  let largest = 0;
  for (const [index, value] of expected.values.entries()) {
    const found = output.values[index];
    if (Object.is(found, value) || found === value) continue;
    const error = Math.abs(found - value) / Math.max(1, Math.abs(value));
    largest = Math.max(largest, Number.isNaN(error) ? Infinity : error);
  }
  return largest;
}

// FNV-1a of the bytes of arrays, as `tests/conformance.rs` computes it.
function checksum(arrays) {
  let sum = 0x811c9dc5;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    for (const byte of new Uint8Array(buffer, byteOffset, byteLength)) sum = Math.imul(sum ^ byte, 0x01000193);
  }
  return sum >>> 0;
}

// What is computed, each beside what is expected.
async function pairsOf(engine, { operator, attributes, tensors }) {
  const call = { operator, attributes, tensors };
  if (tensors.expected) return [[await engine.ask("run", call), tensors.expected]];
  const [features, boxes, offsets] = await engine.ask("gradients", call);
  const pairs = [
    [features, tensors.expected_grad_input],
    [boxes, tensors.expected_grad_boxes],
    [offsets, tensors.expected_grad_offsets],
  ];
  return pairs.filter(([, expected]) => expected);
}

// Runs the cases of gradients, or all others. Gives how many passed for each operator, the failures by operator and in
// words, and the largest error. `checksums` are those of the same backend in a native program, by case, or nothing.
export async function runCases(backend, names, ofGradients, checksums) {
  let engine = await Engine.open(backend);
  const passed = {};
  const failed = [];
  let largest = 0;
  for (const name of names) {
    // One that fails may end the engine, and the others must not fail with it.
    if (engine.ended) engine = await Engine.open(backend);
    const found = await readCase(name);
    if (!found.tensors.expected !== ofGradients) continue;
    try {
      const pairs = await pairsOf(engine, found);
      const error = Math.max(...pairs.map(([computed, expected]) => largestError(computed, expected)));
      largest = Math.max(largest, error);
      if (pairs.length === 0 || error > found.tolerance) {
        failed.push([found.operator, `${name}: largest error ${error}, tolerance ${found.tolerance}`]);
      } else if (checksums && checksums[name] !== checksum(pairs.map(([computed]) => computed.values))) {
        failed.push([found.operator, `${name}: within the tolerance, but not the bits of the native program`]);
      } else passed[found.operator] = (passed[found.operator] ?? 0) + 1;
    } catch (error) {
      failed.push([found.operator, `${name}: ${error.message}`]);
    }
  }
  engine.close();
  return { passed, failed, largest };
}

// Calls, one after the other: an output each, or an error in words.
export async function runCalls(backend, calls) {
  const engine = await Engine.open(backend);
  const outputs = await engine.ask("runAll", calls);
  engine.close();
  return outputs.map((output) => (output.error ? output : { ...output, values: Array.from(output.values) }));
}

// One action of an engine of its own, or the error's text.
export async function ask(backend, action, data) {
  const engine = await Engine.open(backend);
  try {
    return await engine.ask(action, data);
  } catch (error) {
    return { error: error.message };
  } finally {
    engine.close();
  }
}

// The median time of a call on a warm engine, in milliseconds.
export async function time(backend, call, times) {
  const engine = await Engine.open(backend);
  const measured = [];
  for (let number = 0; number < times; number++) {
    const began = performance.now();
    await engine.ask("run", call);
    measured.push(performance.now() - began);
  }
  engine.close();
  return measured.sort((left, right) => left - right)[Math.floor(times / 2)];
}
