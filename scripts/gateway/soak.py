"""Full load with faults mixed in, for a given time: every error is the upstream's, and memory stays flat.

wrk sends requests with and without a preference for a healthy upstream (nginx): no errors. Beside it, clients request every
fault and compare the responses with the expected ones. A SIGHUP arrives every two seconds, every other one with a bad
configuration. At the end comes a SIGTERM: every response in progress arrives complete. Everything is on loopback.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import signal
import statistics
import tempfile
import threading
import time

import faulty
from bench import cores, fetch, free_port, gateway, nginx, resident, rows, wait_for, wrk

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("--minutes", type=float, default=10)
parser.add_argument("--allowed", type=float, default=0.05, help="how far memory may move after the first minute")
options = parser.parse_args()

# The causes of failures that leave a request without the head of a response.
HEADLESS = ("refused", "dns", "connect", "tls", "closed", "malformed", "large-head", "timeout")


class Memory(threading.Thread):
    """Kilobytes, four times a second."""

    def __init__(self, pid, stop):
        super().__init__(daemon=True)
        self.pid, self.stop, self.began, self.seen = pid, stop, time.monotonic(), []

    def run(self):
        while not self.stop.wait(0.25):
            self.seen.append((time.monotonic() - self.began, resident(self.pid)))

    def minutes(self):
        """The median of each minute; of a tenth of the time if that is less."""
        step = min(60, options.minutes * 6)
        marks = range(int(self.seen[-1][0] / step))
        return [statistics.median(kilo for at, kilo in self.seen if mark <= at / step < mark + 1) for mark in marks]


def hang_up(process, config, good, stop, count):
    while not stop.wait(2):
        config.write_text(good if count[0] % 2 else good + "nonsense = 1\n")
        process.send_signal(signal.SIGHUP)
        count[0] += 1
    config.write_text(good)


def metrics(admin):
    text = fetch(f"http://127.0.0.1:{admin}/metrics")[1].decode()
    return {name: float(value) for name, value in re.findall(r"^(stc\S+) (\S+)$", text, re.M)}


def load(url, seconds, asked, out):
    headers = ["Accept-Encoding: stc"] if asked else []
    out.append((asked, *wrk(url, seconds, 16, headers, threads=1)))


def soak(traffic, admin, process, config, good):
    stop, hups = threading.Event(), [0]
    memory = Memory(process.pid, stop)
    mixes = [faulty.Mix(traffic, seed, stop) for seed in range(4)]
    reloads = threading.Thread(target=hang_up, args=(process, config, good, stop, hups), daemon=True)
    for thread in [memory, reloads, *mixes]:
        thread.start()
    end, rates = time.monotonic() + options.minutes * 60, []
    while (left := end - time.monotonic()) > 1:
        turn = [threading.Thread(target=load, args=(f"http://127.0.0.1:{traffic}/16k.json", max(1, int(min(15, left))), asked, rates)) for asked in (True, False)]
        for thread in turn:
            thread.start()
        for thread in turn:
            thread.join()
    stop.set()
    for thread in [memory, reloads, *mixes]:
        thread.join(30)
    for asked in (False, True):
        seen = [rate for kind, rate, *_ in rates if kind == asked]
        print(f"{'with' if asked else 'without'} a preference: {statistics.median(seen):.0f} requests/s, {sum(turn[4] for turn in rates if turn[0] == asked)} errors")
    faults, errors = sum(mix.count for mix in mixes), sum(mix.errors for mix in mixes)
    surprises = [surprise for mix in mixes for surprise in mix.surprises]
    print(f"faults: {faults} requested, {errors} errors, all of them the upstream's; {len(surprises)} unexpected responses")
    for surprise in surprises[:10]:
        print("   ", surprise)
    counts = metrics(admin)
    failures = sum(counts[f'stc_upstream_failures_total{{cause="{kind}"}}'] for kind in HEADLESS)
    collected = sum(mix.collected for mix in mixes)
    fives = counts['stc_http_responses_total{class="5xx"}']
    taken, refused = (counts[f'stc_config_reloads_total{{outcome="{outcome}"}}'] for outcome in ("taken", "refused"))
    print(f"5xx: {fives:.0f}, upstreams unreachable or too slow: {failures:.0f}, incomplete while collected: {collected}; reloads: {taken:.0f} taken, {refused:.0f} refused")
    minutes = memory.minutes()
    warm = 1 if options.minutes >= 10 else 3  # steps until every buffer has met its largest body
    moved = max(abs(kilo / minutes[warm] - 1) for kilo in minutes[warm:])
    print("memory, MB, the median of each step:", *(f"{kilo / 1024:.1f}" for kilo in minutes))
    print(f"memory moved by {moved:.1%} after step {warm}; allowed {options.allowed:.0%}")
    assert not surprises and not any(turn[4] for turn in rates), "an error of the gateway"
    assert fives == failures + collected, "a 5xx that was not the upstream's"
    assert taken and refused, "reloads of both kinds"
    assert moved <= options.allowed, "memory is not flat"


def term(traffic, process):
    """Sixty-four responses are under way, and wrk is at full load, when it is told to stop."""
    busy = threading.Thread(target=lambda: wrk(f"http://127.0.0.1:{traffic}/16k.json", 3, 16, threads=1))
    busy.start()
    lost, whole = [], []

    def one():
        try:
            status, _, body = faulty.ask(traffic, "/faulty/slow")
            (whole if status == 200 and body == faulty.WHOLE else lost).append(status)
        except (faulty.Cut, OSError) as error:
            lost.append(error)

    clients = [threading.Thread(target=one) for _ in range(64)]
    for client in clients:
        client.start()
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    for client in clients:
        client.join(40)
    code = process.wait(40)
    busy.join()
    print(f"SIGTERM: {len(whole)} responses under way arrived whole, {len(lost)} lost; ended with {code}")
    assert len(whole) == 64 and not lost and code == 0, lost


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # nginx's workers run as another user
        pathlib.Path(folder, "16k.json").write_text(rows(16 << 10))
        faults = free_port()
        upstream = multiprocessing.Process(target=faulty.serve, args=(faults,), daemon=True)
        upstream.start()
        files = f"root {folder}; types {{ application/json json; }} open_file_cache max=10;"
        config = pathlib.Path(folder, "gateway.toml")
        with nginx(folder, "upstream", 1, files) as (well, _):
            good = (
                f'upstream = "http://127.0.0.1:{well}"\n[[routes]]\npath = "/faulty"\nupstream = "http://127.0.0.1:{faults}"\n'
                "[timeouts]\nresponse = 1.5\nidle = 1.5\n"
            )
            config.write_text(good)
            with gateway(options.binary, ["--config", str(config)]) as (traffic, admin, process):
                expected = json.loads(fetch(f"http://127.0.0.1:{well}/16k.json")[1])
                assert json.loads(fetch(f"http://127.0.0.1:{traffic}/16k.json")[1]) == expected
                print(f"{options.minutes:g} minutes on {cores()} cores", flush=True)
                soak(traffic, admin, process, config, good)
                term(traffic, process)
        upstream.kill()


main()
