// Pictures as pixels.

const MOST_MEGAPIXELS = 24;

// A picture from a file of any format that the browser reads. The error says what is wrong with the file.
export async function read(file, name) {
  const [width, height] = await size(file).catch(() => {
    throw new Error(`${name} is no picture that this browser can read.`);
  });
  const megapixels = (width * height) / 1e6;
  if (megapixels > MOST_MEGAPIXELS) {
    throw new Error(`${name} has ${megapixels.toFixed(1)} megapixels. At most ${MOST_MEGAPIXELS} fit here.`);
  }
  // The file's own numbers, without the colours of a monitor.
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  return draw(bitmap, bitmap.width, bitmap.height);
}

// The pixels of anything that a canvas draws, at a size.
export function draw(source, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(source, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

// Width and height, which a browser knows before it decodes the pixels.
async function size(file) {
  const address = URL.createObjectURL(file);
  const image = new Image();
  try {
    await new Promise((resolve, reject) => {
      image.onload = resolve;
      image.onerror = reject;
      image.src = address;
    });
    return [image.naturalWidth, image.naturalHeight];
  } finally {
    URL.revokeObjectURL(address);
  }
}
