// The tab of the detector of drawn shapes.

import { colour, drawFound } from "./drawing.js";
import { PictureTab } from "./picture_tab.js";

export class ShapesTab extends PictureTab {
  shipped = "shapes.png";

  get columns() {
    return ["Object", "Score", "Box, in pixels"];
  }

  load(engine) {
    return engine.ask("loadDetector", { config: "./shapes.json", weights: "./shapes.safetensors" });
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
    return `${found.length} objects in a picture of ${width} × ${height} pixels.`;
  }
}
