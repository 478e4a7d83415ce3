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

async function errorOf(engine, { operator, attributes, tensors }) {
  const call = { operator, attributes, tensors };
  if (tensors.expected) return largestError(await engine.ask("run", call), tensors.expected);
  const [features, boxes, offsets] = await engine.ask("gradients", call);
  const pairs = [
    [features, tensors.expected_grad_input],
    [boxes, tensors.expected_grad_boxes],
    [offsets, tensors.expected_grad_offsets],
  ].filter(([, expected]) => expected);
  if (pairs.length === 0) return Infinity;
  return Math.max(...pairs.map(([found, expected]) => largestError(found, expected)));
}

// Runs the cases of gradients, or all others. Gives how many passed for each operator, the failures by operator and in
// words, and the largest error.
export async function runCases(backend, names, ofGradients) {
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
      const error = await errorOf(engine, found);
      largest = Math.max(largest, error);
      if (error <= found.tolerance) passed[found.operator] = (passed[found.operator] ?? 0) + 1;
      else failed.push([found.operator, `${name}: largest error ${error}, tolerance ${found.tolerance}`]);
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
