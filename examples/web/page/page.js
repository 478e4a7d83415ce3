// The page: its tabs, the backend it runs on, and what it says of that.

import { CoinsTab } from "./coins.js";
import { Engine, NAMES, isSoftwareGpu, whyNoWebGpu } from "./engine.js";
import { FacesTab } from "./faces.js";
import { RegionsTab } from "./regions.js";

const element = (id) => document.getElementById(id);
const radios = [...document.querySelectorAll("input[name=backend]")];
const tabs = [...document.querySelectorAll("[role=tab]")];

let engine = null;
// What is started last is what counts.
let starts = 0;

const page = {
  get engine() {
    return engine;
  },
  showError(error) {
    element("error").textContent = error.message ?? String(error);
    element("error").hidden = false;
  },
  clearError() {
    element("error").hidden = true;
  },
  showProgress({ path, loaded, total }) {
    const megabytes = (loaded / 1e6).toFixed(1);
    element("loading-what").textContent = `Loading ${path.replace("./", "")}: ${megabytes} MB`;
    element("loading-bar").max = total || 1;
    element("loading-bar").value = total ? loaded : 0;
    element("loading").hidden = false;
  },
  hideProgress() {
    element("loading").hidden = true;
  },
};

const panels = {
  coins: new CoinsTab(page, element("coins")),
  faces: new FacesTab(page, element("faces")),
  regions: new RegionsTab(page),
};
const shown = () => panels[Object.keys(panels).find((id) => !element(id).hidden)];

function say(text) {
  element("backend").textContent = text;
}

// Starts a backend. Where WebGPU cannot run, Flex runs instead, and the page says why.
async function start(wanted, reason = "") {
  const number = ++starts;
  engine?.close();
  engine = null;
  say(`Starting ${NAMES[wanted]}…`);
  const missing = wanted === "webgpu" ? await whyNoWebGpu() : null;
  if (number !== starts) return;
  if (missing) return start("flex", missing);
  for (const radio of radios) radio.checked = radio.value === wanted;
  try {
    const opened = await Engine.open(wanted, { onProgress: page.showProgress, onEnd: (text) => ended(wanted, text) });
    if (number !== starts) return opened.close();
    engine = opened;
  } catch (error) {
    if (number !== starts) return;
    if (wanted === "webgpu") return start("flex", `WebGPU failed: ${error.message}`);
    say("Nothing runs.");
    return page.showError(error);
  } finally {
    if (number === starts) page.hideProgress();
  }
  say([reason, `The page runs on ${NAMES[wanted]}.`].filter(Boolean).join(" "));
  document.body.dataset.backend = wanted;
  await shown().show();
}

// A device that is lost, or a program that stopped. The page goes on with Flex, once more if it was Flex.
function ended(backend, text) {
  page.showError(new Error(text));
  if (backend === "webgpu") start("flex", text);
  else if (engine) start("flex", "The program was started anew.");
}

function select(tab) {
  shown().hide();
  for (const other of tabs) {
    const selected = other === tab;
    other.setAttribute("aria-selected", selected);
    other.tabIndex = selected ? 0 : -1;
    element(other.getAttribute("aria-controls")).hidden = !selected;
  }
  page.clearError();
  shown().show();
}

for (const [index, tab] of tabs.entries()) {
  tab.onclick = () => select(tab);
  tab.onkeydown = ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(index + step + tabs.length) % tabs.length];
    next.focus();
    select(next);
  };
}
for (const radio of radios) {
  radio.onchange = () => {
    page.clearError();
    start(radio.value);
  };
}

const asked = new URLSearchParams(location.search).get("backend");
const chosen = asked in NAMES ? asked : (await isSoftwareGpu()) ? "flex" : "webgpu";
await start(chosen);
