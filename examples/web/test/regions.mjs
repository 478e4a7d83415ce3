// The tab of operators: regions that are moved, equal results, differences, values and samples.

import { visit } from "./browser.mjs";

// The region is moved by keyboard and by pointer, and what is pooled changes with it.
export async function moveRegion(page) {
  const region = () => page.textContent("#region");
  const picture = () => page.evaluate(() => pooled());
  await page.evaluate(() => {
    const canvases = () => [...document.querySelectorAll("#pooled canvas")];
    globalThis.pooled = () => canvases().map((canvas) => canvas.toDataURL()).join();
  });
  const problems = [];
  const changed = async (how, move) => {
    const before = [await region(), await picture()];
    await move();
    await page
      .waitForFunction((before) => pooled() !== before, before[1])
      .catch(() => problems.push(`what is pooled does not change ${how}`));
    if ((await region()) === before[0]) problems.push(`the region does not move ${how}`);
  };
  await changed("by keyboard", async () => {
    await page.focus("#map");
    for (let press = 0; press < 6; press++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowDown");
  });
  await changed("by pointer", async () => {
    const box = await page.locator("#map").boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.9, { steps: 5 });
    await page.mouse.up();
  });
  const refused = await page.$$eval("#pooled .refused", (all) => all.map(({ textContent }) => textContent));
  return [...problems, ...refused.filter(Boolean).map((reason) => `a convention is refused: ${reason}`)];
}

const pooled = (page) => page.waitForSelector("body[data-pooled=flex]");

// The text and the pixels of every picture.
const figures = (page) =>
  page.$$eval("#pooled figure", (all) =>
    all.map((figure) => {
      const canvas = figure.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const bright = data.filter((_, index) => index % 4 !== 3).some((value) => value > 0);
      return { text: figure.innerText, bright };
    }),
  );

export async function checkOperatorsTab(context) {
  const page = await visit(context, context.withoutGpu, "?backend=flex");
  await page.click("#tab-regions");
  await pooled(page);
  const problems = [];
  const expect = (fits, problem) => fits || problems.push(problem);
  const having = (all, title) => all.find(({ text }) => text.includes(title));

  const groups = await figures(page);
  const rows = await page.$$eval("#reference option", (all) => all.length);
  expect(rows >= 30 && groups.length < rows, `${rows} operators in ${groups.length} pictures`);
  const aligned = having(groups, "torchvision, aligned");
  expect(aligned.text.includes("ONNX, opset 16"), `equal results: ${JSON.stringify(aligned.text)}`);
  expect(aligned.text.includes("the reference"), `the reference is ${JSON.stringify(aligned.text)}`);
  expect(/differs by up to 0\.\d/.test(groups[0].text), `another one is ${JSON.stringify(groups[0].text)}`);

  await page.selectOption("#amplification", "8");
  let differences = await figures(page);
  expect(!having(differences, "torchvision, aligned").bright, "the reference differs from itself");
  expect(differences[0].bright, "no difference is shown");
  await page.selectOption("#reference", { index: 0 });
  differences = await figures(page);
  expect(!differences[0].bright, "another reference differs from itself");

  await page.hover("#pooled canvas");
  const value = await page.textContent("#value");
  expect(/row 3, column 3: red 0\.\d{4} \(\+0\.0000\)/.test(value), `the value is ${JSON.stringify(value)}`);

  problems.push(...(await checkSamples(page)));
  await page.close();
  return problems;
}

// The samples of 7 x 7 elements with 2 x 2 samples each, in the region that the tab starts with.
async function checkSamples(page) {
  const samples = await page.evaluate(async () => {
    const [{ Engine }, { conventions }, { samplesCall, samplesOf }] = await Promise.all(
      ["/engine.js", "/conventions.js", "/samples.js"].map((name) => import(name)),
    );
    const options = { region: [14, 10, 44, 46], map: [64, 64], output: 7, sampling: 2, scale: 0.5, angle: 0 };
    const engine = await Engine.open("flex");
    const rows = conventions(options);
    const all = [];
    for (const [index, row] of rows.entries()) {
      const call = samplesCall(row, index, options);
      if (call) all.push([row.title, samplesOf(await engine.ask("run", call))]);
    }
    engine.close();
    return all;
  });
  const problems = [];
  const first = Object.fromEntries(samples.map(([title, [point]]) => [title, point]));
  const step = [30 / 14, 36 / 14];
  const expected = {
    "torchvision, aligned; detectron2": [14 + step[0] / 2, 10 + step[1] / 2],
    torchvision: [14.5 + step[0] / 2, 10.5 + step[1] / 2],
    "detectron2 ROIAlignRotated": [14 + step[0] / 2, 10 + step[1] / 2],
  };
  for (const [title, point] of Object.entries(expected)) {
    const error = Math.max(...point.map((value, axis) => Math.abs(value - first[title][axis])));
    if (!(error < 1e-3)) problems.push(`the first sample of ${title} is at ${first[title]}, but must be at ${point}`);
  }
  const counts = Object.fromEntries(samples.map(([title, points]) => [title, points.length]));
  if (counts.torchvision !== 196) problems.push(`torchvision has ${counts.torchvision} samples`);
  if (counts["TensorFlow; TensorRT"] !== 49) problems.push(`TensorFlow has ${counts["TensorFlow; TensorRT"]} samples`);
  return problems;
}
