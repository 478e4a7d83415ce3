// Serves the built page, and what the tests add to it, on 127.0.0.1.

import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

// `folders` are the folder of each first part of an address, and "" is that of all others. A file in `instead` takes
// the place of the page's file of that name. Gives the page's address and a function that ends the server.
export async function serve(folders, instead) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://page").pathname));
    const [, first, ...rest] = path.split("/");
    const file = first in folders && rest.length ? join(folders[first], ...rest) : join(folders[""], path);
    try {
      const found = instead && existsSync(join(instead, path)) && path !== "/" ? join(instead, path) : file;
      const bytes = await readFile(found.endsWith("/") ? join(found, "index.html") : found);
      const type = TYPES[extname(file) || ".html"] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-length": bytes.length }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() };
}
