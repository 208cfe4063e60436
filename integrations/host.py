"""What the tests of all hosts share: ports, programs, cells, load, memory, and the rows of the table."""

import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORPUS = ROOT / "corpus/made"
# The rows of all hosts, a line each; integrations/test prints them as one table.
ROWS = ROOT / "target/integrations/rows.jsonl"
ROUNDS = 3


@dataclasses.dataclass
class Load:
    """How a host is loaded."""

    seconds: int = 3
    connections: int = 16


# For hosts that answer some dozens of requests a second.
SLOW = Load(seconds=6, connections=4)


def documents():
    """The files of the corpus, by name."""
    return {path.name: path.read_bytes() for path in sorted(CORPUS.glob("*.json"))}


def encoded(stc, document, format="stc2"):
    """The command line's bytes for a document; None for one that it rejects."""
    done = subprocess.run([stc, "encode", "--format", format], input=document, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def decoded(stc, text):
    """The minified JSON of an STC text."""
    return subprocess.run([stc, "decode"], input=text, capture_output=True, check=True).stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port, path, method="GET", body=None, headers=None):
    """Status, headers with lower-case names, and body of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


@contextlib.contextmanager
def program(command, log, port=None, path="/", seconds=120, **keywords):
    """Runs a program until the end of the block; with a port, the block begins when the program answers there."""
    with open(log, "wb") as out:
        started = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT, **keywords)
    try:
        if port is not None:
            until_answers(started, log, port, path, seconds)
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def until_answers(started, log, port, path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if started.poll() is not None:
            break
        try:
            get(port, path)
            return
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
    sys.exit(f"{started.args[0]} does not answer: {pathlib.Path(log).read_text(errors='replace')[-3000:]}")


class Cells:
    """Checks that are counted; the first that fails ends the test."""

    def __init__(self, host, logs=()):
        self.host, self.logs, self.passed = host, logs, 0

    def check(self, holds, what):
        if not holds:
            shown = "\n".join(pathlib.Path(log).read_text(errors="replace")[-2000:] for log in self.logs)
            sys.exit(f"{self.host}: {what}\n{shown}")
        self.passed += 1


@dataclasses.dataclass
class Way:
    """A way to request the same document: with or without STC."""

    name: str
    port: int
    path: str
    headers: dict = dataclasses.field(default_factory=dict)
    body: str | None = None


def wrk(way, work, load):
    """Requests a second, p50 and p99 in milliseconds, and the number of requests."""
    lines = [f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in way.headers.items()]
    if way.body is not None:
        lines += ['wrk.method = "POST"', f"wrk.body = [========[{way.body}]========]"]
    script = pathlib.Path(work) / "load.lua"
    script.write_text("\n".join(lines) + "\n")
    command = ["wrk", "-t1", f"-c{load.connections}", f"-d{load.seconds}s", "--timeout", "30s", "--latency", "-s", script]
    text = subprocess.run([*command, f"http://127.0.0.1:{way.port}{way.path}"], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"{way.name}: {text}")
    units = {"us": 1e-3, "ms": 1.0, "s": 1e3}

    def latency(share):
        number, unit = re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(number) * units[unit]

    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    return rate, latency(50), latency(99), int(re.search(r"(\d+) requests in", text)[1])


def resident(pid):
    """Memory of a process and its children in KiB."""
    total = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        total += resident(child)
    return total


def processor_time(pid):
    """Seconds of processor time of a process and its children."""
    after_name = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    total = (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        total += processor_time(child)
    return total


def loaded(way, work, pid, load):
    """Requests a second, p50 and p99 in milliseconds, and the host's processor time for a request in milliseconds."""
    begun = processor_time(pid)
    rate, p50, p99, requests = wrk(way, work, load)
    return rate, p50, p99, 1000 * (processor_time(pid) - begun) / requests


def costs(ways, work, pids, load=Load()):
    """Loads the ways in turns and returns the median of each, with the memory of each way's process before and after."""
    for way in ways:
        wrk(way, work, load)
    before = [resident(pid) for pid in pids]
    rounds = [[loaded(way, work, pid, load) for way, pid in zip(ways, pids)] for _ in range(ROUNDS)]
    after = [resident(pid) for pid in pids]
    medians = [tuple(statistics.median(turn[at][part] for turn in rounds) for part in range(4)) for at in range(len(ways))]
    return [
        {"way": way.name, "rate": rate, "p50": p50, "p99": p99, "processor": processor, "before": before[at], "after": after[at]}
        for at, (way, (rate, p50, p99, processor)) in enumerate(zip(ways, medians))
    ]


def report(host, passed, document, measured):
    """Adds the rows of a host to the table, and prints them."""
    row = {"host": host, "passed": passed, "document": document, "cpus": os.cpu_count(), "measured": measured}
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    with ROWS.open("a") as out:
        out.write(json.dumps(row) + "\n")
    print("\n".join(lines(row)))


def lines(row):
    """A host's rows of the table."""
    first = row["measured"][0]["rate"]
    for one in row["measured"]:
        ratio = f"{one['rate'] / first:.2f}"
        memory = f"{one['before'] / 1024:.0f} → {one['after'] / 1024:.0f} MiB"
        latency = f"{one['p50']:.1f} / {one['p99']:.1f} ms"
        yield f"| {row['host']} | {row['passed']} | {one['way']}, {row['document']} | {one['rate']:,.0f} | {ratio} | {one['processor']:.2f} ms | {latency} | {memory} |"


def table():
    """Prints the rows of all hosts."""
    print("| host | cells passed | load | requests a second | ratio | processor time | p50 / p99 | memory |\n|---|---|---|---|---|---|---|---|")
    for line in ROWS.read_text().splitlines():
        print("\n".join(lines(json.loads(line))))


if __name__ == "__main__":
    table()
