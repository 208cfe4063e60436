"""The texts of a document: the known formats and the codec's own.

A format that cannot carry a document (CSV of nested rows) gives no text for it, and the document is left out for that format.
The command line `stc` is found in the environment variable STC, else in target/release.
"""
import csv
import functools
import io
import json
import os
import subprocess
from pathlib import Path

from . import reader
from .lexemes import Object, body, minify, plain
from .reader import Written

HERE = Path(__file__).resolve().parent.parent
CODEC = ("stc1", "stc2", "stc2-labelled")
KNOWN = ("json", "json-pretty", "yaml", "toon", "csv", "markdown")
FORMATS = KNOWN + CODEC
LEGENDS = ("none", "legend")
_TITLES = {"json": "JSON", "json-pretty": "JSON", "yaml": "YAML", "toon": "TOON", "csv": "CSV", "markdown": "Markdown", "stc1": "STC"}
_TOON_LEGEND = (
    "TOON nests by indentation. key[N]: a,b is an array of N values. key[N]{x,y}: is an array of N objects with the keys x and y, "
    "one object a line, its values in the order of the keys."
)


def title(name):
    """Returns what a prompt calls a format."""
    return _TITLES.get(name, "STC 2")


def stc():
    """Returns the path of the command line, or raises FileNotFoundError with what to do."""
    path = os.environ.get("STC") or str(HERE.parent / "target" / "release" / "stc")
    if not os.path.exists(path):
        raise FileNotFoundError(f"no stc at {path}: run `cargo build --release -p stc-cli`, or set STC to the path of the program")
    return path


def write_all(documents, names=FORMATS):
    """Returns {format: {document id: Written}} for the formats named."""
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise ValueError(f"unknown format {unknown[0]}; known are {', '.join(FORMATS)}")
    texts = {}
    for name in names:
        if name == "toon":
            texts[name] = _toon(documents)
        else:
            texts[name] = {document.id: _write(document, name) for document in documents}
        texts[name] = {key: written for key, written in texts[name].items() if written is not None}
    return texts


def _write(document, name):
    value = document.value
    if name == "json":
        return Written(minify(value))
    if name == "json-pretty":
        return Written(pretty(value))
    if name == "yaml":
        import yaml

        return Written(yaml.dump(plain(value), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=1 << 30))
    if name in ("csv", "markdown"):
        return _flat(value, name)
    if name in CODEC:
        return encode(value, name)
    raise ValueError(f"unknown format {name}")


def pretty(value, level=0):
    """Returns JSON with two spaces a level, every lexeme as it stood."""
    inner, outer = "\n" + "  " * (level + 1), "\n" + "  " * level
    if isinstance(value, Object) and value.members:
        return "{" + ",".join(f"{inner}{key}: {pretty(member, level + 1)}" for key, member in value.members) + outer + "}"
    if isinstance(value, list) and value:
        return "[" + ",".join(inner + pretty(element, level + 1) for element in value) + outer + "]"
    return minify(value)


def encode(value, name):
    """Returns a document as the codec writes it, with the constructs read off the text."""
    done = subprocess.run([stc(), "encode", "--format", name], input=minify(value).encode(), capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"stc encode --format {name} failed: {done.stderr.decode().strip()}")
    text = done.stdout.decode()
    try:
        back, written = reader.read(text)
    except (ValueError, LookupError, AttributeError, TypeError):
        return unread(text, value, name)
    if not reader.same(back, value):
        return unread(text, value, name)
    return written


def unread(text, value, name):
    """Returns a text that `reader.py` does not understand, with constructs that are not known, if the codec itself gives the document back."""
    done = subprocess.run([stc(), "decode"], input=text.encode(), capture_output=True, check=False)
    if done.returncode != 0 or done.stdout.decode() != minify(value):
        raise RuntimeError(f"the {name} text of a document does not decode to the document")
    return Written(text, None)


@functools.lru_cache(maxsize=None)
def legend(name, length="legend"):
    """Returns the lines that explain a format to a model, or "" where none are wanted or the format needs none."""
    if length == "none" or name in KNOWN and name != "toon":
        return ""
    if name == "toon":
        return _TOON_LEGEND
    return subprocess.run([stc(), "legend", "--format", name], capture_output=True, check=True, text=True).stdout.strip()


def _toon(documents):
    """Writes all documents in one run of node; one that TOON refuses (a lone surrogate) has no text."""
    program = (
        "import {encode} from '@toon-format/toon';"
        "let text='';for await (const chunk of process.stdin) text+=chunk;"
        "process.stdout.write(JSON.stringify(JSON.parse(text).map(value=>{try{return encode(value)}catch{return null}})));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program],
        input="[" + ",".join(minify(document.value) for document in documents) + "]",
        capture_output=True,
        check=False,
        text=True,
        cwd=HERE,
    )
    if done.returncode != 0:
        raise RuntimeError(f"TOON needs node and `npm ci` in {HERE.name}/: {done.stderr.strip()[:300]}")
    return {document.id: text and Written(text) for document, text in zip(documents, json.loads(done.stdout))}


def _flat(value, name):
    """Writes a list of objects with the same keys and scalar values as CSV or as a Markdown table; anything else is None."""
    if not isinstance(value, list) or len(value) < 2 or not all(isinstance(row, Object) for row in value):
        return None
    keys = value[0].keys()
    if not keys or any(row.keys() != keys or any(not isinstance(cell, str) for _, cell in row.members) for row in value):
        return None
    texts = [[body(cell) if cell.startswith('"') else cell for _, cell in row.members] for row in value]
    head = [body(key) for key in keys]
    if any("\n" in cell or "|" in cell for row in texts for cell in row):
        return None
    if name == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([head, *texts])
        return Written(out.getvalue())
    lines = [head, ["---"] * len(head), *texts]
    return Written("".join("| " + " | ".join(row) + " |\n" for row in lines))
