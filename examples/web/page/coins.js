// The tab of the detector of coins.

import { colour, drawFound } from "./drawing.js";
import { PictureTab } from "./picture_tab.js";

export class CoinsTab extends PictureTab {
  shipped = "coins.png";

  get columns() {
    return ["Object", "Score", "Box, in pixels"];
  }

  load(engine) {
    return engine.ask("loadDetector", { config: "./coins.json", weights: "./coins.safetensors" });
  }

  find(engine, { data, width, height }) {
    const pixels = new Uint8Array(data);
    return engine.ask("detect", { pixels, width, height }, [pixels.buffer]);
  }

  paint(canvas, picture, found) {
    drawFound(canvas, picture, found);
  }

  cells({ label, score, corners }) {
    return [label, score.toFixed(2), corners.map(Math.round).join(", ")];
  }

  // The colours of the objects in the picture.
  decorate(rows) {
    for (const [index, row] of rows.entries()) {
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = colour(index);
      row.cells[0].prepend(swatch);
    }
  }

  summary(found, { width, height }) {
    const coins = found.length === 1 ? "1 coin" : `${found.length} coins`;
    return `${coins} in a picture of ${width} × ${height} pixels.`;
  }
}
