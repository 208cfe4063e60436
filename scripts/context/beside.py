#!/usr/bin/env python3
"""The time of small requests while ten clients send requests of a megabyte with 200 results, all in the mode `standard`.

    beside.py GATEWAY [SECONDS]

Prints medians and 99th percentiles of the small ones, with and without the large ones; beside them the same small requests straight to
the upstream, whose times are what the machine adds. Asserts nothing of them, because they depend on what else the machine does.
"""

import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from latency import body
from processes import end, start

HERE = Path(__file__).resolve().parent
PATH = "/v1/chat/completions"
CLIENTS, RATE = 10, 100


def small():
    text = json.dumps([{"id": number, "state": "open", "by": {"name": "ann"}} for number in range(40)])
    return json.dumps({"model": "m", "messages": [{"role": "tool", "tool_call_id": "c", "content": text}]}).encode()


def times(address, seconds, name):
    """Sends small requests at a fixed rate; prints and returns their 99th percentile in milliseconds."""
    command = [sys.executable, HERE / "rate.py", address, PATH, str(RATE), str(seconds), "small"]
    done = subprocess.run(command, input=small(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    taken = sorted(json.loads(done.stdout))
    p99 = taken[len(taken) * 99 // 100]
    print(f"{name:46} {len(taken):6,} small: median {statistics.median(taken):6.2f} ms, p99 {p99:6.2f} ms, most {taken[-1]:6.2f} ms", flush=True)
    return p99


class Large:
    """Clients that send the large request again and again."""

    def __init__(self, address):
        self.address, self.body, self.ended, self.taken = address, body(), threading.Event(), []
        self.threads = [threading.Thread(target=self.send) for _ in range(CLIENTS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def send(self):
        connection = http.client.HTTPConnection(self.address)
        while not self.ended.is_set():
            connection.request("POST", PATH, self.body, {"content-type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read() == b"{}"
            self.taken.append(answer.headers["x-stc-context"])


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    upstream = start([sys.executable, HERE / "rate.py", "--serve"], stdout=subprocess.PIPE, text=True).stdout.readline().strip()
    config = Path(tempfile.mkdtemp()) / "gateway.toml"
    config.write_text(
        f'listen = "127.0.0.1:0"\nlog = "off"\n[[routes]]\npath = "/"\nupstream = "http://{upstream}"\ncontext = {{ mode = "standard" }}\n'
    )
    gateway = start([sys.argv[1], "--config", config], stderr=subprocess.PIPE, text=True)
    address = next(line for line in gateway.stderr if "listening on " in line).split("http://")[1].strip()
    times(upstream, seconds / 4, "direct, alone")
    times(address, seconds / 4, "through the gateway, alone")
    with Large(address) as large:
        times(upstream, seconds, "direct, beside the large ones")
        before = len(large.taken)
        times(address, seconds, "through the gateway, beside the large ones")
    assert len(large.taken) > before and "results=200" in large.taken[-1], large.taken[-1:]
    print(f"{len(large.taken) - before:,} large ones of {len(large.body):,} bytes in {seconds:.0f} s, {large.taken[-1]}")


try:
    main()
finally:
    end()
