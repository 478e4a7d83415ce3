// The tab of regions: what each framework makes of a region that the pointer drags.

import { conventions } from "./conventions.js";
import { draw } from "./pictures.js";

const SIDE = 64;
const element = (id) => document.getElementById(id);

export class RegionsTab {
  #page;
  #map = null;
  #picture = null;
  // x1, y1, x2, y2 in pixels of the map.
  #region = [14, 10, 44, 46];
  #busy = false;
  #changed = false;

  constructor(page) {
    this.#page = page;
    for (const id of ["output", "sampling", "scale"]) element(id).oninput = () => this.#pool();
    const canvas = element("map");
    let from = null;
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      from = position(canvas, event);
    };
    canvas.onpointermove = (event) => {
      if (from) this.#select(from, position(canvas, event));
    };
    canvas.onpointerup = canvas.onpointercancel = () => (from = null);
    canvas.onkeydown = (event) => this.#key(event);
  }

  async show() {
    try {
      if (!this.#map) await this.#load();
    } catch (error) {
      return this.#page.showError(error);
    }
    this.#draw();
    await this.#pool();
  }

  async #load() {
    const response = await fetch("photograph.jpg");
    if (!response.ok) throw new Error(`photograph.jpg cannot be loaded: ${response.status} ${response.statusText}`);
    const bitmap = await createImageBitmap(await response.blob(), {
      resizeWidth: SIDE,
      resizeHeight: SIDE,
      resizeQuality: "high",
    });
    const { data } = draw(bitmap, SIDE, SIDE);
    const values = new Float32Array(3 * SIDE * SIDE);
    for (let pixel = 0; pixel < SIDE * SIDE; pixel++) {
      for (let channel = 0; channel < 3; channel++) {
        values[channel * SIDE * SIDE + pixel] = data[4 * pixel + channel] / 255;
      }
    }
    this.#map = { values, shape: [1, 3, SIDE, SIDE] };
    this.#picture = bitmap;
  }

  #select([x1, y1], [x2, y2]) {
    this.#region = [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
    this.#draw();
    this.#pool();
  }

  #key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    let [x1, y1, x2, y2] = this.#region;
    [x2, y2] = [x2 + step[0], y2 + step[1]];
    if (!event.shiftKey) [x1, y1] = [x1 + step[0], y1 + step[1]];
    if (x1 < 0 || y1 < 0 || x2 > SIDE || y2 > SIDE || x2 < x1 || y2 < y1) return;
    this.#select([x1, y1], [x2, y2]);
  }

  #draw() {
    const canvas = element("map");
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#picture, 0, 0, canvas.width, canvas.height);
    const unit = canvas.width / SIDE;
    const [x1, y1, x2, y2] = this.#region.map((coordinate) => coordinate * unit);
    for (const [style, width] of [["#000", 5], ["#fff", 2]]) {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.strokeRect(x1, y1, x2 - x1, y2 - y1);
    }
    const corners = this.#region.map((coordinate) => coordinate.toFixed(1)).join(", ");
    element("region").textContent = `Region [${corners}], in pixels of the map`;
  }

  // Pools the region, and once more if it was changed meanwhile. The body's data say when all is pooled.
  async #pool() {
    this.#changed = true;
    if (this.#busy) return;
    this.#busy = true;
    delete document.body.dataset.pooled;
    try {
      while (this.#changed && this.#page.engine && this.#map) {
        this.#changed = false;
        await this.#poolOnce();
      }
      if (!this.#changed) document.body.dataset.pooled = this.#page.engine.backend;
    } catch (error) {
      this.#page.showError(error);
    } finally {
      this.#busy = false;
    }
  }

  async #poolOnce() {
    const rows = conventions({
      region: this.#region,
      map: [SIDE, SIDE],
      output: whole("output"),
      sampling: whole("sampling"),
      scale: Number(element("scale").value),
    });
    const calls = rows.map(({ operator, attributes, tensors }) => ({
      operator,
      attributes,
      tensors: { input: this.#map, ...tensors },
    }));
    const began = performance.now();
    const outputs = await this.#page.engine.ask("runAll", calls);
    const time = performance.now() - began;
    element("pooling-time").textContent = `${calls.length} calls in ${time.toFixed(0)} ms`;
    show(rows, outputs);
  }
}

function whole(id) {
  const field = element(id);
  const value = Math.round(Number(field.value)) || 0;
  return Math.min(Math.max(value, Number(field.min)), Number(field.max));
}

function position(canvas, event) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const inside = (value) => Math.min(Math.max(value, 0), SIDE);
  return [inside(((event.clientX - left) / width) * SIDE), inside(((event.clientY - top) / height) * SIDE)];
}

// The outputs as pictures, operator by operator. Their canvases are kept, so that nothing flickers.
function show(rows, outputs) {
  const pooled = element("pooled");
  if (pooled.childElementCount === 0) pooled.append(...families(rows));
  const figures = [...pooled.querySelectorAll("figure")];
  for (const [index, output] of outputs.entries()) {
    const [canvas, , refusal] = figures[index].children;
    refusal.textContent = output.error ?? "";
    canvas.hidden = Boolean(output.error);
    if (!output.error) paint(canvas, output);
  }
}

function families(rows) {
  const names = [...new Set(rows.map(({ family }) => family))];
  return names.flatMap((name) => {
    const heading = document.createElement("h2");
    heading.textContent = name;
    const family = document.createElement("div");
    family.className = "family";
    for (const { title } of rows.filter((row) => row.family === name)) {
      const [figure, caption] = ["figure", "figcaption"].map((tag) => document.createElement(tag));
      const refusal = document.createElement("div");
      caption.textContent = title;
      refusal.className = "refused";
      figure.append(document.createElement("canvas"), caption, refusal);
      family.append(figure);
    }
    return [heading, family];
  });
}

function paint(canvas, { values, shape: [, channels, height, width] }) {
  canvas.width = width;
  canvas.height = height;
  const picture = new ImageData(width, height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let channel = 0; channel < channels; channel++) {
      picture.data[4 * pixel + channel] = 255 * values[channel * width * height + pixel];
    }
    picture.data[4 * pixel + 3] = 255;
  }
  canvas.getContext("2d").putImageData(picture, 0, 0);
}
