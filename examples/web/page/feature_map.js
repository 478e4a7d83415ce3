// The feature map of the operators' tab: a small photograph, with a region that the pointer or arrow keys move, and the
// samples that an operator takes.

import { draw } from "./pictures.js";

export const SIDE = 64;

export class FeatureMap {
  #canvas;
  #picture;
  #onChange;
  #samples = [];
  // x1, y1, x2, y2 in pixels of the map.
  region = [14, 10, 44, 46];
  // In degrees, counter-clockwise; only rotated operators turn the region.
  angle = 0;

  constructor(canvas, picture, onChange) {
    [this.#canvas, this.#picture, this.#onChange] = [canvas, picture, onChange];
    let from = null;
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      from = this.#position(event);
    };
    canvas.onpointermove = (event) => {
      if (from) this.#select(from, this.#position(event));
    };
    canvas.onpointerup = canvas.onpointercancel = () => (from = null);
    canvas.onkeydown = (event) => this.#key(event);
  }

  static async load(canvas, address, onChange) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address} cannot be loaded: ${response.status} ${response.statusText}`);
    const size = { resizeWidth: SIDE, resizeHeight: SIDE, resizeQuality: "high" };
    return new FeatureMap(canvas, await createImageBitmap(await response.blob(), size), onChange);
  }

  // The channels one after the other, each so many times, as a tensor with values from 0 to 1.
  tensor(repeated) {
    const { data } = draw(this.#picture, SIDE, SIDE);
    const values = new Float32Array(3 * repeated * SIDE * SIDE);
    for (let channel = 0; channel < 3; channel++) {
      const plane = Float32Array.from({ length: SIDE * SIDE }, (_, pixel) => data[4 * pixel + channel] / 255);
      for (let copy = 0; copy < repeated; copy++) values.set(plane, (channel * repeated + copy) * SIDE * SIDE);
    }
    return { values, shape: [1, 3 * repeated, SIDE, SIDE] };
  }

  // Positions [x, y] in pixels of the map.
  showSamples(samples) {
    this.#samples = samples;
    this.draw();
  }

  draw() {
    const context = this.#canvas.getContext("2d");
    const unit = this.#canvas.width / SIDE;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#picture, 0, 0, this.#canvas.width, this.#canvas.height);
    this.#drawRegion(context, unit, 0);
    if (this.angle) this.#drawRegion(context, unit, this.angle);
    context.fillStyle = "#ffd60a";
    context.strokeStyle = "#000";
    context.lineWidth = 1;
    for (const [x, y] of this.#samples) {
      context.beginPath();
      context.arc(x * unit, y * unit, 2.5, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }

  // Dashed where it is turned.
  #drawRegion(context, unit, angle) {
    const [x1, y1, x2, y2] = this.region.map((coordinate) => coordinate * unit);
    context.save();
    context.translate((x1 + x2) / 2, (y1 + y2) / 2);
    context.rotate((-angle * Math.PI) / 180);
    for (const [style, width] of [["#000", 5], ["#fff", 2]]) {
      context.setLineDash(angle ? [10, 6] : []);
      context.strokeStyle = style;
      context.lineWidth = width;
      context.strokeRect((x1 - x2) / 2, (y1 - y2) / 2, x2 - x1, y2 - y1);
    }
    context.restore();
  }

  #select([x1, y1], [x2, y2]) {
    this.region = [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
    this.#onChange();
  }

  #key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    let [x1, y1, x2, y2] = this.region;
    [x2, y2] = [x2 + step[0], y2 + step[1]];
    if (!event.shiftKey) [x1, y1] = [x1 + step[0], y1 + step[1]];
    if (x1 < 0 || y1 < 0 || x2 > SIDE || y2 > SIDE || x2 < x1 || y2 < y1) return;
    this.#select([x1, y1], [x2, y2]);
  }

  #position(event) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const inside = (value) => Math.min(Math.max(value, 0), SIDE);
    return [inside(((event.clientX - left) / width) * SIDE), inside(((event.clientY - top) / height) * SIDE)];
  }
}
