"""Mutation testing of src/; scripts/mutants says how it is called."""

import argparse
import hashlib
import math
import os
import pickle
import random
import re
import sys
import time
from pathlib import Path

import build
import run

ROOT = Path(__file__).parents[2]
LIST = ROOT / "tests/mutants.md"
BEGAN = time.monotonic()


def say(text):
    print(f"{time.monotonic() - BEGAN:6.0f} s  {text}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/mutants", description="Changes src/ in one place at a time and reports what no test notices.")
    parser.add_argument("which", nargs="?", default="0/1", metavar="PART/PARTS | FILE",
                        help="0/10 is every tenth mutant; a file names mutants, one a line, as reports do")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws another sample")
    parser.add_argument("--file", default="", metavar="TEXT", help="only files whose path contains this")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="how many run at a time (default: every core)")
    parser.add_argument("--memory", type=int, default=4, metavar="GIB", help="memory of each run (default: 4)")
    parser.add_argument("--skip", action="append", default=[], metavar="TEXT", help="leave out tests whose name contains this")
    parser.add_argument("--longest", type=float, default=3600.0, metavar="S", help="leave out tests that take longer")
    parser.add_argument("--most", type=float, default=math.inf, metavar="S",
                        help="seconds of tests for each mutant, the best tests first; a later call with more goes on from there")
    parser.add_argument("--tests", default="", metavar="TEXT", help="run only tests whose name contains this")
    parser.add_argument("--keep", action="store_true",
                        help="of a mutant that an earlier call has missed with the same sources, run only tests with a new name")
    parser.add_argument("--again", action="store_true", help="run also what an earlier call has noticed")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    return parser.parse_args()


class Listed:
    """The mutants that tests/mutants.md explains: names, and patterns in which `…` stands for any text. A name takes
    precedence over a pattern."""

    def __init__(self):
        self.names, self.patterns, heading = {}, {}, ""
        for line in LIST.read_text().splitlines():
            if line.startswith("## "):
                heading = line[3:]
            elif match := re.match(r"    (src/\S+: .*?)(?: -- (.*))?$", line):
                into = self.patterns if "…" in match[1] else self.names
                into[match[1]] = not heading.startswith("Equivalent")
        self.regexes = [(re.compile(".*".join(map(re.escape, pattern.split("…")))), pattern) for pattern in self.patterns]

    def changes(self, name):
        """Returns whether a mutant changes behaviour, or nothing if it is not listed."""
        if name in self.names:
            return self.names[name]
        return next((self.patterns[pattern] for regex, pattern in self.regexes if regex.fullmatch(name)), None)

    def without_mutant(self, names):
        """Returns what is listed and names none of these mutants."""
        names = set(names)
        absent = [pattern for regex, pattern in self.regexes if not any(map(regex.fullmatch, names))]
        return sorted(set(self.names) - names) + absent


def code_of(path):
    """Returns the code of a source file without the lines that are comments and without the unit tests at its end."""
    text = path.read_text().split("\n#[cfg(test)]\nmod tests {")[0]
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if not line.startswith("//")).encode()


def digest_of(path):
    """Returns a number for the code of a source file; nothing if there is no such file."""
    return hashlib.sha256(code_of(path)).hexdigest()[:12] if path.is_file() else None


def fingerprint(skipped):
    """Returns a number for the sources, the tests and what rewrites them, as they are now."""
    files = [path for part in ("src", "tests", "grammar", "corpus") for path in (ROOT / part).rglob("*")]
    files += [ROOT / "scripts/mutants.d" / name for name in ("rewrite.py", "build.py", "mutant.rs")]
    digest = hashlib.sha256(" ".join(skipped).encode())
    for path in sorted(path for path in files if path.is_file() and path.suffix != ".md"):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def source_mark():
    """Returns a number for the code that is mutated."""
    files = [path.relative_to(ROOT) for path in sorted((ROOT / "src").rglob("*.rs"))]
    files = [path for path in files if not build.EXCLUDED.search(path.as_posix())]
    return hashlib.sha256(b"".join(str(path).encode() + code_of(ROOT / path) for path in files)).hexdigest()[:12]


def built(folder, mark):
    """Builds, or takes what an earlier call with the same sources has left."""
    kept = folder / f"build-{mark}.pickle"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    # A build replaces the binaries of the one before it.
    for other in [*folder.glob("build-*.pickle"), *folder.glob("tests-*.pickle")]:
        other.unlink()
    rewriter, changes, binaries = build.build(ROOT, folder, say)
    made = (rewriter.sites, changes.dropped, rewriter.in_constants, rewriter.in_macros, binaries)
    kept.write_bytes(pickle.dumps(made))
    return made


