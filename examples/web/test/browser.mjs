// Chromium, and how long anything there may take.

import { createRequire } from "node:module";
import { join } from "node:path";

// Installed beside the page, not beside this file.
const { chromium } = createRequire(join(process.env.NODE_PATH, "x"))("playwright-core");

// A software GPU compiles its kernels for most of a minute.
export const SLOW = 180_000;

// SwiftShader, a GPU in software, which Chromium brings along.
export const WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

// A camera that shows `video`.
export const camera = (video) => [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  `--use-file-for-fake-video-capture=${video}`,
];

export async function launch(flags) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--headless=new", ...flags],
    timeout: 60_000,
  });
}

export async function visit({ server }, browser, query = "", options = {}) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(90_000);
  await page.goto(server.address + query);
  return page;
}

// Waits until a tab shows what was detected.
export const detected = (page, tab, backend) =>
  page.waitForSelector(`#${tab}[data-done=${backend}]`, { timeout: SLOW });

// Waits until an element's text fits, and says what it is if it never does.
export async function expectText(page, selector, part) {
  const fits = ([selector, part]) => document.querySelector(selector).textContent.includes(part);
  await page.waitForFunction(fits, [selector, part], { timeout: SLOW }).catch(() => {});
  const found = await page.textContent(selector);
  if (found.includes(part)) return [];
  return [`${selector} says ${JSON.stringify(found)}, but must say ${JSON.stringify(part)}`];
}
