#!/usr/bin/env python3
"""Requests at a fixed rate from a process of its own, so that what is measured does not wait for what measures.

    rate.py HOST:PORT PATH RATE SECONDS NAME < BODY    prints the times in milliseconds, as a JSON array
    rate.py --serve                                    an upstream that answers every request with `{}`; prints its address

Each request has a tenant of its own, NAME and a number. Its time counts from the moment at which it was due, whether or not the
earlier ones were answered by then. Fails if a request fails.
"""

import asyncio
import json
import sys
import time


async def answer(reader, writer):
    """Answers the requests of a connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve():
    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20)
    print("{}:{}".format(*server.sockets[0].getsockname()), flush=True)
    await server.serve_forever()


async def send(address, path, rate, seconds, name, body):
    host, port = address.split(":")
    idle, times = [], []

    async def request(number, due):
        reader, writer = idle.pop() if idle else await asyncio.open_connection(host, port)
        head = (
            f"POST {path} HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"authorization: Bearer {name}-{number}\r\nx-stc-session: same\r\n\r\n"
        )
        writer.write(head.encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        await reader.readexactly(2)
        idle.append((reader, writer))
        times.append((time.perf_counter() - due) * 1e3)

    began, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(request(number, due)))
    await asyncio.gather(*tasks)
    print(json.dumps([round(taken, 3) for taken in times]))


if sys.argv[1:] == ["--serve"]:
    asyncio.run(serve())
else:
    address, path, rate, seconds, name = sys.argv[1:]
    asyncio.run(send(address, path, float(rate), float(seconds), name, sys.stdin.buffer.read()))
