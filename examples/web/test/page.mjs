// The page itself: what it shows, what it says when something is wrong, and how it is used.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { detected, expectText, visit } from "./browser.mjs";
import { png } from "./pictures.mjs";
import { moveRegion } from "./regions.mjs";

// What the page itself detects in the shipped picture, beside what the native program finds.
export async function checkDetector(context, backend) {
  const page = await visit(context, context.withGpu, `?backend=${backend}`);
  const answer = page.evaluate(async (backend) => {
    const { Engine } = await import("/engine.js");
    const { read } = await import("/pictures.js");
    const engine = await Engine.open(backend);
    await engine.ask("loadDetector", { config: "./coins.json", weights: "./coins.safetensors" });
    const { data, width, height } = await read(await (await fetch("coins.png")).blob(), "coins.png");
    const reports = [];
    // The second time everything is compiled.
    for (let run = 0; run < 2; run++) {
      reports.push(await engine.ask("detect", { pixels: new Uint8Array(data), width, height }));
    }
    engine.close();
    return reports[1];
  }, backend);
  const { found, stages } = await answer;
  await detected(page, "coins", backend);
  const shown = await whatIsShown(page, context.found);
  await page.close();
  const total = stages.reduce((sum, [, time]) => sum + time, 0);
  console.log(`  ${found.length} objects, ${total.toFixed(0)} ms when warm`);
  return [...differences(found, context.found), ...shown];
}

// The tab opens first, and shows a row and a mask for each coin that the native program draws.
async function whatIsShown(page, native) {
  const drawn = native.filter(({ score }) => score >= 0.5);
  const problems = await expectText(page, "#coins .caption", `${drawn.length} coins in a picture of 201 × 303 pixels.`);
  if (!(await page.isVisible("#coins"))) problems.push("the tab of coins does not open first");
  const rows = await page.locator("#coins .objects tbody tr").count();
  if (rows !== drawn.length) problems.push(`${rows} rows, but natively ${drawn.length} coins`);
  const share = await page.evaluate(shareOfMasks, drawn.map(({ mask }) => mask.counts));
  if (!(share > 0.98)) problems.push(`of the masks' pixels, only ${share} are tinted`);
  return problems;
}

// Runs in the page: how many of the masks' pixels have a colour. The photograph is grey.
function shareOfMasks(masks) {
  const canvas = document.querySelector("#coins .found");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const scale = canvas.width / 201;
  const height = canvas.height / scale;
  let [tinted, all] = [0, 0];
  for (const runs of masks) {
    let place = 0;
    for (const [number, run] of runs.entries()) {
      for (const end = place + run; place < end; place++) {
        if (number % 2 === 0) continue;
        const [column, row] = [Math.floor(place / height) + 0.5, (place % height) + 0.5];
        const pixel = 4 * (Math.floor(row * scale) * canvas.width + Math.floor(column * scale));
        all += 1;
        tinted += data[pixel] !== data[pixel + 1] || data[pixel] !== data[pixel + 2];
      }
    }
  }
  return tinted / all;
}

function differences(found, expected) {
  if (found.length !== expected.length) return [`${found.length} objects, but natively ${expected.length}`];
  let largest = 0;
  const problems = [];
  for (const [index, { label, score, corners, mask }] of found.entries()) {
    const native = expected[index];
    if (label !== native.label) problems.push(`object ${index} is a ${label}, but natively a ${native.label}`);
    const pairs = [[score, native.score], ...corners.map((corner, place) => [corner, native.box[place]])];
    for (const [here, there] of pairs) {
      largest = Math.max(largest, Math.abs(here - there) / Math.max(1, Math.abs(there)));
    }
    const different = differentPixels(mask, native.mask.counts);
    if (different > 2) problems.push(`the mask of object ${index} differs in ${different} pixels`);
  }
  console.log(`  largest difference from the native program: ${largest.toExponential(1)}`);
  return largest <= 1e-3 ? problems : [...problems, `boxes or scores differ by ${largest}`];
}

function differentPixels(left, right) {
  const pixels = (runs) => runs.flatMap((run, index) => Array(run).fill(index % 2));
  const [here, there] = [pixels(left), pixels(right)];
  return here.reduce((sum, value, place) => sum + (value !== there[place]), 0);
}

