// Times a call on Flex, on onnxruntime-web and on TensorFlow.js, in one Chromium: `node compare.mjs PAGE MODULES`.

import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { serve } from "../test/server.mjs";

const [page, modules] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(modules, "x"))("playwright-core");
const compare = new URL(".", import.meta.url).pathname;
const server = await serve({ "": compare, page, modules, compare });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--headless=new"],
  timeout: 60_000,
});
// A page each, and each three times in turn: what else the machine does falls on all of them.
for (let round = 0; round < 3; round++) {
  for (const name of ["flex", "onnxruntime", "tensorflow"]) {
    const tab = await browser.newPage();
    await tab.goto(`${server.address}peers.html`);
    const results = await tab.evaluate(async (name) => (await import("/compare/in_page.js"))[name](), name);
    for (const [operator, [least, median, sum]] of Object.entries(results)) {
      const times = `least ${least.toFixed(1)} ms, median ${median.toFixed(1)} ms`;
      console.log(`${name.padEnd(12)} ${operator.padEnd(14)} ${times} (sum ${sum.toPrecision(7)})`);
    }
    await tab.close();
  }
}
await browser.close();
server.end();
