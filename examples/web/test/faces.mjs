// The tab of faces: the same faces as natively, files, the camera, and that nothing leaves the computer.

import { join } from "node:path";
import { writeFile } from "node:fs/promises";

import { detected, expectText, visit } from "./browser.mjs";
import { png } from "./pictures.mjs";

const LANDMARKS = ["left_eye", "right_eye", "nose", "mouth_left", "mouth_right"];

// Opens the tab, and waits until it shows the shipped photograph.
async function openTab(page, backend) {
  await page.click("#tab-faces");
  await detected(page, "faces", backend);
}

// What the tab shows, and the faces of the recorded picture.
export async function checkFaces(context, backend) {
  const page = await context[backend === "flex" ? "withoutGpu" : "withGpu"].newPage();
  const sent = watchRequests(page, context.server.address);
  page.setDefaultTimeout(90_000);
  await page.goto(`${context.server.address}?backend=${backend}`);
  await openTab(page, backend);
  const problems = [
    ...(await expectText(page, "#faces .caption", "1 face in a picture of 512 × 512 pixels.")),
    ...(await expectText(page, "#faces .runs-on", { flex: "Flex (WebAssembly)", webgpu: "WebGPU" }[backend])),
  ];
  if (!(Number(await page.textContent("#faces .milliseconds")) > 0)) problems.push("no time is shown");
  // No face has a score of more than 1, and the slider draws anew.
  await page.fill("#faces .score", "1");
  problems.push(...(await expectText(page, "#faces .caption", "0 faces")));
  const faces = await facesOfRecording(page, backend);
  await page.close();
  return [...problems, ...differences(faces, context.faces), ...sent()];
}

// What was sent anywhere: nothing but requests for the page's own files.
function watchRequests(page, address) {
  const problems = [];
  page.on("request", (request) => {
    const own = request.url().startsWith(address) || /^(blob|data):/.test(request.url());
    if (!own || request.method() !== "GET" || request.postData()) {
      problems.push(`a request leaves the page: ${request.method()} ${request.url()}`);
    }
  });
  return () => problems;
}

// A PNG file, since browsers and `image` decode the colours of a JPEG file differently.
async function facesOfRecording(page, backend) {
  return page.evaluate(async (backend) => {
    const { Engine } = await import("/engine.js");
    const { read } = await import("/pictures.js");
    const engine = await Engine.open(backend);
    await engine.ask("loadFaces", "./mtcnn.safetensors");
    const { data, width, height } = await read(await (await fetch("/faces/parity.png")).blob(), "parity.png");
    const report = await engine.ask("findFaces", { pixels: new Uint8Array(data), width, height, leastFace: 20 });
    engine.close();
    return report.found;
  }, backend);
}

function differences(found, expected) {
  if (found.length !== expected.length) return [`${found.length} faces, but natively ${expected.length}`];
  let [inPixels, inScore] = [0, 0];
  for (const [index, { corners, score, landmarks }] of found.entries()) {
    const native = expected[index];
    const here = [...corners, ...landmarks.flat()];
    const there = [...native.box, ...LANDMARKS.flatMap((name) => native.landmarks[name])];
    inPixels = Math.max(inPixels, ...here.map((value, place) => Math.abs(value - there[place])));
    inScore = Math.max(inScore, Math.abs(score - native.score));
  }
  const text = `${inPixels.toExponential(1)} pixels, and ${inScore.toExponential(1)} in the score`;
  console.log(`  ${found.length} face, largest differences from the native program: ${text}`);
  return inPixels <= 0.1 && inScore <= 1e-4 ? [] : [`faces differ by ${text}`];
}

// Files: dropped, without a face, and smaller than the least face.
export async function checkFiles(context) {
  const page = await visit(context, context.withoutGpu, "?backend=flex");
  await openTab(page, "flex");
  await page.evaluate(async () => {
    const data = new DataTransfer();
    data.items.add(new File([await (await fetch("coins.png")).blob()], "dropped.png"));
    document.querySelector("#faces .drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
  });
  const problems = await expectText(page, "#faces .caption", "0 faces in a picture of 201 × 303 pixels.");
  const small = join(context.output, "small.png");
  await writeFile(small, png(1, 1));
  await page.setInputFiles("#faces .file", small);
  const text = "0 faces in a picture of 1 × 1 pixels. It is smaller than the least face, 20 pixels.";
  problems.push(...(await expectText(page, "#faces .caption", text)));
  await page.click("#faces .shipped");
  problems.push(...(await expectText(page, "#faces .caption", "1 face in a picture of 512 × 512 pixels.")));
  // No face of the photograph is as large.
  await page.fill("#least-face", "500");
  await page.press("#least-face", "Tab");
  problems.push(...(await expectText(page, "#faces .caption", "0 faces in a picture of 512 × 512 pixels.")));
  if (await page.isVisible("#error")) problems.push(`an error: ${await page.textContent("#error")}`);
  await page.close();
  return problems;
}

// The tests' camera shows the photograph.
export async function checkCamera(context) {
  const page = await visit(context, context.withoutGpu, "?backend=flex");
  await openTab(page, "flex");
  await page.click("#camera");
  await page.waitForFunction(() => Number(document.querySelector("#faces .rate").textContent) > 0);
  const problems = await expectText(page, "#faces .caption", "1 face in a picture of");
  const read = (id) => page.inputValue(id);
  if ((await read("#least-face")) !== "60") problems.push(`the least face is ${await read("#least-face")}`);
  console.log(`  ${await page.textContent("#faces .rate")} pictures a second`);
  await page.click("#camera");
  if ((await page.getAttribute("#camera", "aria-pressed")) !== "false") problems.push("the camera does not stop");
  if ((await read("#least-face")) !== "20") problems.push(`the least face stays ${await read("#least-face")}`);
  // It stops when another tab is chosen.
  await page.click("#camera");
  await page.waitForSelector("#camera[aria-pressed=true]");
  await page.click("#tab-coins");
  await page.waitForSelector("#camera[aria-pressed=false]", { state: "attached" });
  await detected(page, "coins", "flex");
  if (await page.isVisible("#error")) problems.push(`an error: ${await page.textContent("#error")}`);
  await page.close();
  return problems;
}

// Without a camera, and without the weights.
export async function checkFacesErrors(context) {
  const page = await context.withoutGpu.newPage();
  await page.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = async () => {
      throw new DOMException("Requested device not found", "NotFoundError");
    };
  });
  await page.goto(`${context.server.address}?backend=flex`);
  await openTab(page, "flex");
  await page.click("#camera");
  const problems = await expectText(page, "#error", "The camera cannot be used: Requested device not found.");
  await page.route("**/mtcnn.safetensors", (route) => route.fulfill({ body: "no weights" }));
  await page.reload();
  await page.click("#tab-faces");
  problems.push(...(await expectText(page, "#error", "these are not the weights of MTCNN")));
  problems.push(...(await expectText(page, "#faces .caption", "Detection failed.")));
  await page.close();
  return problems;
}
