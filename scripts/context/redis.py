#!/usr/bin/env python3
"""Sessions in a Redis that two gateways share, and requests while that Redis is stopped, slow and gone.

    redis.py GATEWAY [REQUESTS A SECOND]

Fails if a request fails, if two gateways send different bytes, if a tenant gets what is another's, if Redis has more of a session
than its bounds, or if the store is not used again when it is back. Times are printed and not judged, because they depend on what else the machine does.
"""

import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from processes import end, free_port, redis, start

HERE = Path(__file__).resolve().parent
GATEWAY = Path(sys.argv[1]).resolve()
RATE = int(sys.argv[2]) if len(sys.argv) > 2 else 500


class Model(BaseHTTPRequestHandler):
    """Answers with the body that came."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response_only(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def command(port, *words):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
        one.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words))
        return one.recv(65536)


class Gateway:
    def __init__(self, model, port, more="", timeout=0.02):
        config = Path(tempfile.mkdtemp()) / "gateway.toml"
        config.write_text(
            f'listen = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\nlog = "off"\n[[routes]]\npath = "/"\nupstream = "{model}"\ncontext = true\n'
            f'[[routes]]\npath = "/plain"\nupstream = "{model}"\n'
            f'[context]\n{more}\n[context.store]\nredis = "redis://127.0.0.1:{port}/0"\nsecret_env = "STC_STORE_SECRET"\ntimeout = {timeout}\n'
        )
        environment = {**os.environ, "STC_STORE_SECRET": "sixteen bytes or more"}
        process = start([GATEWAY, "--config", config], stderr=subprocess.PIPE, text=True, env=environment)
        found = {}
        for line in process.stderr:
            if " on http://" in line:
                found["listening" if "listening" in line else "admin"] = line.split("http://")[1].strip()
            if len(found) == 2:
                break
        self.address, self.admin = found["listening"], found["admin"]

    def connection(self):
        return http.client.HTTPConnection(self.address, timeout=10)

    def metrics(self, name):
        """Returns the samples of a metric by outcome."""
        connection = http.client.HTTPConnection(self.admin, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        return {outcome: int(count) for outcome, count in re.findall(name + r'\{[^}]*outcome="([a-z]+)"\} (\d+)', text)}


def post(connection, body, tenant="one"):
    headers = {"content-type": "application/json", "x-stc-session": "same", "authorization": f"Bearer {tenant}"}
    connection.request("POST", "/v1/chat/completions", body, headers)
    answer = connection.getresponse()
    got = answer.read()
    assert answer.status == 200, (answer.status, got)
    return got


def chat(results, word="open"):
    text = lambda number: json.dumps([{"id": row, "state": word, "by": {"name": "ann", "page": number}} for row in range(40)])
    rows = [{"role": "tool", "tool_call_id": f"c{number}", "content": text(number)} for number in range(results)]
    return json.dumps({"model": "m", "messages": rows}).encode()


def settled(check, what):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.05)
    raise SystemExit(f"{what} did not happen")


def turns(model, port):
    """Two gateways in turns: the same bytes, and the second uses what the first kept; then another configuration."""
    # What is shared is tested here, not the time that it takes.
    patient = {"timeout": 2}
    gateways = [Gateway(model, port, **patient), Gateway(model, port, **patient)]
    connections = [gateway.connection() for gateway in gateways]
    for turn in range(1, 11):
        body = chat(turn)
        one = post(connections[turn % 2], body)
        time.sleep(0.1)  # what was kept is written when the request has left
        assert post(connections[(turn + 1) % 2], body) == one, "two gateways send different bytes"
    hits = [gateway.metrics("stc_context_memo_total")["hit"] for gateway in gateways]
    looks = [gateway.metrics("stc_context_store_total")["answer"] for gateway in gateways]
    assert min(hits) > 0 and max(looks) <= 20, (hits, looks)
    print(f"two gateways, 20 requests in turns: the same bytes; texts from memory or Redis {hits}, round trips {looks}")
    other = Gateway(model, port, 'format = "stc2"', **patient)
    first = post(other.connection(), chat(10))
    changed = other.metrics("stc_context_memo_total")
    assert changed["miss"] == 10 and changed["changed"] == 0 and first != one, changed
    time.sleep(0.1)
    assert all(post(other.connection(), chat(10)) == first for _ in range(3)), "not stable"
    after = other.metrics("stc_context_memo_total")
    assert after["miss"] == 10 and after["hit"] == 30, after
    print("another format: ten texts anew under names of their own, other bytes, then the same ones three times")
    return gateways


def tenants(gateways, count=100):
    """Tenants with the same session and call ids: each gets its own text back, through both gateways."""
    connections = [gateway.connection() for gateway in gateways]
    expected = {}
    for turn in range(3):
        for number in range(count):
            got = post(connections[(turn + number) % 2], chat(2, f"word{number}"), tenant=f"tenant{number}")
            assert f"word{number}".encode() in got and expected.setdefault(number, got) == got, number
            others = re.findall(rb"word(\d+)", got)
            assert set(others) == {str(number).encode()}, "a tenant got what is another's"
    print(f"{count} tenants with the same session and call ids, three turns through two gateways: each its own")


def fields(port, session):
    """Returns the fields of a hash."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
        reader = one.makefile("rb")
        one.sendall(b"*2\r\n$7\r\nHGETALL\r\n$%d\r\n%s\r\n" % (len(session), session))
        count = int(reader.readline()[1:])
        values = []
        for _ in range(count):
            values.append(reader.read(int(reader.readline()[1:])))
            reader.read(2)
    return dict(zip(values[::2], values[1::2]))


