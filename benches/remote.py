"""Counts what a command sends to a server of region operators and receives from it.

    serve_device &
    python benches/remote.py find_objects --server PROXY --image folder

The word PROXY of the command becomes the address of a proxy that passes everything on to the server, and counts the
bytes and the WebSocket messages of each direction.
"""

import argparse
import asyncio
import json
import sys
import time


class Direction:
    """Counts one direction of a connection: an HTTP head, and then WebSocket frames."""

    def __init__(self):
        self.bytes = self.messages = 0
        self.buffer = bytearray()
        self.skip = 0
        self.in_head = True

    def add(self, data):
        self.bytes += len(data)
        skipped = min(self.skip, len(data))
        self.skip -= skipped
        self.buffer += data[skipped:]
        if self.in_head:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            del self.buffer[: end + 4]
            self.in_head = False
        while self.frame():
            pass

    def frame(self):
        """Takes one frame's head from the buffer, and says whether there was one."""
        if self.skip or len(self.buffer) < 2:
            return False
        final, opcode = self.buffer[0] & 0x80, self.buffer[0] & 0x0F
        masked, length = self.buffer[1] & 0x80, self.buffer[1] & 0x7F
        extended = {126: 2, 127: 8}.get(length, 0)
        head = 2 + extended + (4 if masked else 0)
        if len(self.buffer) < head:
            return False
        if extended:
            length = int.from_bytes(self.buffer[2 : 2 + extended], "big")
        # Of opcodes, 8 and above are control frames.
        if final and opcode < 8:
            self.messages += 1
        inside = min(length, len(self.buffer) - head)
        del self.buffer[: head + inside]
        self.skip = length - inside
        return True


async def copy(reader, writer, direction):
    try:
        while data := await reader.read(1 << 20):
            direction.add(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", default="127.0.0.1:3000", help="the server's address and port")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    host, port = arguments.to.rsplit(":", 1)
    connections = []

    async def connected(reader, writer):
        there, back = Direction(), Direction()
        connections.append((there, back))
        server_reader, server_writer = await asyncio.open_connection(host, int(port))
        await asyncio.gather(copy(reader, server_writer, there), copy(server_reader, writer, back))

    proxy = await asyncio.start_server(connected, "127.0.0.1", 0)
    address = "ws://127.0.0.1:%d" % proxy.sockets[0].getsockname()[1]
    command = [address if word == "PROXY" else word for word in arguments.command]
    begin = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*command)
    status = await process.wait()
    counted = {
        "seconds": round(time.perf_counter() - begin, 3),
        "connections": len(connections),
        "bytes_sent": sum(there.bytes for there, _ in connections),
        "messages_sent": sum(there.messages for there, _ in connections),
        "bytes_received": sum(back.bytes for _, back in connections),
        "messages_received": sum(back.messages for _, back in connections),
    }
    print(json.dumps(counted))
    return status


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
