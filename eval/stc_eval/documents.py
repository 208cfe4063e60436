"""The documents that questions are about: JSON files, each cut to a size that a small model reads.

A file of 400 to 4,000 tokens is used whole. From a longer one whole rows of its main list are taken until a target size is
reached. Long strings and lists inside rows are shortened,
because a page of prose tests no format. Everything depends on the file's name and
bytes alone, so one file more or less changes no other document.
"""
import hashlib
import json
import os
import re
from dataclasses import dataclass, field

from . import lexemes
from .lexemes import Object, estimate, minify

SMALLEST, LARGEST = 400, 4000
TARGETS = (700, 1200, 2000, 3200)
LONGEST_STRING = 200
LONGEST_LIST = 12
_STYLES = re.compile(r"-(pretty|small|large|minified|spaced|ascii|wrapped|ragged)$")


@dataclass
class Document:
    """A document: its tree, the path of its main list, and the half of the corpus it belongs to."""

    id: str
    source: str
    half: str
    value: object
    main: tuple = None
    texts: dict = field(default_factory=dict)


def half(source):
    """Returns "choose" or "report" by a hash of the file's name, the same everywhere.

    Forms are chosen by what is measured on the first half, and figures are published from the second. Files of one kind in
    several styles (`issues`, `issues-pretty`) belong to the same half.
    """
    digest = hashlib.sha256(_STYLES.sub("", source).encode()).digest()
    return ("choose", "report")[digest[0] & 1]


def load(folders, halves=("choose", "report")):
    """Returns the documents of all JSON files in these folders, in the order of their names."""
    documents, seen = [], set()
    for folder in folders:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
        if not names:
            raise ValueError(f"no .json file in {folder}")
        for name in names:
            source = name[: -len(".json")]
            if half(source) not in halves:
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            try:
                value = lexemes.parse(text)
            except (ValueError, RecursionError):
                continue
            for document in cut(source, value):
                if document.id not in seen:
                    seen.add(document.id)
                    documents.append(document)
    return documents


def cut(source, value):
    """Returns the documents made of one file: one or two, or none if it is too small or not every format can carry it.

    Repeated keys make a question ambiguous, and text with a lone surrogate is no Unicode.
    """
    if not isinstance(value, (Object, list)) or lexemes.has_repeated_keys(value) or not is_unicode(value):
        return []
    main = main_list(value)
    value = shorten(value, main)
    found = []
    if SMALLEST <= estimate(minify(value)) <= LARGEST:
        found.append(Document(source, source, half(source), value, main))
    if main is None:
        return found
    order = hashlib.sha256(source.encode()).digest()[1] % 4
    targets = (TARGETS[order],) if found else (TARGETS[order], TARGETS[(order + 2) % 4])
    whole = len(rows_of(at(value, main)))
    taken = {whole} if found else set()
    for target in targets:
        smaller = slice_to(value, main, target)
        if smaller is None:
            continue
        count = len(rows_of(at(smaller, main)))
        near = any(abs(count - other) * 4 < other for other in taken)
        if count in taken or near or not SMALLEST <= estimate(minify(smaller)) <= LARGEST:
            continue
        taken.add(count)
        found.append(Document(f"{source}#{count}", source, half(source), smaller, main))
    return found


def is_unicode(value):
    """Returns whether no string of the tree has a lone surrogate."""
    try:
        json.dumps(lexemes.plain(value), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def shorten(value, main, path=()):
    """Returns the tree with strings cut to 200 characters, and lists other than the main one to twelve elements."""
    if isinstance(value, Object):
        return Object([(key, shorten(member, main, path + (lexemes.body(key),))) for key, member in value.members])
    if isinstance(value, list):
        kept = value if path == main else value[:LONGEST_LIST]
        return [shorten(element, main, path + (0,)) for element in kept]
    if value.startswith('"') and len(value) > LONGEST_STRING + 2:
        text = lexemes.body(value)
        if len(text) > LONGEST_STRING:
            text = text[:LONGEST_STRING].encode("utf-8", "replace").decode()
            return json.dumps(text.rstrip() + "…", ensure_ascii=False)
    return value


def main_list(value):
    """Returns the path of the largest list of at least three objects within two levels, or None.

    An object of at least four objects with almost the same keys counts as a list too: each member is a row.
    """
    best = (0, None)

    def look(value, path):
        nonlocal best
        rows = rows_of(value)
        if rows is not None:
            best = max(best, (len(minify(value)), path), key=lambda found: found[0])
        if isinstance(value, Object) and len(path) < 3:
            for key, member in value.members:
                look(member, path + (lexemes.body(key),))

    look(value, ())
    size, path = best
    return path if size > 0.3 * len(minify(value)) else None


def rows_of(value):
    """Returns the rows of a list of objects as (name or index, row), or None if the value is no such list."""
    if isinstance(value, list):
        if len(value) >= 3 and all(isinstance(row, Object) and row.members for row in value):
            return list(enumerate(value))
    elif isinstance(value, Object) and len(value.members) >= 4:
        rows = [row for _, row in value.members]
        if all(isinstance(row, Object) and row.members for row in rows):
            shared = set.intersection(*(set(row.keys()) for row in rows))
            if 2 * len(shared) >= max(len(row.members) for row in rows):
                return [(lexemes.body(key), row) for key, row in value.members]
    return None


def slice_to(value, main, target):
    """Returns the document with as many leading rows of its main list as make about `target` tokens, at least three.

    Returns None if that is the whole list.
    """
    rows = rows_of(at(value, main))
    shell = estimate(minify(put(value, main, [])))
    fewest = 3 if isinstance(at(value, main), list) else 4
    keep = 0
    for _, row in rows:
        size = estimate(minify(row))
        if keep >= fewest and shell + size > target:
            break
        shell += size
        keep += 1
    if keep == len(rows):
        return None
    body = at(value, main)
    return put(value, main, body[:keep] if isinstance(body, list) else Object(body.members[:keep]))


def at(value, path):
    """Returns the value at a path of keys and indices, or None where the path leads nowhere."""
    for step in path:
        if isinstance(value, Object):
            value = next((member for key, member in value.members if lexemes.body(key) == step), None)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def put(value, path, new):
    """Returns the tree with the value at a path of keys replaced."""
    if not path:
        return new
    return Object([(key, put(member, path[1:], new) if lexemes.body(key) == path[0] else member) for key, member in value.members])
