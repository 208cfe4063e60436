"""Runs tests against mutants: the binary is the same for all, the environment names the mutant.

First each test runs alone with the original code and records the sites that it reaches and the time that it takes. A
mutant then meets only tests that reach it, in batches; the first failure ends it. Quick tests come first, and before them
those that have noticed other mutants of the same function.
"""

import functools
import hashlib
import json
import math
import os
import pickle
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# How many times less often than usual random documents come: in the quick runs of a test and in the thorough ones.
ROUNDS = {"quick": "500", "thorough": "50"}
# Tests that take more seconds than this are taken to reach every site: recording makes them about twice as slow.
LONG = 30.0
# Seconds of a processor that the tests of the first batch take together, of the second, and so on; the last is the rest.
BATCHES = [0.04, 0.2, 0.6, 2.0, 8.0]
# The signals that end a test that takes too long.
OUT_OF_TIME = (signal.SIGPROF, signal.SIGXCPU, signal.SIGKILL)

# Tests that compare a recorded outcome, or look at every limit: they notice most of what short tests do not.
STRONG = re.compile("(slow_steps|thresholds|chosen|exact_limits|vectors)::")


@dataclass(frozen=True)
class Test:
    """A test with its number of rounds, the time it takes, and the sites it reaches."""

    binary: str
    name: str
    rounds: str
    seconds: float
    sites: frozenset | None

    @property
    def mark(self):
        return mark_of(self.binary, self.name, self.rounds)


@functools.cache
def mark_of(*test):
    """Returns a short text that tells tests apart."""
    return hashlib.sha256(" ".join(test).encode()).hexdigest()[:5]


