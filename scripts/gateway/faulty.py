"""An upstream whose path selects a fault, and a client that knows the right response to each fault."""

import asyncio
import random
import socket
import struct
import threading

JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
WHOLE = b'[{"id": 1, "name": "users", "ok": true}, {"id": 2, "name": "orders", "ok": true}, {"id": 3, "name": "carts", "ok": false}, {"id": 4, "name": "prices", "ok": true}]'
EVENTS = b'data: {"id":1,\ndata\n\n\n:\x00\ndata: [}\r\rretry: x\n\ndata: {"result":{"content":[{"type":"text"'
BIG = 16 << 20


def says(body, length=None):
    return JSON + b"content-length: %d\r\n\r\n" % (len(body) if length is None else length) + body


async def handle(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            if path == "/faulty/die":
                writer.write(says(WHOLE, 5000))
            elif path == "/faulty/stall":
                writer.write(says(WHOLE[:20], len(WHOLE)))
                await writer.drain()
                await asyncio.sleep(4)
            elif path == "/faulty/never":
                await asyncio.sleep(4)
            elif path == "/faulty/more":
                writer.write(says(WHOLE) + b"HTTP/1.1 200 OK\r\n\r\n")
            elif path == "/faulty/chunks":
                writer.write(JSON + b"transfer-encoding: chunked\r\n\r\n3\r\n[1,\r\nzz\r\n")
            elif path == "/faulty/nonsense":
                writer.write(b"what?\r\n\r\n")
            elif path == "/faulty/reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            elif path == "/faulty/json":
                writer.write(says(WHOLE[:-1]))
                await writer.drain()
                continue
            elif path == "/faulty/events":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + EVENTS)
            elif path == "/faulty/big":
                writer.write(JSON + b"connection: close\r\n\r\n")
                for _ in range(BIG >> 16):
                    writer.write(b"[1,2,3],".ljust(8) * (1 << 13))
                    await writer.drain()
            elif path == "/faulty/slow":
                await asyncio.sleep(0.5)
                writer.write(says(WHOLE[:60], len(WHOLE)))
                await writer.drain()
                await asyncio.sleep(0.5)
                writer.write(WHOLE[60:])
                await writer.drain()
                continue
            await writer.drain()
            return
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def serve(port):
    """Serves in a process of its own."""

    async def main():
        server = await asyncio.start_server(handle, "127.0.0.1", port, backlog=1024)
        await server.serve_forever()

    asyncio.run(main())


class Cut(Exception):
    """The connection ended before the response did."""


def ask(port, path, headers=b"", leave=False):
    """Status, header lines in lower case, body. Raises Cut."""
    with socket.create_connection(("127.0.0.1", port), 20) as sock:
        sock.sendall(b"GET %s HTTP/1.1\r\nhost: h\r\nconnection: close\r\n%s\r\n" % (path.encode(), headers))
        if leave:
            sock.recv(10)
            return None
        chunks = []
        try:
            while chunk := sock.recv(1 << 18):
                chunks.append(chunk)
        except ConnectionError:
            pass
    head, _, body = b"".join(chunks).partition(b"\r\n\r\n")
    if not head:
        raise Cut(f"{path}: no response")
    lines = head.decode().lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:])
    if "content-length" in fields and len(body) != int(fields["content-length"]):
        raise Cut(f"{path}: {len(body)} bytes of {fields['content-length']}")
    if fields.get("transfer-encoding") == "chunked":
        body = unchunked(path, body)
    return int(lines[0].split()[1]), fields, body


def unchunked(path, body):
    whole, at = [], 0
    while True:
        end = body.find(b"\r\n", at)
        if end < 0:
            raise Cut(f"{path}: no last chunk")
        size = int(body[at:end], 16)
        if size == 0:
            return b"".join(whole)
        whole.append(body[end + 2 : end + 2 + size])
        if len(whole[-1]) != size:
            raise Cut(f"{path}: a chunk cut short")
        at = end + 2 + size + 2


class Mix(threading.Thread):
    """Requests every fault again and again, and compares the responses with the expected ones."""

    CUT, PATHS = "cut", {
        "die": "cut", "stall": "cut", "chunks": "cut", "never": 504, "nonsense": 502, "reset": 502,
        "more": WHOLE, "slow": WHOLE, "json": WHOLE[:-1], "events": EVENTS, "big": BIG, "leave": None,
    }  # fmt: skip

    def __init__(self, port, seed, stop):
        super().__init__(daemon=True)
        self.port, self.random, self.stop = port, random.Random(seed), stop
        self.count, self.errors, self.collected, self.surprises = 0, 0, 0, []

    def run(self):
        while not self.stop.is_set():
            fault = self.random.choice(list(self.PATHS))
            asked = self.random.random() < 0.5
            headers = b"accept-encoding: stc\r\nmcp-protocol-version: 2025-06-18\r\n" if asked and fault == "events" else b""
            headers = headers or (b"accept-encoding: stc\r\n" if asked else b"")
            try:
                came = ask(self.port, f"/faulty/{'slow' if fault == 'leave' else fault}", headers, leave=fault == "leave")
            except Cut:
                came = "cut"
            except OSError as error:
                came = repr(error)
            self.count += 1
            # A body that a preference makes the gateway collect fails before anything is sent.
            expected = 502 if asked and self.PATHS[fault] == "cut" else self.PATHS[fault]
            self.collected += expected == 502 and self.PATHS[fault] == "cut"
            if not self.fits(expected, came):
                self.surprises.append(f"{fault}, {'with' if asked else 'without'} a preference: {came!r:.300}")
            self.stop.wait(0.02)

    def fits(self, expected, came):
        if expected is None or expected == "cut" or isinstance(came, str):
            self.errors += came == "cut"
            return came == expected
        status, fields, body = came
        if isinstance(expected, int) and expected < 1000:
            self.errors += 1
            return status == expected
        if isinstance(expected, int):
            return status == 200 and len(body) == expected
        return status == 200 and (body == expected or fields.get("content-encoding") == "stc")
