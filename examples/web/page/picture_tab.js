// A tab with a picture and what a detector finds in it. Subclasses say which detector:
//
// - `shipped`: the picture that the tab opens with; `columns` and `cells(object)`: the table of what was found;
// - `load(engine)` loads the weights, and `find(engine, picture)` gives a report { found, stages };
// - `paint(canvas, picture, found)` draws, and `summary(found, picture)` says what was found.

import { NAMES } from "./engine.js";
import { read } from "./pictures.js";

export class PictureTab {
  page;
  section;
  picture = null;
  #report = null;
  // The engine that has the weights.
  #loaded = null;
  #busy = false;
  // Counts the pictures that were opened, since a large one can be read after one that was chosen later.
  #opened = 0;

  constructor(page, section) {
    this.page = page;
    this.section = section;
    section.append(document.getElementById("picture-tab").content.cloneNode(true));
    this.part("objects").tHead.rows[0].replaceChildren(...this.columns.map((name) => cell("th", name)));
    this.part("shipped").onclick = () => this.open(() => this.#fetch());
    this.part("file").onchange = ({ target }) => {
      const [file] = target.files;
      if (file) this.open(() => read(file, file.name));
      target.value = "";
    };
    this.part("score").oninput = () => {
      this.part("score-value").textContent = this.leastScore.toFixed(2);
      this.#draw();
    };
    this.#takeDrops(this.part("drop"));
  }

  part(name) {
    return this.section.querySelector(`.${name}`);
  }

  get leastScore() {
    return Number(this.part("score").value);
  }

  // Called when the tab is chosen, and when a backend was started.
  async show() {
    if (!this.picture) return this.open(() => this.#fetch());
    if (this.#loaded !== this.page.engine) await this.detect();
  }

  // Called when another tab is chosen.
  hide() {}

  #takeDrops(figure) {
    const over = (event, inside) => {
      event.preventDefault();
      figure.classList.toggle("over", inside);
    };
    figure.ondragover = (event) => over(event, true);
    figure.ondragleave = (event) => over(event, false);
    figure.ondrop = (event) => {
      over(event, false);
      const [file] = event.dataTransfer.files;
      if (file) this.open(() => read(file, file.name));
    };
  }

  async #fetch() {
    const response = await fetch(this.shipped);
    if (!response.ok) throw new Error(`${this.shipped} cannot be loaded: ${response.status} ${response.statusText}`);
    return read(await response.blob(), this.shipped);
  }

  async open(source) {
    const number = ++this.#opened;
    this.page.clearError();
    try {
      const picture = await source();
      if (number !== this.#opened) return;
      this.picture = picture;
    } catch (error) {
      return this.page.showError(error);
    }
    await this.detect();
  }

  // Detects in the picture, and in the one that replaces it meanwhile. `live`: the last picture stays until this one is
  // done. Says whether it was done.
  async detect(live = false) {
    const { engine } = this.page;
    if (this.#busy || !engine) return true;
    this.#busy = true;
    delete this.section.dataset.done;
    try {
      await this.#loadWeights(engine, live);
      let detected = null;
      while (detected !== this.picture && this.page.engine === engine) {
        detected = this.picture;
        if (!live) this.#wait();
        const began = performance.now();
        const report = await this.find(engine, detected);
        if (detected === this.picture) this.#show(report, performance.now() - began);
      }
      return true;
    } catch (error) {
      // The page itself says why an engine ended.
      if (this.page.engine !== engine) return true;
      this.part("caption").textContent = "Detection failed.";
      this.page.showError(error);
      return false;
    } finally {
      this.#busy = false;
      // A backend that was started meanwhile.
      if (this.page.engine && this.page.engine !== engine) this.detect(live);
    }
  }

  async #loadWeights(engine, live) {
    if (this.#loaded === engine) return;
    if (!live) this.#wait();
    await this.load(engine);
    this.page.hideProgress();
    this.#loaded = engine;
  }

  #wait() {
    this.#report = null;
    this.#draw();
    this.part("caption").textContent = "Detecting…";
  }

  #show(report, time) {
    this.#report = report;
    this.#draw();
    this.part("runs-on").textContent = NAMES[this.page.engine.backend];
    this.part("milliseconds").textContent = time.toFixed(0);
    const stages = this.part("stages");
    fill(stages.tBodies[0], report.stages.map(([name, time]) => [name, time.toFixed(1)]));
    const total = report.stages.reduce((sum, [, time]) => sum + time, 0);
    fill(stages.tFoot, [["Total", total.toFixed(1)]]);
    this.section.dataset.done = this.page.engine.backend;
  }

  #draw() {
    if (!this.picture) return;
    const found = (this.#report?.found ?? []).filter(({ score }) => score >= this.leastScore);
    this.paint(this.part("found"), this.picture, found);
    fill(this.part("objects").tBodies[0], found.map((object) => this.cells(object)));
    this.decorate?.([...this.part("objects").tBodies[0].rows]);
    if (this.#report) this.part("caption").textContent = this.summary(found, this.picture);
  }
}

function cell(kind, text) {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
}

function fill(section, rows) {
  section.replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map((text) => cell("td", text)));
      return row;
    }),
  );
}
