// Where an operator takes its samples: the operator itself says it, pooling a map whose values are positions.

import { conventions } from "./conventions.js";
import { SIDE } from "./feature_map.js";

// A call whose elements are the samples of a row of `conventions(options)`, one each, or nothing if the row has none.
export function samplesCall(row, index, options) {
  const { output, sampling } = options;
  // An adaptive number of samples depends on the framework.
  if (!row?.points || (!sampling && !row.single)) return null;
  const finer = row.single ? options : { ...options, output: output * sampling, sampling: 1 };
  const { operator, tensors, points } = conventions(finer)[index];
  return { operator, attributes: points, tensors: { input: positions(), ...tensors } };
}

// x and y of the centre of each pixel, and 1 to tell a sample outside the map, which reads 0.
function positions() {
  const plane = SIDE * SIDE;
  const values = new Float32Array(3 * plane).fill(1);
  for (let pixel = 0; pixel < plane; pixel++) {
    values[pixel] = (pixel % SIDE) + 0.5;
    values[plane + pixel] = Math.floor(pixel / SIDE) + 0.5;
  }
  return { values, shape: [1, 3, SIDE, SIDE] };
}

// The samples [x, y] in an output of such a call.
export function samplesOf({ values, shape: [, , height, width] }) {
  const plane = height * width;
  const samples = Array.from({ length: plane }, (_, index) => index).filter((index) => values[2 * plane + index] > 0.5);
  return samples.map((index) => [values[index], values[plane + index]]);
}