export async function checkPage(context) {
  const problems = [];
  const widths = { wide: [1280, 900, "light"], narrow: [390, 844, "dark"] };
  for (const [name, [width, height, colorScheme]] of Object.entries(widths)) {
    const page = await visit(context, context.withoutGpu, "", { viewport: { width, height }, colorScheme });
    for (const tab of ["coins", "faces"]) {
      await page.click(`#tab-${tab}`);
      await detected(page, tab, "flex");
      problems.push(...(await fits(page, `${name}: ${tab}`)));
      await page.screenshot({ path: join(context.output, `${tab}_${name}.png`), fullPage: true });
    }
    problems.push(...(await keyboard(page)));
    await page.click("#tab-regions");
    await page.waitForSelector("body[data-pooled=flex]");
    problems.push(...(await moveRegion(page)));
    await page.waitForSelector("body[data-pooled=flex]");
    problems.push(...(await fits(page, `${name}: regions`)));
    await page.screenshot({ path: join(context.output, `regions_${name}.png`), fullPage: true });
    await page.close();
  }
  return problems;
}

// Nothing is wider than the page, and the canvases that are seen are not of one colour.
async function fits(page, name) {
  const { wide, blank } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - innerWidth,
    blank: [...document.querySelectorAll("[role=tabpanel]:not([hidden]) canvas:not([hidden])")].filter((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const pixels = new Set(new Uint32Array(data.buffer));
      return pixels.size < 2;
    }).length,
  }));
  const problems = [];
  if (wide > 0) problems.push(`${name}: ${wide} pixels wider than the window`);
  if (blank > 0) problems.push(`${name}: ${blank} canvases of one colour`);
  return problems;
}

// The tabs are reached by keyboard.
async function keyboard(page) {
  await page.focus("#tab-faces");
  await page.keyboard.press("ArrowRight");
  const there = await page.isVisible("#regions");
  await page.keyboard.press("ArrowRight");
  const around = await page.isVisible("#coins");
  await page.keyboard.press("ArrowLeft");
  const back = await page.isVisible("#regions");
  const all = [there, around, back];
  return all.every(Boolean) ? [] : [`arrow keys on the tabs: regions, coins and regions are shown: ${all}`];
}

export async function checkErrors(context) {
  const problems = [];

  // A browser that does not know WebGPU.
  const old = await context.withoutGpu.newPage();
  await old.addInitScript(() => delete Navigator.prototype.gpu);
  await old.goto(context.server.address);
  problems.push(...(await expectText(old, "#backend", "This browser has no WebGPU. The page runs on Flex")));
  await old.close();

  // One that knows it, and finds no GPU.
  const without = await visit(context, context.withoutGpu, "?backend=webgpu");
  problems.push(...(await expectText(without, "#backend", "finds no GPU. The page runs on Flex")));
  await detected(without, "coins", "flex");

  // Files that are no picture, and one that is too large.
  const files = { "notes.png": Buffer.from("no picture"), "large.png": png(10_000, 5_000), "grey.png": png(20, 30) };
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(context.output, name), bytes);
  const choose = (name) => without.setInputFiles("#coins .file", join(context.output, name));
  await choose("notes.png");
  problems.push(...(await expectText(without, "#error", "notes.png is no picture that this browser can read.")));
  await choose("large.png");
  problems.push(...(await expectText(without, "#error", "large.png has 50.0 megapixels")));
  // The page goes on.
  await choose("grey.png");
  problems.push(...(await expectText(without, "#coins .caption", "20 × 30 pixels")));
  if (await without.isVisible("#error")) problems.push("an error stays after a good picture");

  // Weights that cannot be loaded.
  await without.route("**/coins.safetensors", (route) => route.abort());
  await without.reload();
  problems.push(...(await expectText(without, "#error", "fetch")));
  await without.close();
  return problems;
}

export async function checkLostGpu(context) {
  const problems = [];
  const page = await visit(context, context.withGpu, "?backend=webgpu");
  await detected(page, "coins", "webgpu");
  problems.push(...(await expectText(page, "#backend", "The page runs on WebGPU")));
  await page.workers()[0].evaluate(() => self.gpuDevice.destroy());
  problems.push(...(await expectText(page, "#error", "The GPU device was lost")));
  problems.push(...(await expectText(page, "#backend", "The page runs on Flex")));
  await detected(page, "coins", "flex");
  // And back, by the switch.
  await page.check("input[value=webgpu]");
  problems.push(...(await expectText(page, "#backend", "The page runs on WebGPU")));
  await page.close();
  return problems;
}
