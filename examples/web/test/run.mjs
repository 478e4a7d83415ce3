// Tests the built page in headless Chromium: `node run.mjs PAGE CASES OUTPUT`. OUTPUT has what native programs compute,
// and gets the screenshots.
//
// Every wait has a limit. The whole run has one too, so that nothing can hang.

import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { WEBGPU, camera, launch } from "./browser.mjs";
import { checkCamera, checkFaces, checkFacesErrors, checkFiles } from "./faces.mjs";
import { checkCases, checkFurtherOperators, checkReads } from "./operators.mjs";
import { checkDetector, checkErrors, checkLostGpu, checkPage } from "./page.mjs";
import { checkOperatorsTab } from "./regions.mjs";
import { serve } from "./server.mjs";

const [page, cases, output] = process.argv.slice(2).map((path) => resolve(path));
const LIMIT_IN_MINUTES = 25;
setTimeout(() => {
  console.error(`error: the tests have not ended after ${LIMIT_IN_MINUTES} minutes`);
  process.exit(1);
}, LIMIT_IN_MINUTES * 60_000).unref();

const folders = {
  "": page,
  test: new URL(".", import.meta.url).pathname,
  cases,
  faces: new URL("../../find_faces", import.meta.url).pathname,
};
const server = await serve(folders);
// The page's modules have neither gradients nor NdArray. That of the tests has.
const serverOfTests = await serve(folders, join(output, "module"));
const withGpu = await launch(WEBGPU);
// A film of one picture.
const film = join(output, "camera.mjpeg");
await copyFile(join(page, "photograph.jpg"), film);
const withoutGpu = await launch(["--disable-gpu", ...camera(film)]);
const failures = [];
const wanted = (process.env.ONLY ?? "").split(",").filter(Boolean);
// What the module has.
const backends = (process.env.BACKENDS ?? "flex,ndarray,webgpu").split(",");

// Runs a check, and goes on with the next whether it fails or not.
async function check(name, run) {
  if (wanted.length && !wanted.some((part) => name.includes(part))) return;
  const began = performance.now();
  const problems = await run().catch((error) => [error.stack ?? String(error)]);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${problems.length ? "FAILED" : "passed"}: ${name} (${seconds} s)`);
  for (const problem of problems) console.log(`  ${problem}`);
  failures.push(...problems);
}

const names = (await readdir(cases)).filter((name) => name.endsWith(".safetensors")).sort();
const read = async (name) => JSON.parse(await readFile(join(output, name), "utf8"));
const found = (await read("detections.json")).detections;
const faces = (await read("faces.json")).faces;
const checksums = await read("checksums.json");
const context = { server, serverOfTests, withGpu, withoutGpu, output, names, found, faces, checksums };
if (backends.includes("ndarray")) await check("recorded cases on ndarray", () => checkCases(context, "ndarray"));
for (const backend of backends.filter((backend) => backend !== "ndarray")) {
  await check(`recorded cases on ${backend}`, () => checkCases(context, backend));
  await check(`operators without recorded cases on ${backend}`, () => checkFurtherOperators(context, backend));
  await check(`functions that read back on ${backend}`, () => checkReads(context, backend));
  await check(`faces on ${backend}`, () => checkFaces(context, backend));
  await check(`the detector of coins on ${backend}`, () => checkDetector(context, backend));
}
await check("the page at two widths, by keyboard and in a dark scheme", () => checkPage(context));
await check("the tab of operators", () => checkOperatorsTab(context));
await check("faces in files", () => checkFiles(context));
await check("faces in the camera", () => checkCamera(context));
await check("faces: errors in words", () => checkFacesErrors(context));
await check("errors in words", () => checkErrors(context));
if (backends.includes("webgpu")) await check("a GPU that is lost", () => checkLostGpu(context));

await Promise.all([withGpu.close(), withoutGpu.close()]);
server.end();
serverOfTests.end();
await writeFile(join(output, "result.txt"), failures.join("\n"));
console.log(failures.length ? `${failures.length} failures` : "all passed");
process.exit(failures.length ? 1 : 0);
