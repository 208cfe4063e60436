"""Runs tests against mutants: the binary is the same for all, the environment names the mutant.

First each test runs alone with the original code and records the sites that it reaches and the time that it takes. A
mutant then meets only tests that reach it, quick and strong ones first, in batches; the first failure ends it.
"""

import json
import math
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# How many times less often than usual random documents come: in the quick runs of a test and in the thorough ones.
ROUNDS = {"quick": "500", "thorough": "50"}
# Tests that take more seconds than this are taken to reach every site: recording makes them several times slower.
LONG = 1.5
# Seconds of a processor that the tests of the first batch take together, of the second, and so on; the last is the rest.
BATCHES = [0.1, 0.5, 2.0, 8.0]


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


class Runner:
    """Runs test binaries with limits on time and memory."""

    def __init__(self, tree, binaries, memory):
        self.tree = tree
        self.binaries = binaries
        self.memory = memory

    def run(self, binary, names, rounds, seconds, environment):
        """Returns ("passed" | "failed" | "timeout", what failed, seconds). Limits count processor time: others may be
        at work on the machine."""
        limit = math.ceil(1 + 4 * seconds)

        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
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
        timer = threading.Timer(60 + 40 * limit, lambda: (stuck.set(), kill()))
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
        if stuck.is_set() or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
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

    def measure(self, binary, name, rounds, most=math.inf):
        """Runs a test with the original code, once to see its time and once to see what it reaches; returns nothing if
        it takes more than `most` seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sites"
            path.touch()
            result, what, seconds = self.run(binary, [name], rounds, 300, {"STC_MUTANT": "0"})
            if result != "passed":
                raise SystemExit(f"{name} fails without a mutant: {result} {what}")
            if seconds > most:
                return None
            if seconds > LONG:
                return Test(binary, name, rounds, seconds, None)
            self.run(binary, [name], rounds, 600, {"STC_MUTANT_SITES": str(path)})
            sites = frozenset(int(line) for line in path.read_text().split())
        return Test(binary, name, rounds, seconds, sites)

    def measured(self, workers, skipped, say):
        """Measures every test; a test that its rounds change is there twice."""
        every = [(binary, name) for binary in self.binaries for name in self.names(binary)]
        every = [(binary, name) for binary, name in every if not any(text in name for text in skipped)]
        with ThreadPoolExecutor(workers) as pool:
            thorough = list(pool.map(lambda test: self.measure(*test, "thorough"), every))
            slow = [test for test in thorough if test.seconds > 0.05]
            quick = list(pool.map(lambda t: self.measure(t.binary, t.name, "quick", 0.3 * t.seconds), slow))
        quick = [test for test in quick if test is not None]
        seconds = sum(test.seconds for test in thorough)
        say(f"{len(every)} tests, {seconds:.0f} s; {len(quick)} of them also with fewer rounds")
        return thorough + quick


def rank(test):
    """Returns a number by which tests are sorted: how long one takes, less for those that notice much in their time."""
    return test.seconds / (8 if STRONG.match(test.name) else 1)


def batches(tests):
    """Cuts tests, the best for their time first, into runs of one binary with one number of rounds."""
    limits, cut, spent = iter(BATCHES), [[]], 0.0
    limit = next(limits)
    for test in sorted(tests, key=rank):
        while spent + test.seconds > limit and spent > 0:
            limit, spent = next(limits, math.inf), 0.0
            cut.append([])
        cut[-1].append(test)
        spent += test.seconds
    for batch in cut:
        for kind in sorted({(test.binary, test.rounds) for test in batch}):
            yield *kind, [test for test in batch if (test.binary, test.rounds) == kind]


def judge(runner, mutant, tests):
    """Returns what became of a mutant: (result, by what, seconds)."""
    spent = 0.0
    if not tests:
        return "unreached", "", spent
    for binary, rounds, batch in batches(tests):
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
    tests that it was found with; that a mutant was noticed holds as long as the mutant's own file is the same."""

    def __init__(self, path, mark, digest, again):
        self.path = path
        self.mark = mark
        self.digest = digest
        self.entries, self.digests = {}, {}
        lines = path.read_text().splitlines() if path.exists() and not again else []
        for entry in map(json.loads, lines):
            noticed = entry["result"] in ("caught", "timeout")
            if entry["mark"] == mark or (noticed and entry["source"] == self.source(entry["name"])):
                self.entries[entry["name"]] = entry

    def source(self, name):
        """Returns the digest of the file that a mutant is in."""
        path = name.split(":")[0]
        if path not in self.digests:
            self.digests[path] = self.digest(path)
        return self.digests[path]

    def add(self, name, **entry):
        entry = {"name": name, **entry, "mark": self.mark, "source": self.source(name)}
        self.entries[name] = entry
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def judge_all(runner, mutants, tests, longest, results, workers, say):
    """Judges mutants with tests that take no longer than `longest` seconds. What an earlier call has found out is not run
    again: a mutant that it noticed, and, for one that it missed, the tests that it ran. `mutants` is a list of (name,
    number, site's number)."""
    done = results.entries
    run_before = {name: entry["longest"] for name, entry in done.items() if entry["result"] in ("missed", "unreached")}
    left = [mutant for mutant in mutants if mutant[0] not in done or run_before.get(mutant[0], longest) < longest]
    reaching = {}
    for test in tests:
        for site in test.sites or ():
            reaching.setdefault(site, []).append(test)
    everywhere = [test for test in tests if test.sites is None]
    lock, began, finished = threading.Lock(), time.monotonic(), []

    def one(mutant):
        name, number, site = mutant
        before = run_before.get(name, -1.0)
        some = reaching.get(site, []) + everywhere
        some = [test for test in some if before < test.seconds <= longest]
        result, by, seconds = judge(runner, number, some)
        with lock:
            if before >= 0:
                seconds += done[name]["seconds"]
                result = done[name]["result"] if result == "unreached" else result
            results.add(name, result=result, by=by, seconds=round(seconds, 2), longest=longest)
            finished.append(name)
            if len(finished) % 50 == 0:
                say(f"{len(finished)} of {len(left)} in {time.monotonic() - began:.0f} s")

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, left))
    return [done[name] for name, _, _ in mutants]
