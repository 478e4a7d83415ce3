// Every operator, by the engine that the page uses, against recorded numbers.

const LEAST_CASES = 300;

// A page on which the tests' own module can be imported.
export async function open({ server, withGpu }) {
  const page = await withGpu.newPage();
  page.setDefaultTimeout(90_000);
  // Nothing starts by itself here.
  await page.route("**/page.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await page.goto(server.address);
  return page;
}

// Calls a function of in_page.js, with a limit.
export async function inPage(page, name, minutes, ...argument) {
  const call = page.evaluate(
    async ([name, argument]) => (await import("/test/in_page.js"))[name](...argument),
    [name, argument],
  );
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} has not ended after ${minutes} minutes`)), minutes * 60_000);
  });
  return Promise.race([call, limit]).finally(() => clearTimeout(timer));
}

export async function checkCases(context, backend) {
  // Only Flex has the same instructions in the same order.
  const checksums = backend === "flex" ? context.checksums : null;
  // The page has no NdArray.
  const page = await open(backend === "ndarray" ? { ...context, server: context.serverOfTests } : context);
  const forward = await inPage(page, "runCases", 15, backend, context.names, false, checksums);
  await page.close();
  const pageOfGradients = await open({ ...context, server: context.serverOfTests });
  const backward = await inPage(pageOfGradients, "runCases", 15, backend, context.names, true, checksums);
  await pageOfGradients.close();
  const passed = { ...forward.passed, ...backward.passed };
  const failed = [...forward.failed, ...backward.failed];
  const largest = Math.max(forward.largest, backward.largest);
  const count = Object.values(passed).reduce((sum, number) => sum + number, 0);
  console.log(`  ${count} cases of ${Object.keys(passed).length} operators, largest error ${largest.toExponential(1)}`);
  const problems = failed.map(([, text]) => text);
  return count < LEAST_CASES ? [...problems, `${count} cases passed, but at least ${LEAST_CASES} must`] : problems;
}

// The operators that no case is recorded of. Interpolation in a ramp gives the ramp: an element's mean is the value at
// its centre.
export async function checkFurtherOperators(context, backend) {
  const [side, channels] = [16, 8];
  const ramp = (channel, x, y) => channel + 0.5 * x - 0.25 * y;
  const values = [];
  for (let channel = 0; channel < channels; channel++) {
    for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) values.push(ramp(channel, x, y));
  }
  const input = { values, shape: [1, channels, side, side] };
  const [x1, y1, x2, y2] = [6, 8, 24, 22];
  const [rows, columns, scale] = [3, 4, 0.5];
  const expected = [];
  for (let channel = 0; channel < channels; channel++) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const x = x1 * scale - 0.5 + ((column + 0.5) * (x2 - x1) * scale) / columns;
        const y = y1 * scale - 0.5 + ((row + 0.5) * (y2 - y1) * scale) / rows;
        expected.push(ramp(channel, x, y));
      }
    }
  }
  const boxes = { values: [0, x1, y1, x2, y2], shape: [1, 5] };
  const upright = { values: [0, (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 0], shape: [1, 6] };
  const size = [rows, columns];
  const rotated = { output_size: size, spatial_scale: scale, sampling_ratio: 2 };
  const oriented = { out_size: size, spatial_scale: scale, num_samples: 2, num_orientations: 8 };
  const calls = [
    { operator: "mmcv.roi_align_rotated", attributes: rotated, tensors: { input, boxes: upright } },
    { operator: "detectron2.ROIAlignRotated", attributes: rotated, tensors: { input, boxes: upright } },
    { operator: "mmcv.riroi_align_rotated", attributes: oriented, tensors: { input, boxes: upright } },
    { operator: "mmcv.deform_roi_pool", attributes: rotated, tensors: { input, boxes } },
  ];
  const page = await open(context);
  const outputs = await inPage(page, "runCalls", 5, backend, calls);
  await page.close();
  return outputs.flatMap((output, index) => {
    const { operator } = calls[index];
    if (output.error) return [`${operator}: ${output.error}`];
    // mmcv's and detectron2's riroi kernel has no shift of half a pixel.
    const shift = operator === "mmcv.riroi_align_rotated" ? 0.125 : 0;
    const errors = output.values.map((value, place) => Math.abs(value - shift - expected[place]));
    const largest = Math.max(...errors);
    if (output.values.length !== expected.length) return [`${operator}: ${output.values.length} values`];
    return largest <= 1e-4 ? [] : [`${operator}: largest error ${largest}`];
  });
}

// The forms that await the device give what they must. Those that block are an error that names them, where they must
// be, and never a trap.
export async function checkReads(context, backend) {
  const page = await open(context);
  const boxes = [0, 0, 10, 10, 50, 0, 60, 10, 0, 0, 10, 9];
  const kept = await inPage(page, "ask", 5, backend, "nms", { boxes, scores: [0.6, 0.7, 0.9], threshold: 0.5 });
  const errors = await inPage(page, "ask", 5, backend, "blockingErrors");
  // Software GPUs have no f16. It must not be zeros in silence.
  const half = await inPage(page, "ask", 5, backend, "halfPrecisionError");
  const refused = await inPage(page, "ask", 5, backend, "run", {
    operator: "torchvision.roi_pool",
    attributes: { output_size: [2, 2] },
    tensors: { input: { values: [1], shape: [1, 1, 1, 1] }, boxes: { values: [0, 1, 2, 3], shape: [1, 4] } },
  });
  await page.close();
  const problems = [];
  const indices = Object.values(kept);
  if (String(indices) !== "2,1") problems.push(`nms kept ${JSON.stringify(kept)}, but must keep 2 and 1`);
  const named = ["validate_async", "nms_async"];
  for (const [index, name] of named.entries()) {
    const fits = backend === "flex" ? errors[index] === "" : errors[index].includes(name);
    if (!fits) problems.push(`a form that blocks: ${JSON.stringify(errors)}`);
  }
  const halfFits = backend === "flex" ? half === "" : half.includes("`features` is of dtype F16");
  if (!halfFits) problems.push(`features of f16: ${JSON.stringify(half)}`);
  if (!refused.error?.includes("`boxes` has shape [1, 4]")) problems.push(`a wrong shape: ${JSON.stringify(refused)}`);
  return problems;
}
