// The tab of faces: in a photograph, in a file, and live in the camera.

import { Camera } from "./camera.js";
import { drawFaces } from "./drawing.js";
import { PictureTab } from "./picture_tab.js";

const element = (id) => document.getElementById(id);
// The page shows how many pictures were done a second, over this time.
const RATE_MILLISECONDS = 2000;
const LEGEND = [
  ["frame", "face, with its score"],
  ["dot", "eyes, nose, and corners of the mouth"],
];

export class FacesTab extends PictureTab {
  shipped = "photograph.jpg";
  #camera = new Camera((text) => this.#stop(text));
  // Small faces need large levels of the pyramid, for which a camera leaves no time.
  #leastFaces = { picture: 20, camera: 60 };

  constructor(page, section) {
    super(page, section);
    element("camera").onclick = () => (this.#camera.running ? this.#stop() : this.#start());
    element("least-face").onchange = ({ target }) => this.#changeLeastFace(target);
    this.part("legend").replaceChildren(...LEGEND.map(([mark, text]) => legend(mark, text)));
  }

  get columns() {
    return ["Score", "Box, in pixels", "Landmarks, in pixels"];
  }

  load(engine) {
    return engine.ask("loadFaces", "./mtcnn.safetensors");
  }

  find(engine, { data, width, height }) {
    const pixels = new Uint8Array(data);
    return engine.ask("findFaces", { pixels, width, height, leastFace: this.#leastFace }, [pixels.buffer]);
  }

  paint(canvas, picture, found) {
    drawFaces(canvas, picture, found);
  }

  cells({ score, corners, landmarks }) {
    const points = landmarks.map((point) => point.map(Math.round).join(", "));
    return [score.toFixed(4), corners.map(Math.round).join(", "), points.join(" · ")];
  }

  summary(found, { width, height }) {
    const faces = found.length === 1 ? "1 face" : `${found.length} faces`;
    const size = `${faces} in a picture of ${width} × ${height} pixels.`;
    const least = this.#leastFace;
    if (Math.min(width, height) >= least) return size;
    return `${size} It is smaller than the least face, ${least} pixels.`;
  }

  // The camera is off while its tab is not seen.
  hide() {
    this.#stop();
  }

  open(source) {
    this.#stop();
    return super.open(source);
  }

  get #source() {
    return this.#camera.running ? "camera" : "picture";
  }

  get #leastFace() {
    return this.#leastFaces[this.#source];
  }

  async #changeLeastFace(field) {
    const value = Math.round(Number(field.value)) || 0;
    field.value = Math.min(Math.max(value, Number(field.min)), Number(field.max));
    this.#leastFaces[this.#source] = Number(field.value);
    // The next picture of the camera has it anyway.
    if (!this.#camera.running && this.picture) await this.open(async () => copy(this.picture));
  }

  async #start() {
    this.page.clearError();
    const stream = await this.#camera.start().catch((error) => this.page.showError(error));
    if (!stream) return;
    this.#showSource();
    const done = [];
    while (this.#camera.stream === stream) {
      this.picture = this.#camera.picture();
      const well = await this.detect(true);
      if (this.#camera.stream !== stream) break;
      if (!well) this.#stop();
      else if (this.page.engine) this.#showRate(done);
      await new Promise(requestAnimationFrame);
    }
  }

  #stop(reason) {
    this.#camera.stop();
    this.#showSource();
    if (reason) this.page.showError(new Error(reason));
  }

  #showSource() {
    element("camera").setAttribute("aria-pressed", this.#camera.running);
    element("camera").textContent = this.#camera.running ? "Stop the camera" : "Camera";
    element("least-face").value = this.#leastFace;
    this.part("rate").textContent = "–";
  }

  #showRate(done) {
    const now = performance.now();
    done.push(now);
    while (now - done[0] > RATE_MILLISECONDS && done.length > 2) done.shift();
    const seconds = (now - done[0]) / 1000;
    if (done.length > 1) this.part("rate").textContent = ((done.length - 1) / seconds).toFixed(1);
  }
}

function legend(mark, text) {
  const item = document.createElement("span");
  const sign = document.createElement("span");
  sign.className = mark;
  item.append(sign, ` ${text} `);
  return item;
}

// Another object of the same pixels: the tab detects in what is another picture than before.
const copy = ({ data, width, height }) => new ImageData(new Uint8ClampedArray(data), width, height);
