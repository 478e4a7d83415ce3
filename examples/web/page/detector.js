// The tab of the detector: a picture, and what is found in it.

import { drawFound, colour } from "./drawing.js";
import { draw, read } from "./pictures.js";

const element = (id) => document.getElementById(id);

export class DetectorTab {
  #page;
  // The engine that has the weights.
  #loaded = null;
  #picture = null;
  #report = null;
  #busy = false;
  #stream = null;

  constructor(page) {
    this.#page = page;
    element("shapes").onclick = () => this.#open(() => this.#shipped("shapes.png"));
    element("photograph").onclick = () => this.#open(() => this.#shipped("photograph.jpg"));
    element("file").onchange = ({ target }) => {
      const [file] = target.files;
      if (file) this.#open(() => read(file, file.name));
      target.value = "";
    };
    element("camera").onclick = () => (this.#stream ? this.#stopCamera() : this.#startCamera());
    element("score").oninput = () => {
      element("score-value").textContent = Number(element("score").value).toFixed(2);
      this.#draw();
    };
    const drop = element("drop");
    drop.ondragover = (event) => {
      event.preventDefault();
      drop.classList.add("over");
    };
    drop.ondragleave = () => drop.classList.remove("over");
    drop.ondrop = (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      const [file] = event.dataTransfer.files;
      if (file) this.#open(() => read(file, file.name));
    };
  }

  // Called when the tab is chosen, and when a backend was started.
  async show() {
    if (!this.#picture) return this.#open(() => this.#shipped("shapes.png"));
    if (this.#loaded !== this.#page.engine) await this.#detect();
  }

  async #shipped(name) {
    const response = await fetch(name);
    if (!response.ok) throw new Error(`${name} cannot be loaded: ${response.status} ${response.statusText}`);
    return read(await response.blob(), name);
  }

  async #open(source) {
    this.#stopCamera();
    this.#page.clearError();
    try {
      this.#picture = await source();
    } catch (error) {
      return this.#page.showError(error);
    }
    await this.#detect();
  }

  // Detects the objects of the picture, and of the one that replaces it meanwhile.
  async #detect() {
    if (this.#busy || !this.#page.engine) return;
    this.#busy = true;
    try {
      let detected = null;
      while (detected !== this.#picture && this.#page.engine) {
        detected = this.#picture;
        // From the camera, the last picture stays until this one is done.
        if (!this.#stream) {
          this.#report = null;
          this.#draw();
          element("caption").textContent = "Looking …";
        }
        await this.#loadWeights();
        const { width, height } = detected;
        const pixels = new Uint8Array(detected.data);
        const report = await this.#page.engine.ask("detect", { pixels, width, height }, [pixels.buffer]);
        if (detected === this.#picture) this.#show(report);
      }
    } catch (error) {
      element("caption").textContent = "Nothing was looked for.";
      this.#page.showError(error);
    } finally {
      this.#busy = false;
    }
  }

  async #loadWeights() {
    const { engine } = this.#page;
    if (this.#loaded === engine) return;
    await engine.ask("loadDetector", { config: "./shapes.json", weights: "./shapes.safetensors" });
    this.#page.hideProgress();
    this.#loaded = engine;
  }

  #show(report) {
    this.#report = report;
    this.#draw();
    const rows = report.stages.map(([name, time]) => [name, time.toFixed(1)]);
    fill(element("stages").tBodies[0], rows);
    const total = report.stages.reduce((sum, [, time]) => sum + time, 0);
    fill(element("stages").tFoot, [["in all", total.toFixed(1)]]);
    document.body.dataset.detected = this.#page.engine.backend;
  }

  #draw() {
    if (!this.#picture) return;
    const least = Number(element("score").value);
    const found = (this.#report?.found ?? []).filter(({ score }) => score >= least);
    drawFound(element("found"), this.#picture, found);
    const rows = found.map(({ label, score, corners }) => {
      return [label, score.toFixed(2), corners.map(Math.round).join(", ")];
    });
    const body = element("objects").tBodies[0];
    fill(body, rows);
    for (const [index, row] of [...body.rows].entries()) {
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = colour(index);
      row.cells[0].prepend(swatch);
    }
    if (!this.#report) return;
    const { width, height } = this.#picture;
    element("caption").textContent = `${found.length} objects in a picture of ${width} × ${height} pixels.`;
  }

  async #startCamera() {
    this.#page.clearError();
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640 } });
    } catch (error) {
      return this.#page.showError(new Error(`The camera cannot be used: ${error.message}.`));
    }
    element("camera").setAttribute("aria-pressed", "true");
    const video = document.createElement("video");
    video.srcObject = this.#stream;
    video.muted = true;
    await video.play();
    while (this.#stream === video.srcObject) {
      this.#picture = draw(video, video.videoWidth, video.videoHeight);
      await this.#detect();
      await new Promise(requestAnimationFrame);
    }
  }

  #stopCamera() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    element("camera").setAttribute("aria-pressed", "false");
  }
}

function fill(section, rows) {
  section.replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      for (const text of cells) row.insertCell().textContent = text;
      return row;
    }),
  );
}
