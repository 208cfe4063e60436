"""One contender of the Python table, in a process of its own: worker.py CONTENDER SECONDS FILE... prints nanoseconds a pass.

Checks its own answers before it is timed. The time of a pass is the least of all passes within the seconds given.
"""

import json
import sys
import time


def main(contender, seconds, *paths):
    texts = [open(path, "rb").read() for path in paths]
    values = [json.loads(text) for text in texts]
    work, inputs, check = CONTENDERS[contender](texts, values)
    for path, given, value in zip(paths, inputs, values):
        assert check(work(given), value), f"{contender}: {path} comes back changed"
    best, end = None, time.monotonic() + float(seconds)
    while best is None or time.monotonic() < end:
        begun = time.perf_counter_ns()
        for given in inputs:
            work(given)
        taken = time.perf_counter_ns() - begun
        best = taken if best is None else min(best, taken)
    print(best)


def encode(texts, values):
    import stc

    minified = {id(value): stc.encode(text, "json") for text, value in zip(texts, values)}
    return stc.encode, texts, lambda text, value: stc.decode(text) == minified[id(value)]


def stc_dumps(texts, values):
    import stc

    return stc.dumps, values, lambda text, value: stc.loads(text) == value


def reprinted(texts, values):
    return (lambda text: json.dumps(json.loads(text))), texts, lambda text, value: json.loads(text) == value


def json_dumps(texts, values):
    return json.dumps, values, lambda text, value: json.loads(text) == value


def toon(texts, values):
    import toon_format

    return (lambda text: toon_format.dumps(json.loads(text))), texts, lambda text, value: toon_format.loads(text) == value


CONTENDERS = {
    "stc.encode": encode, "json.loads+dumps": reprinted, "toon": toon, "stc.dumps": stc_dumps, "json.dumps": json_dumps,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
