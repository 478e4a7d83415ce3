// One call on each peer and on Flex, in the same page, on one thread: [1, 256, 50, 68], 100 boxes, 7 x 7, 2 samples.

const [channels, height, width, count, size] = [256, 50, 68, 100, 7];
const RUNS = 41;

// The same numbers each time.
function random(seed) {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

const next = random(1);
const features = Float32Array.from({ length: channels * height * width }, next);
const boxes = Array.from({ length: count }, () => {
  const [x, y] = [next() * 200, next() * 140];
  return [x, y, x + 10 + next() * 60, y + 10 + next() * 50];
});

// The least and the median time, in milliseconds. The least is what the machine's other work disturbs least.
async function times(run) {
  for (let number = 0; number < 5; number++) await run();
  const all = [];
  for (let number = 0; number < RUNS; number++) {
    const began = performance.now();
    await run();
    all.push(performance.now() - began);
  }
  all.sort((left, right) => left - right);
  return [all[0], all[(RUNS - 1) / 2]];
}

// Parts of the map, as TensorFlow takes boxes.
const parts = boxes.flatMap(([x1, y1, x2, y2]) => [
  y1 / 4 / (height - 1),
  x1 / 4 / (width - 1),
  y2 / 4 / (height - 1),
  x2 / 4 / (width - 1),
]);

export async function flex() {
  const { Call, Engine, default: init } = await import("/page/flex.js");
  await init({ module_or_path: "/page/flex_bg.wasm" });
  const engine = await Engine.open("flex");
  const call = (operator, attributes, values) => {
    const call = new Call(operator, JSON.stringify(attributes));
    call.floats("input", features, new Uint32Array([1, channels, height, width]));
    call.floats("boxes", Float32Array.from(values), new Uint32Array([count, 4]));
    call.integers("batch_indices", new Int32Array(count), new Uint32Array([count]));
    return async () => {
      const output = await engine.run(call);
      const { values } = output;
      output.free();
      return values;
    };
  };
  const align = call(
    "onnx.RoiAlign",
    { output_height: size, output_width: size, sampling_ratio: 2, spatial_scale: 0.25, opset: 16 },
    boxes.flat(),
  );
  const crop = call("tensorflow.crop_and_resize", { crop_size: [size, size] }, parts);
  return {
    roiAlign: [...(await times(align)), sum(await align())],
    cropAndResize: [...(await times(crop)), sum(await crop())],
  };
}

export async function onnxruntime() {
  const ort = await import("/modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs");
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create("/compare/roi_align.onnx", { executionProviders: ["wasm"] });
  const feeds = {
    features: new ort.Tensor("float32", features, [1, channels, height, width]),
    boxes: new ort.Tensor("float32", Float32Array.from(boxes.flat()), [count, 4]),
    batch_indices: new ort.Tensor("int64", new BigInt64Array(count), [count]),
  };
  const run = async () => (await session.run(feeds)).pooled.data;
  return { roiAlign: [...(await times(run)), sum(await run())] };
}

export async function tensorflow() {
  tf.wasm.setWasmPaths("/modules/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  // Channels last, as TensorFlow.js has them.
  const last = new Float32Array(features.length);
  for (let channel = 0; channel < channels; channel++) {
    for (let pixel = 0; pixel < height * width; pixel++) {
      last[pixel * channels + channel] = features[channel * height * width + pixel];
    }
  }
  const image = tf.tensor4d(last, [1, height, width, channels]);
  const boxesOf = tf.tensor2d(parts, [count, 4]);
  const indices = tf.tensor1d(new Int32Array(count), "int32");
  const run = async () => {
    const output = tf.image.cropAndResize(image, boxesOf, indices, [size, size]);
    const values = await output.data();
    output.dispose();
    return values;
  };
  return { cropAndResize: [...(await times(run)), sum(await run())] };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
