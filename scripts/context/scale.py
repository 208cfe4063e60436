#!/usr/bin/env python3
"""How far one gateway goes, and what a fleet of them and their Redis have to carry, from measured costs.

    scale.py GATEWAY [REQUESTS]

Sends the tenth turn of an agent, ten JSON results of about 4 KB, and measures processor time of the gateway and of a Redis, commands
and bytes between them, and the memory of a session in both. From these it computes a table for 1,000 and 100,000 requests a second.
Processor time is that of the measured process alone, so the client and the upstream, which share the machine, do not count.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import end, free_port, redis, start

ROOT = Path(__file__).resolve().parents[2]
GATEWAY = Path(sys.argv[1]).resolve()
REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
RESULTS = 10
# Cores of one gateway in the table, and the share of them that is used on average, so that peaks find room.
CORES, USED = 8, 0.5


def info(port):
    """Returns the numbers of Redis's INFO by name, and its commands by name."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
        one.sendall(b"INFO all\r\n")
        answer = one.makefile("rb")
        text = answer.read(int(answer.readline()[1:])).decode()
    found = {name: float(number) for name, number in re.findall(r"^(\w+):(\d+(?:\.\d+)?)\r?$", text, re.M)}
    found["commands"] = {name: int(calls) for name, calls in re.findall(r"^cmdstat_(\w+):calls=(\d+)", text, re.M) if name != "info"}
    return found


class Gateway:
    def __init__(self, upstream, more=""):
        config = Path(tempfile.mkdtemp()) / "gateway.toml"
        config.write_text(
            f'listen = "127.0.0.1:0"\nlog = "off"\n[[routes]]\npath = "/"\nupstream = "{upstream}"\ncontext = true\n{more}'
        )
        environment = {**os.environ, "STC_STORE_SECRET": "sixteen bytes or more"}
        self.process = start([GATEWAY, "--config", config], stderr=subprocess.PIPE, text=True, env=environment)
        address = next(line for line in self.process.stderr if "listening on " in line).split("http://")[1].strip()
        self.connection = http.client.HTTPConnection(address, timeout=10)

    def post(self, body, session):
        headers = {"content-type": "application/json", "authorization": "Bearer one"}
        if session is not None:
            headers["x-stc-session"] = str(session)
        self.connection.request("POST", "/v1/chat/completions", body, headers)
        answer = self.connection.getresponse()
        assert answer.status == 200 and answer.read() == b"{}"
        return answer.headers["x-stc-context"]

    def seconds(self):
        """Returns the processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) << 10


def turn():
    """Returns a request with ten results of 2.5 to 5 KB."""
    texts = [path.read_text() for path in sorted((ROOT / "corpus/made").glob("*.json")) if 2_500 <= path.stat().st_size <= 5_000]
    rows = [{"role": "user", "content": "Summarise."}]
    for number in range(RESULTS):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
        rows.append({"role": "assistant", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": f"c{number}", "content": texts[number % len(texts)]})
    return json.dumps({"model": "m", "messages": rows}, ensure_ascii=False).encode()


def cost(gateway, body, sessions):
    """Returns the processor seconds of a request, one for each of the sessions."""
    for session in sessions[:20]:
        gateway.post(body, session)
    before = gateway.seconds()
    for session in sessions:
        gateway.post(body, session)
    return (gateway.seconds() - before) / len(sessions)


def main():
    serving = start([sys.executable, Path(__file__).with_name("rate.py"), "--serve"], stdout=subprocess.PIPE, text=True)
    upstream = f"http://{serving.stdout.readline().strip()}"
    body = turn()
    alone = Gateway(upstream, "[context.memo]\nsessions = 1000000\ntotal_bytes = 1073741824\n")
    fresh = cost(alone, body, [None] * REQUESTS)
    known = cost(alone, body, [0] * REQUESTS)
    before = alone.resident()
    for session in range(1, REQUESTS + 1):
        alone.post(body, session)
    of_session = (alone.resident() - before) / REQUESTS

    port = free_port()
    redis(port)
    store = f'[context.store]\nredis = "redis://127.0.0.1:{port}/0"\nsecret_env = "STC_STORE_SECRET"\ntimeout = 2\n'
    # One session in memory, so that every session is looked for in Redis.
    shared = Gateway(upstream, f"[context.memo]\nsessions = 1\n{store}")
    empty = info(port)
    for session in range(REQUESTS):
        shared.post(body, session)
    time.sleep(0.5)  # what was kept is written when the request has left
    filled = info(port)
    looked = cost(shared, body, list(range(REQUESTS)))
    time.sleep(0.5)
    after = info(port)
    assert filled["keyspace_hits"] == empty["keyspace_hits"], "a new session was found"
    assert after["keyspace_misses"] == filled["keyspace_misses"], "a session was not found again"

    def difference(one, two, *names):
        return sum(two[name] - one[name] for name in names) / REQUESTS

    times = ("used_cpu_user", "used_cpu_sys")
    traffic = ("total_net_input_bytes", "total_net_output_bytes")
    requests = REQUESTS + 20
    commands = lambda one, two: sum(two["commands"].values()) - sum(one["commands"].values())
    print(f"{len(body):,} bytes with {RESULTS} results, {REQUESTS:,} requests of each kind")
    print(f"gateway, a request: {fresh * 1e6:.0f} us fresh, {known * 1e6:.0f} us from memory, {looked * 1e6:.0f} us from Redis")
    print(f"gateway, a session: {of_session / 1024:.1f} KiB")
    first = commands(empty, filled) / REQUESTS
    again = commands(filled, after) / requests
    print(f"Redis, a first request: {first:.1f} commands, {difference(empty, filled, *traffic) / 1024:.1f} KiB, {difference(empty, filled, *times) * 1e6:.0f} us")
    resend = difference(filled, after, *traffic) * REQUESTS / requests
    resend_time = difference(filled, after, *times) * REQUESTS / requests
    print(f"Redis, a request that is found: {again:.1f} commands, {resend / 1024:.1f} KiB, {resend_time * 1e6:.0f} us")
    print(f"Redis, a session: {difference(empty, filled, 'used_memory') / 1024:.1f} KiB")
    # One turn adds one result to nine that are known.
    new = 1 / RESULTS
    turn_cost = new * fresh + (1 - new) * looked
    turn_redis = new * difference(empty, filled, *times) + (1 - new) * resend_time
    turn_bytes = new * difference(empty, filled, *traffic) + (1 - new) * resend
    print(f"\nOne new result in {RESULTS}; gateways of {CORES} cores, half used; a session lives 6 hours and has 10 requests:\n")
    print("| requests/s | gateway cores | gateways | Redis commands/s | Redis MB/s | Redis cores | sessions held | Redis GB |")
    print("|---|---|---|---|---|---|---|---|")
    for rate in (1_000, 100_000):
        cores = rate * turn_cost / USED
        held = rate / 10 * 6 * 3600
        memory = held * difference(empty, filled, "used_memory")
        print(
            f"| {rate:,} | {cores:,.1f} | {-(-cores // CORES):,.0f} | {rate * (new * first + (1 - new) * again):,.0f} "
            f"| {rate * turn_bytes / 1e6:,.0f} | {rate * turn_redis / USED:,.1f} | {held:,.0f} | {memory / 1e9:,.0f} |"
        )


try:
    main()
finally:
    end()
