"""Attacks on the gateway, one after another and all at once, with a healthy client beside them.

The gateway runs in a memory cgroup. The healthy client comes from 127.0.0.1 and opens a connection for each request; the
attackers come from 127.0.0.2 and further, because shares go by address. Each attack has processes of its own, of the lowest
priority: in production they have processors of their own, and here a request must wait for the gateway, not for an attacker's turn.
They take all that the others leave, and each line says how much of a processor the gateway had to spend.
"""

import argparse
import contextlib
import http.client
import multiprocessing
import os
import pathlib
import resource
import statistics
import tempfile
import threading
import time

from attacks import ATTACKS
from bench import fetch, gateway, nginx, resident, rows

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("--seconds", type=float, default=12, help="the length of each attack")
parser.add_argument("--limit", type=int, default=256, help="MiB of memory")
parser.add_argument("--only", help="the name of one attack, or \"all at once\"")
options = parser.parse_args()

# By the sum in docs/operations.md for this cgroup. `request` is longer than an attack: connections that say nothing stay open for all of it.
HALF_OPEN = "half-open connections"
LIMITS = """
[limits]
connections = 13000
connections_per_client = 3000
requests = 200
requests_per_client = 100
held_bytes = 25165824
held_bytes_per_client = 12582912
[timeouts]
send = 4
request = 15
queue = 2
[stc]
max_held = 16
max_bytes = 2500000
[context]
max_request_bytes = 2500000
[[plugins]]
name = "mask-emails"
routes = ["/plugins"]
[[plugins]]
name = "headers"
routes = ["/plugins", "/mcp"]
tools = ["x"]
settings = {}
[[routes]]
path = "/v1/compress"
compress = true
[[routes]]
path = "/v1"
upstream = "UPSTREAM"
context = true
[[routes]]
path = "/tools"
upstream = "UPSTREAM"
tools = { include = ["*"] }
"""


class Cgroup:
    """A memory cgroup, of version 1 or 2."""

    def __init__(self, mib):
        first, second = pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup")
        self.old = (first / "memory.limit_in_bytes").exists()
        if not self.old:
            assert "memory" in (second / "cgroup.controllers").read_text(), "no memory controller"
            (second / "cgroup.subtree_control").write_text("+memory")
        self.path = (first if self.old else second) / f"stc-hostile-{os.getpid()}"
        self.path.mkdir()
        (self.path / ("memory.limit_in_bytes" if self.old else "memory.max")).write_text(str(mib << 20))

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def peak(self):
        """MiB, kernel memory of sockets included where the kernel counts it."""
        return int((self.path / ("memory.max_usage_in_bytes" if self.old else "memory.peak")).read_text()) / (1 << 20)

    def close(self):
        for _ in range(50):
            with contextlib.suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.1)


def healthy(port, seconds, expected):
    """Requests for this long, each on its own connection. Returns their times in milliseconds, sorted, and the failures."""
    times, failures = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/4k.json")
            response = connection.getresponse()
            if response.status != 200 or response.read() != expected:
                failures.append(f"status {response.status}")
            connection.close()
        except OSError as error:
            failures.append(repr(error))
        times.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.002)
    return sorted(times), failures