class Runner:
    """Runs test binaries with limits on time and memory."""

    def __init__(self, tree, binaries, memory):
        self.tree = tree
        self.binaries = binaries
        self.memory = memory

    def run(self, binary, names, rounds, seconds, environment):
        """Returns ("passed" | "failed" | "timeout", what failed, seconds). Limits count processor time: others may be
        at work on the machine."""
        limit = 0.2 + 4 * seconds

        def limits():
            # The timer stays when the test takes the place of this process; unlike the limit, it counts parts of a second.
            signal.setitimer(signal.ITIMER_PROF, limit)
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(1 + limit), math.ceil(2 + limit)))
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        process = subprocess.Popen(
            [self.binaries[binary], "--exact", "--test-threads=1", *names],
            cwd=self.tree,
            env=os.environ | {"STC_ROUNDS": ROUNDS[rounds], "RUST_BACKTRACE": "0"} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            preexec_fn=limits,
        )
        # Not process.kill(): it may collect the process, and its time with it.
        kill = lambda: os.kill(process.pid, signal.SIGKILL)
        stuck = threading.Event()
        timer = threading.Timer(600 + 100 * limit, lambda: (stuck.set(), kill()))
        timer.start()
        running, failed, passed = "", None, 0
        for line in process.stdout:
            if line.startswith("test ") and " ... " in line:
                running = line.split()[1]
                passed += line.rstrip().endswith("ok")
                if line.rstrip().endswith("FAILED"):
                    failed = running
                    kill()
                    break
        process.stdout.close()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = status
        seconds = used.ru_utime + used.ru_stime
        if failed:
            return "failed", failed, seconds
        if stuck.is_set() or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in OUT_OF_TIME):
            return "timeout", f"after {running or 'no test'}", seconds
        if status == 0 and passed == len(names):
            return "passed", "", seconds
        return "failed", f"aborted after {running or 'no test'}", seconds

    def names(self, binary):
        """Returns the tests of a binary that run unless named."""
        listed = subprocess.run(
            [self.binaries[binary], "--list", "--format=terse"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()
        ignored = subprocess.run(
            [self.binaries[binary], "--list", "--format=terse", "--ignored"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()
        return [line.removesuffix(": test") for line in listed if line.endswith(": test") and line not in ignored]

    def measure(self, binary, name, rounds, most):
        """Runs a test with the original code, once to see its time and once to see what it reaches. Returns nothing if it
        takes more than `most` seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sites"
            path.touch()
            result, what, seconds = self.run(binary, [name], rounds, most / 4, {"STC_MUTANT": "0"})
            if result == "timeout" or (result == "passed" and seconds > most):
                return None
            if result != "passed":
                raise SystemExit(f"{name} fails without a mutant: {result} {what}")
            if seconds > LONG:
                return Test(binary, name, rounds, seconds, None)
            self.run(binary, [name], rounds, 5 * seconds, {"STC_MUTANT_SITES": str(path)})
            sites = frozenset(int(line) for line in path.read_text().split())
        return Test(binary, name, rounds, seconds, sites)

    def measured(self, path, workers, skipped, only, longest, say):
        """Measures every test that takes no longer than `longest` seconds and has the text `only` in its name; one that its
        rounds change is there twice. What an earlier call has measured is in the file `path`: for each test and rounds the
        result, and how long it was allowed to take."""
        every = [(binary, name) for binary in self.binaries for name in self.names(binary) if only in name]
        every = [(binary, name) for binary, name in every if not any(text in name for text in skipped)]
        known = pickle.loads(path.read_bytes()) if path.exists() else {}

        def all_of(keys, most):
            left = [key for key in keys if key not in known or (known[key][0] is None and known[key][1] < most(key))]
            with ThreadPoolExecutor(workers) as pool:
                for key, test in zip(left, pool.map(lambda key: self.measure(*key, most(key)), left)):
                    known[key] = (test, most(key))
                    path.write_bytes(pickle.dumps(known))
            return [known[key][0] for key in keys if known[key][0] is not None]

        thorough = all_of([(*test, "thorough") for test in every], lambda _: longest)
        seconds = {(test.binary, test.name): test.seconds for test in thorough}
        # One that is quick already has nothing to gain.
        slow = [(*test, "quick") for test in every if seconds.get(test, longest) > 0.05]
        quick = all_of(slow, lambda key: min(longest, 0.3 * seconds.get(key[:2], math.inf)))
        total = sum(test.seconds for test in thorough)
        say(f"{len(thorough)} of {len(every)} tests, {total:.0f} s; {len(quick)} with fewer rounds")
        return thorough + quick


def rank(test, noticed):
    """Returns a number by which tests are sorted: how long one takes, less for those that notice much in their time.
    `noticed` counts the mutants of the same function that each test has noticed."""
    return test.seconds / (8 if STRONG.match(test.name) else 1) / (1 + 4 * noticed[test.name])


def batches(tests, noticed):
    """Cuts tests, the best for their time first, into runs of one binary with one number of rounds."""
    limits, cut, spent = iter(BATCHES), [[]], 0.0
    limit = next(limits)
    for test in sorted(tests, key=lambda test: rank(test, noticed)):
        while spent + test.seconds > limit and spent > 0:
            limit, spent = next(limits, math.inf), 0.0
            cut.append([])
        cut[-1].append(test)
        spent += test.seconds
    for batch in cut:
        for kind in sorted({(test.binary, test.rounds) for test in batch}):
            yield *kind, [test for test in batch if (test.binary, test.rounds) == kind]


def judge(runner, mutant, tests, noticed):
    """Returns what became of a mutant: (result, by what, seconds)."""
    spent = 0.0
    for binary, rounds, batch in batches(tests, noticed):
        expected = sum(test.seconds for test in batch)
        result, what, seconds = runner.run(
            binary, [test.name for test in batch], rounds, expected, {"STC_MUTANT": str(mutant)}
        )
        spent += seconds
        if result == "failed":
            return "caught", what, spent
        if result == "timeout":
            return "timeout", what, spent
    return "missed", "", spent


class Results:
    """What became of mutants, in a file with one line for each, appended as it comes. An entry holds for the sources and
    tests that it was found with; that a mutant was noticed holds as long as the mutant's own file is the same. `marks` are
    those of sources and tests together, of the sources with which a missed mutant stays missed, if any, and of the
    sources."""

    def __init__(self, path, marks, digest, again):
        self.path = path
        self.mark, missed_with, self.sources = marks
        self.digest = digest
        self.entries, self.digests = {}, {}
        lines = path.read_text().splitlines() if path.exists() and not again else []
        for entry in map(json.loads, lines):
            if "ran" not in entry:
                # Of an older version of this script.
                continue
            noticed = entry["result"] in ("caught", "timeout")
            same_file = noticed and entry["source"] == self.source(entry["name"])
            if entry["mark"] == self.mark or same_file or (missed_with and entry["sources"] == missed_with):
                self.entries[entry["name"]] = entry

    def source(self, name):
        """Returns the digest of the file that a mutant is in."""
        path = name.split(":")[0]
        if path not in self.digests:
            self.digests[path] = self.digest(path)
        return self.digests[path]

    def add(self, name, **entry):
        entry = {"name": name, **entry, "mark": self.mark, "sources": self.sources, "source": self.source(name)}
        self.entries[name] = entry
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def function_of(name):
    """Returns the file and the function of a mutant."""
    return name[: name.index(": replace ")]


def judge_all(runner, mutants, tests, most, only, results, workers, say):
    """Judges mutants, each with tests that take no more than `most` seconds together. What an earlier call has found out is
    not run again: a mutant that it noticed, and, for one that it missed, the tests that it ran. `only` is a text in the names
    of the tests to run. `mutants` is a list of (name, number, site's number)."""
    done = results.entries
    reaching = {}
    for test in tests:
        for site in test.sites or ():
            reaching.setdefault(site, []).append(test)
    everywhere = [test for test in tests if test.sites is None]
    noticed = {}
    for name, entry in done.items():
        if entry["result"] == "caught":
            noticed.setdefault(function_of(name), Counter())[entry["by"]] += 1

    def ran(name):
        """Returns the tests that have run, or nothing if the mutant has been noticed."""
        entry = done.get(name, {"result": "missed", "ran": []})
        return set(entry["ran"]) if entry["result"] in ("missed", "unreached") else None

    def pending(name, site, before):
        """Returns the tests to run against a mutant, the best for their time first."""
        some = reaching.get(site, []) + everywhere
        left = most - sum(test.seconds for test in some if test.mark in before)
        counts = noticed.get(function_of(name), Counter())
        chosen = []
        for test in sorted(some, key=lambda test: rank(test, counts)):
            if test.mark not in before and only in test.name and test.seconds <= left:
                chosen.append(test)
                left -= test.seconds
        return chosen

    def is_left(mutant):
        name, _, site = mutant
        before = ran(name)
        return name not in done or (before is not None and pending(name, site, before))

    left = [mutant for mutant in mutants if is_left(mutant)]
    say(f"{len(left)} of {len(mutants)} mutants to run")
    lock, began, finished = threading.Lock(), time.monotonic(), []

    def one(mutant):
        name, number, site = mutant
        before = ran(name)
        some = pending(name, site, before)
        result, by, seconds = judge(runner, number, some, noticed.get(function_of(name), Counter()))
        with lock:
            if result == "caught":
                noticed.setdefault(function_of(name), Counter())[by] += 1
            seconds += done[name]["seconds"] if name in done else 0
            after = before.union(test.mark for test in some)
            result = "unreached" if result == "missed" and not reaching.get(site) and not after else result
            results.add(name, result=result, by=by, seconds=round(seconds, 2), ran=sorted(after) if result == "missed" else [])
            finished.append(name)
            if len(finished) % 50 == 0:
                say(f"{len(finished)} of {len(left)} in {time.monotonic() - began:.0f} s")

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, left))
    return [done[name] for name, _, _ in mutants]
