// Draws what was found into a canvas.

const COLOURS = ["#d6336c", "#1c7ed6", "#2b8a3e", "#e8590c", "#7048e8", "#0c8599", "#a61e4d", "#5c940d"];

export const colour = (index) => COLOURS[index % COLOURS.length];

const FACE = "#148c48";
const LANDMARK = "#ffd60a";
// A canvas has at least so many pixels along its longer side, so that the text in a small picture is sharp.
const LEAST_SIDE = 640;

export function drawFound(canvas, picture, found) {
  const { context, unit } = start(canvas, picture);
  for (const [index, { mask }] of found.entries()) drawMask(context, picture.height, mask, colour(index));
  for (const [index, { label, score, corners }] of found.entries()) {
    drawBox(context, `${label} ${score.toFixed(2)}`, corners, colour(index), unit);
  }
}

export function drawFaces(canvas, picture, found) {
  const { context, unit } = start(canvas, picture);
  for (const { score, corners, landmarks } of found) {
    drawBox(context, score.toFixed(3), corners, FACE, unit);
    // In small faces smaller, so that a dot hides no eye.
    const radius = Math.min(Math.max((corners[2] - corners[0]) / 30, unit / 2), 2 * unit);
    for (const [x, y] of landmarks) {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fillStyle = LANDMARK;
      context.fill();
      context.strokeStyle = "#000";
      context.lineWidth = unit / 3;
      context.stroke();
    }
  }
}

// Draws the picture. A unit is as wide on the page whatever the size of the picture.
function start(canvas, picture) {
  const scale = Math.ceil(LEAST_SIDE / Math.max(picture.width, picture.height));
  canvas.width = scale * picture.width;
  canvas.height = scale * picture.height;
  const pixels = new OffscreenCanvas(picture.width, picture.height);
  pixels.getContext("2d").putImageData(picture, 0, 0);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.scale(scale, scale);
  context.drawImage(pixels, 0, 0);
  return { context, unit: picture.width / 320 };
}

// The run lengths go down the columns, and every second one is of the mask.
function drawMask(context, height, runs, fill) {
  context.globalAlpha = 0.45;
  context.fillStyle = fill;
  let start = 0;
  for (const [number, run] of runs.entries()) {
    const end = start + run;
    while (number % 2 === 1 && start < end) {
      const column = Math.floor(start / height);
      const stop = Math.min(end, (column + 1) * height);
      context.fillRect(column, start - column * height, 1, stop - start);
      start = stop;
    }
    start = end;
  }
  context.globalAlpha = 1;
}

function drawBox(context, text, [x1, y1, x2, y2], stroke, unit) {
  context.strokeStyle = stroke;
  context.lineWidth = 1.5 * unit;
  context.strokeRect(x1, y1, x2 - x1, y2 - y1);
  context.font = `600 ${9 * unit}px system-ui, sans-serif`;
  context.textBaseline = "top";
  const width = context.measureText(text).width + 4 * unit;
  const top = Math.max(y1 - 12 * unit, 0);
  context.fillStyle = stroke;
  context.fillRect(x1, top, width, 12 * unit);
  context.fillStyle = "#fff";
  context.fillText(text, x1 + 2 * unit, top + 2 * unit);
}
