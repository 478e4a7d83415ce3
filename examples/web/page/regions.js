// The tab of operators: what each framework makes of a region of a feature map.

import { groupsOf } from "./comparison.js";
import { conventions } from "./conventions.js";
import { FeatureMap, SIDE } from "./feature_map.js";
import { showPooled } from "./pooled.js";
import { samplesCall, samplesOf } from "./samples.js";

const element = (id) => document.getElementById(id);

export class RegionsTab {
  #page;
  #map = null;
  // The map with its channels so many times.
  #inputs = new Map();
  #rows = [];
  #groups = [];
  // The row whose samples the map shows.
  #selected = 1;
  #busy = false;
  #changed = false;

  constructor(page) {
    this.#page = page;
    for (const id of ["output", "sampling", "scale", "angle"]) element(id).oninput = () => this.#change();
    for (const id of ["reference", "amplification"]) element(id).oninput = () => this.#showGroups();
  }

  async show() {
    try {
      this.#map ??= await FeatureMap.load(element("map"), "photograph.jpg", () => this.#change());
    } catch (error) {
      return this.#page.showError(error);
    }
    await this.#change();
  }

  // Called when another tab is chosen.
  hide() {}

  async #change() {
    if (!this.#map) return;
    this.#map.angle = whole("angle");
    this.#map.draw();
    const corners = this.#map.region.map((coordinate) => coordinate.toFixed(1)).join(", ");
    element("region").textContent = `Region [${corners}], in pixels of the map`;
    await this.#pool();
  }

  // Pools the region, and once more if it was changed meanwhile. The body's data say when all is pooled.
  async #pool() {
    this.#changed = true;
    if (this.#busy) return;
    this.#busy = true;
    delete document.body.dataset.pooled;
    try {
      while (this.#changed && this.#page.engine) {
        this.#changed = false;
        await this.#poolOnce(this.#page.engine);
      }
      if (!this.#changed) document.body.dataset.pooled = this.#page.engine.backend;
    } catch (error) {
      this.#page.showError(error);
    } finally {
      this.#busy = false;
    }
  }

  async #poolOnce(engine) {
    const options = {
      region: this.#map.region,
      map: [SIDE, SIDE],
      output: whole("output"),
      sampling: whole("sampling"),
      scale: Number(element("scale").value),
      angle: whole("angle"),
    };
    const rows = conventions(options);
    const calls = rows.map(({ operator, attributes, tensors, repeated = 1 }) => ({
      operator,
      attributes,
      tensors: { input: this.#input(repeated), ...tensors },
    }));
    const samples = samplesCall(rows[this.#selected], this.#selected, options);
    const began = performance.now();
    const outputs = await engine.ask("runAll", calls);
    const time = performance.now() - began;
    element("pooling-time").textContent = `${calls.length} calls in ${time.toFixed(0)} ms`;
    [this.#rows, this.#groups] = [rows, groupsOf(rows, outputs)];
    this.#showReferences();
    this.#showGroups();
    this.#map.showSamples(samples ? samplesOf(await engine.ask("run", samples)) : []);
    const title = rows[this.#selected]?.title;
    element("samples").textContent = samples
      ? `Dots: the samples of ${title}. Choose another operator by a click on its picture.`
      : `No dots: ${title} has no samples, or an adaptive number of them.`;
  }

  #input(repeated) {
    if (!this.#inputs.has(repeated)) this.#inputs.set(repeated, this.#map.tensor(repeated));
    return this.#inputs.get(repeated);
  }

  #showReferences() {
    const select = element("reference");
    if (select.options.length === this.#rows.length) return;
    const chosen = Math.max(select.selectedIndex, 0);
    const options = this.#rows.map(({ family, title }) => new Option(`${family}: ${title}`));
    select.replaceChildren(...options);
    // torchvision with `aligned` is the first one.
    select.selectedIndex = options.length > chosen && chosen > 0 ? chosen : 1;
  }

  #showGroups() {
    const chosen = element("reference").selectedIndex;
    const good = this.#groups.filter(({ output }) => !output.error);
    const reference = good.find(({ indices }) => indices.includes(chosen)) ?? good[0];
    if (!reference) return;
    const amplification = Number(element("amplification").value);
    const shown = { groups: this.#groups, reference, amplification, selected: this.#selected };
    showPooled(element("pooled"), shown, {
      onSelect: (row) => {
        this.#selected = row;
        this.#change();
      },
      onValue: (text) => (element("value").textContent = text || element("value").dataset.hint),
    });
  }
}

function whole(id) {
  const field = element(id);
  const value = Math.round(Number(field.value)) || 0;
  return Math.min(Math.max(value, Number(field.min)), Number(field.max));
}