def p99(times):
    return times[len(times) * 99 // 100]


def spent(process):
    """Seconds of a processor since its start."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def metric(admin, name):
    text = fetch(f"http://127.0.0.1:{admin}/metrics")[1].decode()
    return sum(float(line.split()[1]) for line in text.splitlines() if line.startswith(name))


def sample(admin, stop, counts):
    """Appends the number of open connections twice a second."""
    while not stop.wait(0.5):
        counts.append(metric(admin, "stc_connections "))


def attack(function, port, stop):
    os.nice(19)
    function(port, stop)


def attacked(names, traffic, admin, body):
    """The healthy client's times and failures while these attacks go on, and the median number of open connections."""
    stop = multiprocessing.Event()
    functions = [function for name in names for function in ATTACKS[name]]
    processes = [multiprocessing.Process(target=attack, args=(function, traffic, stop), daemon=True) for function in functions]
    for process in processes:
        process.start()
    time.sleep(2)  # the attack is at its height
    if names == [HALF_OPEN]:
        for _ in range(40):  # on a busy machine later
            if metric(admin, "stc_connections ") >= 10_000:
                break
            time.sleep(0.5)
    counts, sampled = [], threading.Event()
    sampler = threading.Thread(target=sample, args=(admin, sampled, counts))
    sampler.start()
    times, failures = healthy(traffic, options.seconds, body)
    sampled.set()
    sampler.join()
    connections = statistics.median(counts)
    stop.set()
    for process in processes:
        process.join(20)
        if process.is_alive():
            process.kill()
    return times, failures, connections


def main():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wrong = []
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Cgroup(options.limit)) as group:
        pathlib.Path(folder).chmod(0o755)
        body = rows(4 << 10).encode()
        pathlib.Path(folder, "4k.json").write_bytes(body)
        pathlib.Path(folder, "large.json").write_text(rows(2 << 20))
        pathlib.Path(folder, "large.bin").write_bytes(bytes(64 << 20))
        server = f"root {folder}; types {{ application/json json; }}"
        config = pathlib.Path(folder, "gateway.toml")
        with nginx(folder, "upstream", 1, server) as (upstream, _):
            config.write_text(f'upstream = "http://127.0.0.1:{upstream}"\nlog = "off"\n{LIMITS}'.replace("UPSTREAM", f"http://127.0.0.1:{upstream}"))
            arguments = ["--config", str(config)]
            with gateway(options.binary, arguments, preexec_fn=group.enter) as (traffic, admin, process):
                healthy(traffic, 2, body)
                quiet, failures = healthy(traffic, 6, body)
                assert not failures, failures[:3]
                start = resident(process.pid) / 1024
                allowed = 10 * p99(quiet)
                print(f"quiet: {len(quiet)} requests, p99 {p99(quiet):.1f} ms, {start:.0f} MiB")
                everything = {name: [name] for name in ATTACKS} | {"all at once": list(ATTACKS)}
                for name, names in everything.items() if not options.only else [(options.only, everything[options.only])]:
                    before, begun = spent(process), time.monotonic()
                    times, failures, connections = attacked(names, traffic, admin, body)
                    share = (spent(process) - before) / (time.monotonic() - begun)
                    held = resident(process.pid) / 1024
                    print(f"{name}: {len(times)} healthy requests, {len(failures)} failed, p99 {p99(times):.1f} ms, {connections:.0f} connections, {held:.0f} MiB, {share:.2f} of a processor")
                    if names == [HALF_OPEN] and connections < 10_000:
                        wrong.append(f"{name}: only {connections:.0f} were open, in the median")
                    if failures:
                        wrong.append(f"{name}: {failures[:3]}")
                    if p99(times) >= allowed:
                        wrong.append(f"{name}: p99 {p99(times):.1f} ms is not below {allowed:.1f} ms")
                for _ in range(60):
                    time.sleep(0.5)
                    if metric(admin, "stc_connections ") == 0 and resident(process.pid) / 1024 < start + 24:
                        break
                end, left = resident(process.pid) / 1024, metric(admin, "stc_connections ")
                print(f"afterwards: {end:.0f} MiB, {left:.0f} connections; the cgroup's peak was {group.peak():.0f} of {options.limit} MiB")
                if process.poll() is not None:
                    wrong.append("the gateway ended")
                if left or end >= start + 24:
                    wrong.append(f"not back to the start: {left:.0f} connections, {end:.0f} MiB after {start:.0f}")
                times, failures = healthy(traffic, 3, body)
                if failures:
                    wrong.append(f"afterwards: {failures[:3]}")
    for line in wrong:
        print("WRONG:", line)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
