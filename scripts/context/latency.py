#!/usr/bin/env python3
"""The time that the gateway adds to a request of a megabyte with 200 JSON results.

    latency.py GATEWAY [TURNS]

Sends the same request in turns: direct to an upstream that answers at once, through a route without a context, through one with it,
and as a later turn of a session, with every result known from memory, and from a Redis in one round trip. Prints medians in
milliseconds; asserts nothing of them, because they depend on what else the machine does.
"""

import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import upstream
from processes import end, free_port, redis, start

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


def gateway(url, more=""):
    """Starts a gateway and returns its address and that of its metrics."""
    config = Path(tempfile.mkdtemp()) / "gateway.toml"
    config.write_text(
        f'listen = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\nlog = "off"\nupstream = "{url}"\n'
        f'[[routes]]\npath = "/v1"\nupstream = "{url}"\ncontext = true\n[context.memo]\nsession_bytes = 4194304\n{more}'
    )
    environment = {**os.environ, "STC_STORE_SECRET": "sixteen bytes or more"}
    process = start([sys.argv[1], "--config", config], stderr=subprocess.PIPE, text=True, env=environment)
    found = {}
    for line in process.stderr:
        for name in ("listening on ", "admin on "):
            if name in line:
                found[name] = line.split("http://")[1].strip().rstrip("/")
        if len(found) == 2:
            return found["listening on "], found["admin on "]
    sys.exit(f"{sys.argv[0]}: the gateway ended")


def count(admin, name, outcome):
    """Returns a counter of a gateway's metrics."""
    connection = http.client.HTTPConnection(admin)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    found = re.search(rf'^{name}{{[^}}]*outcome="{outcome}"}} (\d+)$', text, re.M)
    return int(found[1]) if found else 0


def main():
    server = upstream.start()
    url = f"http://{server}"
    plain, plain_admin = gateway(url)
    port = free_port()
    redis(port)
    # One session in memory and two in turns, so that each is looked for in Redis.
    store = f'sessions = 1\n[context.store]\nredis = "redis://127.0.0.1:{port}/0"\nsecret_env = "STC_STORE_SECRET"\ntimeout = 2\n'
    shared, admin = gateway(url, store)
    given = body()
    path = "/v1/chat/completions"
    ways = {
        "direct": (server, path, None),
        "a route without a context": (plain, "/v2/chat/completions", None),
        "a route with a context": (plain, path, None),
        "a session, known from memory": (plain, path, ["one"]),
        "a session, known from Redis": (shared, path, ["one", "two"]),
    }
    connections = {name: http.client.HTTPConnection(way[0]) for name, way in ways.items()}
    times = {name: [] for name in ways}
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 101

    def post(name, turn):
        _, path, sessions = ways[name]
        headers = {"content-type": "application/json", "authorization": "Bearer one"}
        if sessions:
            headers["x-stc-session"] = sessions[turn % len(sessions)]
        connections[name].request("POST", path, given, headers)
        answer = connections[name].getresponse()
        assert answer.status == 200 and answer.read() == b"{}"
        return answer.headers["x-stc-context"]

    for name in ways:
        for turn in range(4):
            post(name, turn)
            time.sleep(0.2)  # what is kept is written when the request has left
    counters = [(admin, "stc_context_store_total", "answer"), (admin, "stc_context_memo_total", "hit"), (plain_admin, "stc_context_memo_total", "hit")]
    before = [count(*counter) for counter in counters]
    for turn in range(turns):
        for name in ways:
            began = time.perf_counter()
            report = post(name, turn)
            times[name].append((time.perf_counter() - began) * 1e3)
    trips, *known = [(count(*counter) - earlier) / turns for counter, earlier in zip(counters, before)]
    assert known == [200, 200], known
    print(f"{len(given):,} bytes, {report}; {turns} turns, {trips:g} round trips to Redis a request")
    for name, taken in times.items():
        print(f"{name:28} median {statistics.median(taken):7.2f} ms, best {min(taken):7.2f} ms")
    end()


if __name__ == "__main__":
    main()
