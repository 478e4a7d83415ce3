// An engine: a worker with the module of one backend. What it is asked for always ends: with a result, or with an error
// in words.

// The longest that any answer may take. A software GPU compiles its kernels for most of a minute.
const LONGEST = 240_000;

export const NAMES = { flex: "Flex (WebAssembly)", webgpu: "WebGPU" };

export class Engine {
  #worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #next = 0;
  #ended = null;

  constructor(backend, { onProgress = () => {}, onEnd = () => {} } = {}) {
    this.backend = backend;
    this.onProgress = onProgress;
    this.onEnd = onEnd;
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (event) => this.#end(event.message || "the worker failed", true);
  }

  static async open(backend, options) {
    const engine = new Engine(backend, options);
    try {
      await engine.ask("open", backend);
    } catch (error) {
      engine.close();
      throw error;
    }
    return engine;
  }

  // Why nothing can be asked for any more, or nothing.
  get ended() {
    return this.#ended;
  }

  ask(action, data, transfer = []) {
    if (this.#ended) return Promise.reject(new Error(this.#ended));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const seconds = LONGEST / 1000;
      const timer = setTimeout(
        () => this.#end(`${NAMES[this.backend] ?? this.backend} has not answered for ${seconds} seconds`, true),
        LONGEST,
      );
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, action, data }, transfer);
    });
  }

  close() {
    this.#end("the backend was changed", false);
  }

  #receive({ id, result, error, event, text }) {
    if (event === "progress") return this.onProgress(text);
    if (event === "lost") return this.#end(`The GPU device was lost (${text}).`, true);
    if (event === "panic") return this.#end(`The program stopped: ${text}`, true);
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error));
  }

  // Nothing can be asked for after this, and what was asked for fails.
  #end(text, unexpected) {
    if (this.#ended) return;
    this.#ended = text;
    this.#worker.terminate();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(text));
    }
    this.#waiting.clear();
    if (unexpected) this.onEnd(text);
  }
}

// Why this browser cannot compute on a GPU, or nothing if it can.
export async function whyNoWebGpu() {
  if (!navigator.gpu) return "This browser has no WebGPU.";
  const adapter = await navigator.gpu.requestAdapter().catch(() => null);
  return adapter ? null : "This browser has WebGPU, but finds no GPU.";
}

// Whether the GPU is one that a program imitates. Flex is faster than those.
export async function isSoftwareGpu() {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  return Boolean(adapter?.info?.isFallbackAdapter ?? adapter?.isFallbackAdapter);
}
