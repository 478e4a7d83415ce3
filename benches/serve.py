#!/usr/bin/env python3
"""Times the program `serve` beside a small server of FastAPI and torchvision with the same weights, in one run.

    pip install fastapi==0.163.2 uvicorn==0.54.0 -r examples/find_objects/train/requirements.txt
    cargo build --release -p serve
    python benches/serve.py                       # both servers; --clients, --seconds and --picture change the load
    python benches/serve.py --only serve --requests 10000   # the memory of one server, request by request

For each number of clients it prints requests a second, and the median (p50) and the 99th percentile (p99) of a
request's milliseconds. Each client is a thread with one connection, which sends the next request when it has the answer
of the last. The clients run on the same machine as the server, and take a little of its time. The servers take turns,
and the better of two turns counts.

The memory is what the server's process holds after each tenth of the requests. It fails if the last is a tenth larger
than the largest of the first three.

The server of FastAPI runs one detection at a time, on as many threads as there are processors, as `serve` does. It
answers with boxes, labels, scores, and masks as their number of pixels: encoding masks as COCO does needs one more
package, and costs time that is not the server's.
"""

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DETECTOR = ROOT / "examples/find_objects"
SERVE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/serve"
CLIENTS = [1, 8, 64]
# How long a server may take to start.
START = 120
GROWTH = 1.1


def fastapi(port):
    """Serves the shipped detector by FastAPI and torchvision, in this process."""
    import asyncio
    import io

    import torch
    import uvicorn
    from fastapi import FastAPI, Request
    from PIL import Image, ImageOps
    from safetensors.torch import load_file
    from torchvision.transforms.functional import pil_to_tensor

    sys.path.append(str(DETECTOR / "train"))
    import model

    config = model.read(DETECTOR / "shapes.json")
    detector = model.build(config)
    detector.load_state_dict(load_file(DETECTOR / "shapes.safetensors"))
    detector.eval()
    app, turn = FastAPI(), asyncio.Lock()

    def detect(body):
        picture = ImageOps.exif_transpose(Image.open(io.BytesIO(body))).convert("RGB")
        with torch.inference_mode():
            found = detector([pil_to_tensor(picture).float() / 255])[0]
        objects = zip(found["boxes"].tolist(), found["labels"].tolist(), found["scores"].tolist(), found["masks"])
        return [
            {"box": box, "label": config["classes"][label], "score": score, "pixels": int((mask > 0.5).sum())}
            for box, label, score, mask in objects
        ]

    @app.post("/detect")
    async def answer(request: Request):
        body = await request.body()
        async with turn:
            return {"objects": await asyncio.to_thread(detect, body)}

    @app.get("/health")
    def health():
        return {}

    uvicorn.run(app, port=port, log_level="warning")


class Server:
    """A server in a process of its own."""

    def __init__(self, name):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = {
            "serve": [str(SERVE), "--listen", f"127.0.0.1:{self.port}", "--queue", "256",
                      "--config", str(DETECTOR / "shapes.json"), "--weights", str(DETECTOR / "shapes.safetensors")],
            "fastapi": [sys.executable, __file__, "--fastapi", str(self.port)],
        }[name]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(10 * START):
            if self.process.poll() is not None:
                sys.exit(f"the server ended: {self.process.args}")
            try:
                self.connection().request("GET", "/health")
                return self
            except OSError:
                time.sleep(0.1)
        sys.exit(f"the server did not start within {START} seconds")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def memory(self):
        """The bytes that the process holds."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10
        return 0


def detect(connection, picture):
    """Sends a picture, and returns the seconds until all of the answer is here."""
    begun = time.perf_counter()
    connection.request("POST", "/detect", picture, {"Content-Type": "application/octet-stream"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(f"the status is {answer.status}")
    return time.perf_counter() - begun


def load(server, clients, seconds, picture):
    """The requests a second of this number of clients, and the seconds of each request."""
    times, failures = [], []
    end = time.perf_counter() + seconds

    def client():
        connection = server.connection()
        try:
            while time.perf_counter() < end:
                times.append(detect(connection, picture))
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            failures.append(error)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(f"{len(failures)} of {clients} clients failed, the first with: {failures[0]}")
    return len(times) / (time.perf_counter() - begun), times


def compare(names, arguments, picture):
    """Prints the table of times."""
    best = {}
    for turn in range(2):
        for name in names:
            with Server(name) as server:
                load(server, 1, 1, picture)  # The first requests are slower.
                for clients in arguments.clients:
                    result = load(server, clients, arguments.seconds, picture)
                    best[name, clients] = max(best.get((name, clients), result), result, key=lambda pair: pair[0])
    print("| server | clients | requests a second | p50, ms | p99, ms |\n|---|---|---|---|---|")
    for (name, clients), (rate, times) in sorted(best.items(), key=lambda pair: (pair[0][1], pair[0][0])):
        percentiles = statistics.quantiles(times, n=100, method="inclusive") if len(times) > 1 else times * 99
        print(f"| {name} | {clients} | {rate:.1f} | {1e3 * percentiles[49]:.0f} | {1e3 * percentiles[98]:.0f} |")


def watch_memory(names, arguments, picture):
    """Prints the memory of each server over the requests, and fails if it grows."""
    for name in names:
        with Server(name) as server:
            connection, sizes = server.connection(), []
            for _ in range(10):
                for _ in range(max(1, arguments.requests // 10)):
                    detect(connection, picture)
                sizes.append(server.memory())
            print(f"{name}: MB after each tenth of {arguments.requests} requests:", *(size // 10**6 for size in sizes))
            if sizes[-1] > GROWTH * max(sizes[:3]):
                sys.exit(f"the memory of {name} grew")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["serve", "fastapi"], help="one of the servers")
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS, help="numbers of clients")
    parser.add_argument("--seconds", type=float, default=20, help="the time of each load")
    parser.add_argument("--requests", type=int, help="watch the memory over this number of requests instead")
    parser.add_argument("--picture", type=Path, default=DETECTOR / "shapes.png", help="the picture file to send")
    parser.add_argument("--fastapi", type=int, metavar="PORT", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fastapi:
        return fastapi(arguments.fastapi)
    names = [arguments.only] if arguments.only else ["serve", "fastapi"]
    run = watch_memory if arguments.requests else compare
    return run(names, arguments, arguments.picture.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