def chosen(every, options):
    """Returns the mutants that this call is about."""
    picked = [mutant for mutant in every if options.file in mutant[0].split(":")[0]]
    if part := re.fullmatch(r"(\d+)/(\d+)", options.which):
        picked = picked[int(part[1]) :: int(part[2])]
    else:
        lines = Path(options.which).read_text().splitlines()
        # Reports put the line in brackets after the name, tests/mutants.md a reason.
        wanted = {re.split(r"  \[| -- ", line.strip())[0] for line in lines if line.strip().startswith("src/")}
        picked = [mutant for mutant in picked if mutant[0] in wanted]
        for name in sorted(wanted - {mutant[0] for mutant in picked}):
            print(f"no such mutant: {name}")
    if options.sample:
        picked = sorted(random.Random(options.seed).sample(picked, min(options.sample, len(picked))), key=lambda m: m[1])
    return picked


def report(entries, listed, sites, extra):
    """Prints what became of the mutants; returns whether every survivor is listed."""
    count = {kind: sum(entry["result"] == kind for entry in entries) for kind in ("caught", "timeout", "missed", "unreached")}
    lines = {site.name(mutant): site.line for site in sites for mutant in site.mutants}
    survivors = [entry for entry in entries if entry["result"] in ("missed", "unreached")]
    new = [entry for entry in survivors if listed.changes(entry["name"]) is None]
    if new:
        print("\nsurvivors that tests/mutants.md does not list:")
    for entry in new:
        path, rest = entry["name"].split(": ", 1)
        note = "; no test reaches it" if entry["result"] == "unreached" else ""
        print(f"    {path}: {rest}  [line {lines[entry['name']]}{note}]")
    for entry in entries:
        if entry["result"] in ("caught", "timeout") and entry["name"] in listed.names:
            print(f"listed, but noticed by {entry['by']}: {entry['name']}")
    for name in listed.without_mutant(lines):
        print(f"listed, but there is no such mutant: {name}")
    equivalent = sum(listed.changes(entry["name"]) is False for entry in survivors)
    noticed, total = count["caught"] + count["timeout"], len(entries)
    seconds = sum(entry["seconds"] for entry in entries)
    print(f"\n{total} mutants: {count['caught']} noticed, {count['timeout']} out of time, {count['missed']} missed, "
          f"{count['unreached']} not reached; {seconds:.0f} s of a core")
    print(extra)
    print(f"noticed: {100 * noticed / total:.1f} % of all, {100 * noticed / max(1, total - equivalent):.1f} % of those that "
          f"change behaviour ({equivalent} listed as equivalent, {len(survivors) - equivalent - len(new)} listed as unnoticed, {len(new)} not listed)")
    return not new


def main():
    options = arguments()
    folder = Path(os.environ.get("MUTANTS_DIR", ROOT / "target/mutants"))
    folder.mkdir(parents=True, exist_ok=True)
    mark, sources = fingerprint(options.skip), source_mark()
    sites, dropped, in_constants, in_macros, binaries = built(folder, mark)
    every = [(site.name(m), m, site.first) for site in sites for m in site.mutants if m not in dropped]
    names = [mutant[0] for mutant in every]
    if len(set(names)) != len(names):
        raise SystemExit("two mutants have one name")
    picked = chosen(every, options)
    if options.list:
        print("\n".join(mutant[0] for mutant in picked))
        return
    if not picked:
        raise SystemExit("no mutant was tested")
    marks = (mark, sources if options.keep else None, sources)
    results = run.Results(folder / "results.jsonl", marks, lambda path: digest_of(folder / "original" / path), options.again)
    runner = run.Runner(folder / "codec", binaries, options.memory << 30)
    say("tests with the original code")
    measures = folder / f"tests-{mark}.pickle"
    tests = runner.measured(measures, options.workers, options.skip, options.tests, options.longest, say)
    entries = run.judge_all(runner, picked, tests, options.most, options.tests, results, options.workers, say)
    extra = (f"not run: {len(dropped)} that do not compile, {in_constants} in code that the compiler evaluates, "
             f"{in_macros} definitions of macros" + "".join(f"; tests left out: {text}" for text in options.skip))
    for kinds, what in ((("caught", "timeout"), "noticed"), (("missed", "unreached"), "missed")):
        if earlier := sum(entry["mark"] != mark and entry["result"] in kinds for entry in entries):
            extra += f"\n{what} by an earlier call, when other files or tests were different: {earlier}"
    sys.exit(0 if report(entries, Listed(), sites, extra) else 1)


main()
