#!/usr/bin/env python3
"""The time that the gateway adds to a request of a megabyte with 200 JSON results.

    latency.py GATEWAY [TURNS]

Sends the same request in turns: direct to an upstream that answers at once, through a route without a context, and through one
with it. Prints medians in milliseconds; asserts nothing, because they depend on what else the machine does.
"""

import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import upstream

ROOT = Path(__file__).resolve().parents[2]


def body():
    files = sorted((ROOT / "corpus/made").glob("*.json"))
    texts = [path.read_text() for path in files if 2_500 <= path.stat().st_size <= 5_000]
    rows = [{"role": "user", "content": "Summarise."}]
    for number in range(200):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
        rows.append({"role": "assistant", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": f"c{number}", "content": texts[number % len(texts)]})
    return json.dumps({"model": "m", "messages": rows}, ensure_ascii=False).encode()


def main():
    server = upstream.start()
    config = Path(tempfile.mkdtemp()) / "gateway.toml"
    url = f"http://{server}"
    config.write_text(
        f'listen = "127.0.0.1:0"\nlog = "off"\nupstream = "{url}"\n[[routes]]\npath = "/v1"\nupstream = "{url}"\ncontext = true\n'
    )
    gateway = subprocess.Popen([sys.argv[1], "--config", config], stderr=subprocess.PIPE, text=True)
    address = next(line for line in gateway.stderr if "listening on " in line).split("http://")[1].strip()
    given = body()
    ways = {
        "direct": (server, "/v1/chat/completions"),
        "a route without a context": (address, "/v2/chat/completions"),
        "a route with a context": (address, "/v1/chat/completions"),
    }
    connections = {name: http.client.HTTPConnection(host) for name, (host, _) in ways.items()}
    times = {name: [] for name in ways}
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 101
    try:
        for _ in range(turns):
            for name, (_, path) in ways.items():
                began = time.perf_counter()
                connections[name].request("POST", path, given, {"content-type": "application/json"})
                answer = connections[name].getresponse()
                assert answer.status == 200 and answer.read() == b"{}"
                times[name].append((time.perf_counter() - began) * 1e3)
                if name.startswith("a route with a"):
                    report = answer.headers["x-stc-context"]
    finally:
        gateway.kill()
    print(f"{len(given):,} bytes, {report}; {turns} turns")
    for name, taken in times.items():
        print(f"{name:28} median {statistics.median(taken):7.2f} ms, best {min(taken):7.2f} ms")


if __name__ == "__main__":
    main()
