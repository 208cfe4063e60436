"""The documents of the hard questions: whole bodies of up to 64 KB, and generated tables.

Nothing in them is cut or shortened. The bodies are made by `stc-corpus`, of kinds that belong to the half for reporting; folders of
one's own add their files of these sizes.
"""
import os
import subprocess
from pathlib import Path

from . import documents, formats, lexemes, tables
from .documents import Document
from .lexemes import minify

# kind of the corpus: bytes
BODIES = {"tickets": 60_000, "deployments": 34_000, "search-hits": 22_000, "ci-runs": 14_000, "customers": 9_000}
SEED = 44
SMALLEST, LARGEST = 8_000, 64_000  # bytes of minified JSON of a file that is used whole


def load(folders=(), halves=("report",), smallest=SMALLEST, largest=LARGEST):
    """Returns the generated bodies and tables within these sizes, and the files of these folders that are."""
    found = [document("body-" + kind, lexemes.parse(made(kind, size))) for kind, size in BODIES.items()]
    found += [document(name, tables.make(name)) for name in tables.TABLES]
    for folder in folders:
        for path in sorted(Path(folder).glob("*.json")):
            if documents.half(path.stem) in halves:
                try:
                    found.append(document(path.stem + "-whole", lexemes.parse(path.read_text(encoding="utf-8"))))
                except (ValueError, RecursionError):
                    continue
    return [one for one in found if one is not None and smallest <= len(minify(one.value).encode()) <= largest]


def document(name, value):
    """Returns a document of a whole body, or None if a question about it could have two answers or not every format carries it."""
    if not isinstance(value, (lexemes.Object, list)) or lexemes.has_repeated_keys(value) or not documents.is_unicode(value):
        return None
    return Document(name, name, "report", value, documents.main_list(value))


def made(kind, size):
    """Returns a body of the corpus's generator."""
    program = os.environ.get("STC_CORPUS") or str(Path(formats.stc()).with_name("stc-corpus"))
    if not os.path.exists(program):
        raise FileNotFoundError(f"no stc-corpus at {program}: run `cargo build -p stc-corpus`, or set STC_CORPUS to the path of the program")
    done = subprocess.run([program, "one", kind, "--bytes", str(size), "--seed", str(SEED)], capture_output=True, check=True)
    return done.stdout.decode()
