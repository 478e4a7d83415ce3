// Runs the WebAssembly module of one backend beside the page, so that the page answers while it computes.
//
// A message is { id, action, data }. Its answer is { id, result } or { id, error }. What nobody asked for is
// { event, text }: "progress" while the module loads, "panic" after which the module is of no use, and "lost" when the
// GPU device is gone.

let module;
let engine;

const tell = (event, text) => self.postMessage({ event, text });

// WebAssembly sees a lost device only as results that never come.
function watchForLostDevice() {
  if (!self.GPUAdapter) return;
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    const device = await request.call(this, descriptor);
    device.lost.then((lost) => tell("lost", lost.message || lost.reason));
    // For the console.
    self.gpuDevice = device;
    return device;
  };
}

// The bytes of a file, and word of how many have come.
async function load(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} cannot be loaded: ${response.status} ${response.statusText}`);
  const total = Number(response.headers.get("content-length"));
  const bytes = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes.push(value);
    loaded += value.length;
    tell("progress", { path, loaded, total });
  }
  return new Uint8Array(await new Blob(bytes).arrayBuffer());
}

function asCall({ operator, attributes, tensors }) {
  const call = new module.Call(operator, JSON.stringify(attributes));
  for (const [name, { values, shape }] of Object.entries(tensors)) {
    if (values instanceof Int32Array) call.integers(name, values, new Uint32Array(shape));
    else call.floats(name, Float32Array.from(values), new Uint32Array(shape));
  }
  return call;
}

function asArray(array) {
  const plain = { values: array.values, shape: Array.from(array.shape) };
  array.free();
  return plain;
}

const actions = {
  async open(backend) {
    watchForLostDevice();
    module = await import(`./${backend}.js`);
    await module.default({ module_or_path: await load(`./${backend}_bg.wasm`) });
    module.onPanic((text) => tell("panic", text));
    engine = await module.Engine.open(backend);
  },

  async run(call) {
    return asArray(await engine.run(asCall(call)));
  },

  // One after the other. A call that is refused gives its error.
  async runAll(calls) {
    const outputs = [];
    for (const call of calls) {
      try {
        outputs.push(await actions.run(call));
      } catch (error) {
        outputs.push({ error: error.message });
      }
    }
    return outputs;
  },

  async gradients(call) {
    return (await engine.gradients(asCall(call))).map(asArray);
  },

  async nms({ boxes, scores, threshold }) {
    return engine.nms(Float32Array.from(boxes), Float32Array.from(scores), threshold);
  },

  async blockingErrors() {
    return engine.blockingErrors();
  },

  async halfPrecisionError() {
    return engine.halfPrecisionError();
  },

  async loadDetector({ config, weights }) {
    const text = new TextDecoder().decode(await load(config));
    engine.loadDetector(new module.Weights(text, await load(weights)));
  },

  async detect({ pixels, width, height }) {
    return JSON.parse(await engine.detect(pixels, width, height));
  },

  async loadFaces(weights) {
    engine.loadFaces(await load(weights));
  },

  async findFaces({ pixels, width, height, leastFace }) {
    return JSON.parse(await engine.findFaces(pixels, width, height, leastFace));
  },
};

// One at a time, in the order in which they were asked for.
let last = Promise.resolve();
self.onmessage = ({ data: { id, action, data } }) => {
  last = last.then(async () => {
    try {
      self.postMessage({ id, result: await actions[action](data) });
    } catch (error) {
      self.postMessage({ id, error: error?.message ?? String(error) });
    }
  });
};
