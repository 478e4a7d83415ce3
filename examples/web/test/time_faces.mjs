// Times the search for faces in pictures of 640 x 480 pixels with a least face of 60 pixels, on Flex in one thread of
// WebAssembly: `node time_faces.mjs PAGE`.

import { resolve } from "node:path";

import { launch, visit } from "./browser.mjs";
import { serve } from "./server.mjs";

const server = await serve({ "": resolve(process.argv[2]) });
const browser = await launch([]);
const page = await visit({ server }, browser, "?backend=flex");

// The photograph so many times beside each other and below each other.
for (const [columns, rows] of [[0, 0], [1, 1], [3, 2]]) {
  const result = await page.evaluate(
    async ([columns, rows]) => {
      const [width, height, runs] = [640, 480, 31];
      const { Engine } = await import("/engine.js");
      const bitmap = await createImageBitmap(await (await fetch("photograph.jpg")).blob());
      const context = new OffscreenCanvas(width, height).getContext("2d");
      const side = Math.min(width / columns, height / rows);
      for (let place = 0; place < columns * rows; place++) {
        const [column, row] = [place % columns, Math.floor(place / columns)];
        context.drawImage(bitmap, (column * width) / columns, (row * height) / rows, side, side);
      }
      const { data } = context.getImageData(0, 0, width, height);
      const engine = await Engine.open("flex");
      await engine.ask("loadFaces", "./mtcnn.safetensors");
      const all = [];
      for (let run = 0; run < runs + 5; run++) {
        const began = performance.now();
        const report = await engine.ask("findFaces", { pixels: new Uint8Array(data), width, height, leastFace: 60 });
        all.push({ ...report, time: performance.now() - began });
      }
      engine.close();
      // The first ones compile.
      const warm = all.slice(5).sort((left, right) => left.time - right.time);
      return { least: warm[0].time, ...warm[(runs - 1) / 2] };
    },
    [columns, rows],
  );
  const { found, stages, time, least } = result;
  const rate = `${(1000 / time).toFixed(1)} pictures a second`;
  console.log(`${found.length} faces: median ${time.toFixed(1)} ms (${rate}), least ${least.toFixed(1)} ms`);
  for (const [name, time] of stages) console.log(`  ${name.padEnd(22)} ${time.toFixed(1)} ms`);
}
await browser.close();
server.end();