def sessions(port):
    return set(re.findall(rb"stc:2:[0-9a-f]{32}", command(port, "KEYS", "stc:2:*")))


def bounds(model, port):
    """Entries and sessions over their bounds: nothing longer is kept, the oldest entries of a session go first."""
    entry, most, cost = 2000, 6000, 176
    before = sessions(port)
    gateways = [Gateway(model, port, f"memo = {{ entry_bytes = {entry}, session_bytes = {most}, ttl = 60 }}", timeout=2) for _ in range(2)]
    connections = [gateway.connection() for gateway in gateways]
    for turn in range(1, 25):
        post(connections[turn % 2], chat(turn), tenant="bounds")
        time.sleep(0.05)
        [session] = sessions(port) - before
        kept = fields(port, session)
        values = {name: len(value) for name, value in kept.items() if len(name) == 32}
        order = [kept[b"#%d" % place] for place in range(int(kept[b"first"]), int(kept[b"last"]))]
        held = sum(length + cost for length in values.values())
        assert held == int(kept[b"bytes"]) <= most, (held, kept[b"bytes"])
        assert sorted(order) == sorted(values) and len(kept) == 2 * len(values) + 3, "what is dropped leaves something"
    assert 1 < len(values) < 24 and int(kept[b"first"]) > 0, "nothing was dropped"
    expiry = int(command(port, "PTTL", session.decode())[1:])
    assert 0 < expiry <= 60_000, expiry
    long = Gateway(model, port, "memo = { entry_bytes = 100 }", timeout=2)
    before = sessions(port)
    post(long.connection(), chat(3), tenant="long")
    time.sleep(0.2)
    assert sessions(port) == before, "an entry that is too long is kept"
    print(f"24 turns through two gateways: at most {most} bytes of a session in Redis, the {len(values)} latest entries; none over its bound")
    command(port, "ACL", "SETUSER", "default", "-eval")
    refused = Gateway(model, port, timeout=2)
    for turn in range(1, 5):
        post(refused.connection(), chat(turn), tenant="refused")
        time.sleep(0.05)
    outcomes = refused.metrics("stc_context_store_total")
    command(port, "ACL", "SETUSER", "default", "+eval")
    assert outcomes["unwritten"] >= 4 and outcomes["answer"] >= 4 and "error" not in outcomes, outcomes
    print("a Redis that runs no scripts: requests succeed, writes are counted as `unwritten`")


def load(gateway, name, path="/v1/chat/completions", seconds=4):
    """Sends requests at the given rate, each of a tenant of its own; returns the 99th percentile of their times."""
    command = [sys.executable, HERE / "rate.py", gateway.address, path, str(RATE), str(seconds), name]
    done = subprocess.run(command, input=chat(3), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    times = sorted(json.loads(done.stdout))
    assert len(times) == RATE * seconds, len(times)
    p99 = times[len(times) * 99 // 100]
    print(f"    {len(times):,} requests, {RATE} a second: median {statistics.median(times):.1f} ms, p99 {p99:.1f} ms, none failed", end="")
    return p99


def troubles(port, process):
    upstream = start([sys.executable, HERE / "rate.py", "--serve"], stdout=subprocess.PIPE, text=True)
    gateway = Gateway(f"http://{upstream.stdout.readline().strip()}", port)
    outcomes = lambda: gateway.metrics("stc_context_store_total")
    print("a route without a context:")
    plain = load(gateway, "plain", "/plain/v1/chat/completions")
    print()

    def under_load(what, name):
        print(f"{what}:")
        print(f"; added to p99 {load(gateway, name) - plain:.1f} ms")

    under_load("Redis runs", "runs")
    assert outcomes().get("answer", 0) > 0, outcomes()
    process.send_signal(signal.SIGSTOP)
    under_load("Redis is stopped (SIGSTOP)", "stopped")
    assert outcomes().get("timeout", 0) > 0 and outcomes().get("open", 0) > 0, outcomes()
    process.send_signal(signal.SIGCONT)
    back(gateway, outcomes)
    command(port, "CLIENT", "PAUSE", "4500", "ALL")
    under_load("Redis is slow (CLIENT PAUSE)", "slow")
    time.sleep(1)
    back(gateway, outcomes)
    process.kill()
    process.wait()
    under_load("Redis is gone (SIGKILL)", "gone")
    assert outcomes().get("error", 0) > 0, outcomes()
    redis(port)
    back(gateway, outcomes)
    print(f"back each time without a restart; looks by outcome: {outcomes()}")


def back(gateway, outcomes):
    before = outcomes()["answer"]
    connection = gateway.connection()

    def check():
        # Memory has nothing of a new tenant's.
        post(connection, chat(1), tenant=f"back{time.monotonic()}")
        return outcomes()["answer"] > before + 3

    settled(check, "the store's return")


def main():
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    url, port = f"http://127.0.0.1:{model.server_port}", free_port()
    process = redis(port)
    tenants(turns(url, port))
    bounds(url, port)
    troubles(port, process)


try:
    main()
finally:
    end()
