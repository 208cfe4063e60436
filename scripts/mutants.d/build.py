"""Makes a copy of the codec with all mutants in it and builds its tests; finds out which mutants do not compile."""

import hashlib
import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path

import rewrite

HERE = Path(__file__).parent
# The laws and the doors for tests, which only tests call, unit tests, and kernels of other processors.
EXCLUDED = re.compile(r"src/(laws|internal|testing)(\.rs$|/)|/(neon|simd128|tests|naive)\.rs$")
ALLOWED = "#![allow(warnings, unsafe_code, arithmetic_overflow, unconditional_panic, overflowing_literals)]"
TESTS = ["--all-features", "--lib", "--test=main"]


def keep(path, content):
    """Writes a file unless it has this content already, in which case cargo need not build it again."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def prepare(root, folder, tree):
    """Copies the codec and its tests; returns the original text of each file that is mutated."""
    copy = folder / "original"
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run([root / "scripts/codec-alone", copy], check=True)
    files = {path.relative_to(copy).as_posix(): path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    mutated = [path for path in sorted(files) if re.match(r"src/.*\.rs$", path) and not EXCLUDED.search(path)]
    originals = {path: files[path] for path in mutated}
    # What counts `unsafe` blocks reads sources, and those of this copy are not those of the repository.
    files["tests/main.rs"] = files["tests/main.rs"].replace(b"mod unsafety;\n", b"")
    files["Cargo.toml"] = manifest(files["Cargo.toml"])
    files["src/mutant.rs"] = (HERE / "mutant.rs").read_bytes()
    for part in ("src", "tests", "corpus", "grammar", "fuzz"):
        for path in [path for path in (tree / part).rglob("*") if path.is_file()]:
            if path.relative_to(tree).as_posix() not in files:
                path.unlink()
    for path, content in files.items():
        if path not in originals:
            keep(tree / path, content)
    return originals


def manifest(text):
    """Returns the manifest without lints and debug information. Code is optimised a little, as in other tests: it
    compiles more slowly and runs several times as fast."""
    profile = re.search(rb"\[profile\.dev\]\n(?:[^\[\n].*\n)*", text)
    kept = re.sub(rb"(?m)^(debug|incremental)\b.*\n", b"", profile[0])
    text = text.replace(profile[0], kept.replace(b"\n", b"\ndebug = 0\nincremental = false\n", 1))
    return text.replace(b"[lints]\nworkspace = true\n", b"")


def write(tree, originals, changes):
    """Writes every file with its switches; returns what has numbered the sites."""
    rewriter = rewrite.Rewriter(changes)
    for path, source in originals.items():
        text = rewriter.file(path, source)
        if path == "src/lib.rs":
            text = with_module(text)
        # Functions that are inlined everywhere, once for each kernel, would multiply their switches.
        keep(tree / path, text.replace("#[inline(always)]", "#[inline]").encode())
    return rewriter


def with_module(text):
    """Declares the switch after the attributes that open lib.rs."""
    attributes = re.match(r"(#!\[.*\]\n)*", text)[0]
    return f"{ALLOWED} {attributes}mod mutant; {text[len(attributes):].lstrip()}"


def cargo(tree, verb):
    """Runs cargo; returns its messages and whether it succeeded."""
    command = ["cargo", *verb, "--offline", *TESTS, "--message-format=json"]
    if not (tree / "target/CACHEDIR.TAG").exists():
        command.remove("--offline")
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return messages, done.returncode == 0, done.stderr


def learn(tree, messages, rewriter, changes):
    """Takes from the compiler's errors which mutants to drop; returns the errors that it cannot place."""
    marks, unplaced = {}, []
    owner = {mutant: site for site in rewriter.sites for mutant in site.mutants}
    before = (len(changes.dropped), len(changes.by_value), len(changes.constant_functions))
    for message in messages:
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        error = message["message"]
        found = re.search(r"cannot call non-const (?:\w+ )*`(?:.*::)?(\w+)(?:<.*>)?` in", error["message"])
        if found:
            changes.constant_functions.add(found[1])
            continue
        placed = False
        for span in sorted(error["spans"], key=lambda span: not span["is_primary"]):
            path = span["file_name"]
            if placed or not (tree / path).is_file():
                continue
            if path not in marks:
                marks[path] = rewrite.spans((tree / path).read_bytes())
            around = [mark for mark in marks[path] if mark[0] <= span["byte_start"] and span["byte_end"] <= mark[1]]
            if not around:
                continue
            placed = True
            _, _, number, is_mutant = min(around, key=lambda mark: mark[1] - mark[0])
            site = owner[number]
            if is_mutant:
                changes.dropped.add(number)
            elif site.original in rewrite.COMPARISONS and not site.by_value:
                changes.by_value.add(site.first)
            else:
                changes.dropped.update(site.mutants)
        if not placed and error["spans"]:
            unplaced.append(error["rendered"])
    after = (len(changes.dropped), len(changes.by_value), len(changes.constant_functions))
    return unplaced, before != after


def rendered_errors(messages):
    """Returns what the compiler has printed of its errors."""
    errors = [message["message"] for message in messages if message.get("reason") == "compiler-message"]
    return [error["rendered"] for error in errors if error["level"] == "error"]


def build(root, folder, say):
    """Builds the tests with every mutant that compiles; returns the sites, what was dropped, and the binaries."""
    tree = folder / "codec"
    originals = prepare(root, folder, tree)
    # What an earlier call has learned from the compiler about the same sources.
    digest = hashlib.sha256(pickle.dumps(originals) + (HERE / "rewrite.py").read_bytes()).hexdigest()[:12]
    learned = folder / f"changes-{digest}.pickle"
    changes = pickle.loads(learned.read_bytes()) if learned.exists() else rewrite.Changes()
    for attempt in range(1, 30):
        rewriter = write(tree, originals, changes)
        if learned.exists():
            break
        say(f"check {attempt}: {rewriter.next - 1} mutants, {len(changes.dropped)} dropped")
        messages, good, stderr = cargo(tree, ["check", "--profile=test"])
        if good:
            learned.write_bytes(pickle.dumps(changes))
            break
        unplaced, more = learn(tree, messages, rewriter, changes)
        if not more:
            raise SystemExit("".join(unplaced) or stderr)
    else:
        raise SystemExit("it never compiled")
    say("build")
    messages, good, stderr = cargo(tree, ["test", "--no-run"])
    if not good:
        learned.unlink()
        raise SystemExit("".join(rendered_errors(messages)) or stderr)
    binaries = {m["target"]["kind"][0]: m["executable"] for m in messages if m.get("executable")}
    return rewriter, changes, binaries
