"""Requests per second through the gateway, with and without a preference, beside nginx as a plain proxy for the same upstream.

The proxies alternate, so that other load on the machine affects all of them; the result is the median of the turns. The
upstream, the proxies and wrk share the machine's cores, so the ratio matters, and the processor time of a proxy per
request, which gives the rate per core. A second table has the latencies at one low rate, which is the same for all.

Fails if a rate is below its share of nginx's in LEAST. Prints the goals that are not reached: the shares in GOALS, and that clients that
opt in wait at most SLOWER times as long at the 99th percentile as those that do not, at the same rate.
"""

import argparse
import os
import statistics
import tempfile

from bench import busy, cores, fetch, gateway, nginx, rows, wrk

SIZES = [1, 4, 16, 64, 256]
# Shares of nginx's rate: without a preference at every size, and for STC 2 by kilobytes.
LEAST = {"not asked": dict.fromkeys(SIZES, 0.7), "asked": {4: 0.4, 64: 0.2}}
GOALS = {"not asked": dict.fromkeys(SIZES, 0.9), "asked": {4: 0.6, 64: 0.5}}
SLOWER = 2
# Each connection waits this many milliseconds before a request: 32 connections send about a thousand a second.
PAUSE = 32

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("--seconds", type=int, default=3, help="of one turn")
parser.add_argument("--turns", type=int, default=5)
parser.add_argument("--connections", type=int, default=32)
parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="kilobytes")
parser.add_argument("--also", help="another gateway to compare with")
options = parser.parse_args()

folder = tempfile.TemporaryDirectory()
os.chmod(folder.name, 0o755)  # nginx's workers run as another user
for size in options.sizes:
    with open(f"{folder.name}/{size}k.json", "w") as file:
        file.write(rows(size << 10))

files = f"root {folder.name}; types {{ application/json json; }} sendfile on; open_file_cache max=100; "
with nginx(folder.name, "upstream", 1, files) as (upstream, _):
    kept = f"upstream origin {{ server 127.0.0.1:{upstream}; keepalive 128; keepalive_requests 1000000000; }}"
    forward = 'location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }'
    to = ["--upstream", f"http://127.0.0.1:{upstream}", "--log", "off"]
    with (
        nginx(folder.name, "proxy", cores(), forward, kept) as (plain, nginx_process),
        gateway(options.binary, to) as (ours, _, process),
        gateway(options.also or options.binary, to) as (also, _, also_process),
    ):
        asks = ["Accept-Encoding: stc", "X-STC-Version: 2"]
        ways = {"nginx": (plain, nginx_process, []), "not asked": (ours, process, []), "asked": (ours, process, asks)}
        if options.also:
            ways["the other"] = (also, also_process, [])
        print(f"{cores()} cores, {options.connections} connections, median of {options.turns} turns of {options.seconds} s")
        print(f"{'body':>7} {'through':>10} {'requests/s':>11} {'p50 us':>8} {'p99 us':>8} {'of nginx':>9} {'a core':>9} {'errors':>7}")
        failed, missed = [], []
        for size in options.sizes:
            path = f"/{size}k.json"
            body = fetch(f"http://127.0.0.1:{upstream}{path}")[1]
            assert fetch(f"http://127.0.0.1:{ours}{path}")[1] == body, "not asked: the same bytes"
            headers, coded = fetch(f"http://127.0.0.1:{ours}{path}", [line.split(": ") for line in asks])
            assert headers["Content-Encoding"] == "stc" and len(coded) < len(body), "asked: STC, and smaller"
            seen = {way: [] for way in ways}
            for turn in range(options.turns):
                order = list(ways) if turn % 2 == 0 else list(ways)[::-1]
                for way in order:
                    port, proxy, headers = ways[way]
                    before = busy(proxy.pid)
                    rate, p50, p99, errors, count = wrk(f"http://127.0.0.1:{port}{path}", options.seconds, options.connections, headers)
                    seen[way].append((rate, p50, p99, count / max(busy(proxy.pid) - before, 0.01), errors))
            medians = {way: [statistics.median(column) for column in zip(*turns)] for way, turns in seen.items()}
            for way, (rate, p50, p99, core, _) in medians.items():
                share = rate / medians["nginx"][0]
                errors = sum(turn[4] for turn in seen[way])
                print(f"{size:>4} KB {way:>10} {rate:>11.0f} {p50:>8.0f} {p99:>8.0f} {share:>9.2f} {core:>9.0f} {errors:>7}", flush=True)
                for shares, below in [(LEAST, failed), (GOALS, missed)]:
                    wanted = shares.get(way, {}).get(size, 0)
                    if share < wanted:
                        below.append(f"{size} KB {way}: {share:.2f} of nginx, wanted {wanted}")
        print(f"\nAt the same low rate, {PAUSE} ms between the requests of a connection")
        print(f"{'body':>7} {'through':>10} {'requests/s':>11} {'p50 us':>8} {'p99 us':>8}")
        for size in options.sizes:
            seen = {way: [] for way in ways}
            for turn in range(options.turns):
                for way in list(ways) if turn % 2 == 0 else list(ways)[::-1]:
                    port, _, headers = ways[way]
                    seen[way].append(wrk(f"http://127.0.0.1:{port}/{size}k.json", options.seconds, options.connections, headers, pause=PAUSE)[:3])
            medians = {way: [statistics.median(column) for column in zip(*turns)] for way, turns in seen.items()}
            for way, (rate, p50, p99) in medians.items():
                print(f"{size:>4} KB {way:>10} {rate:>11.0f} {p50:>8.0f} {p99:>8.0f}", flush=True)
            slower = medians["asked"][2] / medians["not asked"][2]
            if slower > SLOWER:
                missed.append(f"{size} KB asked: {slower:.1f} times the p99 of not asked, at most {SLOWER}")
for line in missed:
    print(f"a goal that is not reached: {line}")
for line in failed:
    print(f"FAILED: {line}")
raise SystemExit(1 if failed else 0)
