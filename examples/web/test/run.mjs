// Tests the built page in headless Chromium: `node run.mjs PAGE CASES OUTPUT`. OUTPUT has what native programs compute,
// and gets the screenshots.
//
// Every wait has a limit. The whole run has one too, so that nothing can hang.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { checkCases, checkFurtherOperators, checkReads } from "./operators.mjs";
import { checkCamera, checkDetector, checkErrors, checkPage } from "./page.mjs";
import { serve } from "./server.mjs";

const [page, cases, output] = process.argv.slice(2).map((path) => resolve(path));
// Installed beside the page, not beside this file.
const { chromium } = createRequire(join(process.env.NODE_PATH, "x"))("playwright-core");

const LIMIT_IN_MINUTES = 25;
setTimeout(() => {
  console.error(`error: the tests have not ended after ${LIMIT_IN_MINUTES} minutes`);
  process.exit(1);
}, LIMIT_IN_MINUTES * 60_000).unref();

const CAMERA = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
// SwiftShader, a GPU in software, which Chromium brings along.
const WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

async function launch(flags) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--headless=new", ...CAMERA, ...flags],
    timeout: 60_000,
  });
}

const folders = {
  "": page,
  test: new URL(".", import.meta.url).pathname,
  cases,
};
const server = await serve(folders);
// The page's modules have neither gradients nor NdArray. That of the tests has.
const serverOfTests = await serve(folders, join(output, "module"));
const withGpu = await launch(WEBGPU);
const withoutGpu = await launch(["--disable-gpu"]);
const failures = [];
const wanted = (process.env.ONLY ?? "").split(",").filter(Boolean);

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
const checksums = await read("checksums.json");
const context = { server, serverOfTests, withGpu, withoutGpu, output, names, found, checksums };
await check("recorded cases on ndarray", () => checkCases(context, "ndarray"));
for (const backend of ["flex", "webgpu"]) {
  await check(`recorded cases on ${backend}`, () => checkCases(context, backend));
  await check(`operators without recorded cases on ${backend}`, () => checkFurtherOperators(context, backend));
  await check(`functions that read back on ${backend}`, () => checkReads(context, backend));
  await check(`the detector on ${backend}`, () => checkDetector(context, backend));
}
await check("the page at two widths, by keyboard and in a dark scheme", () => checkPage(context));
await check("camera and dropped files", () => checkCamera(context));
await check("errors in words", () => checkErrors(context));

await Promise.all([withGpu.close(), withoutGpu.close()]);
server.end();
serverOfTests.end();
await writeFile(join(output, "result.txt"), failures.join("\n"));
console.log(failures.length ? `${failures.length} failures` : "all passed");
process.exit(failures.length ? 1 : 0);
