// Prints how many bytes files have in all, each compressed by brotli: `node brotli.mjs FILES`.

import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
const sizes = process.argv.slice(2).map((file) => brotliCompressSync(readFileSync(file), { params }).length);
console.log(sizes.reduce((sum, size) => sum + size, 0));
