"""The planner and writer of the candidate forms.

`write` returns a document in a form, and for each path the construct that holds its value. An array or object of objects is
written both as a table and in JSON's own form, and the one with fewer estimated tokens stays.
"""
from dataclasses import dataclass, field

from . import lexemes
from .lexemes import Object, bare, estimate, minify


@dataclass
class Written:
    """A text, and for each path the construct that holds its value."""

    text: str
    where: dict = field(default_factory=dict)
    fallback: bool = False

    def construct(self, path):
        """Returns the construct of the value at a path; a key that is nowhere is `left out`."""
        path = tuple(path)
        if path in self.where:
            return self.where[path]
        for length in range(len(path) - 1, -1, -1):
            if path[:length] in self.where:
                found = self.where[path[:length]]
                return "left out" if found.startswith("row") else found
        return "member"


@dataclass
class Column:
    """A key of a table: what its rows share, and the columns of the objects inside it."""

    key: str
    optional: bool = False
    constant: object = None
    default: object = None
    inner: list = None
    spliced: bool = False


def write(value, form):
    """Returns the document in a form, or minified JSON where the form is larger in bytes or in estimated tokens."""
    writer = Writer(form)
    text = writer.document(value)
    json_text = minify(value)
    if len(text.encode()) > len(json_text.encode()) or estimate(text) > estimate(json_text):
        return Written(json_text, {}, True)
    return Written(text, writer.where)


def merged_order(rows):
    """Returns one order of all keys that every row agrees with, or None if there is none or a key repeats.

    A new key is placed directly after the key before it in its row; then every row is checked against the result.
    """
    order = []
    for row in rows:
        keys = row.keys()
        if len(set(keys)) != len(keys):
            return None
        at = 0
        for key in keys:
            if key in order:
                at = max(at, order.index(key) + 1)
            else:
                order.insert(at, key)
                at += 1
    rank = {key: index for index, key in enumerate(order)}
    for row in rows:
        ranks = [rank[key] for key in row.keys()]
        if ranks != sorted(ranks):
            return None
    return order


class Writer:
    """One document in one form; `where` maps the paths written so far to their constructs."""

    def __init__(self, form, shapes=()):
        self.form = form
        self.where = {}
        self.hinted = set()
        self.shared_keys = set(shapes)
        self.shape_names = {}
        self.met = {}

    def document(self, value):
        text = self.value(value, ())
        if self.form.shapes and not self.shared_keys:
            shared = {keys for keys, count in self.met.items() if count >= 3 and len(keys) >= 2}
            if shared:
                again = Writer(self.form, shared)
                shaped = again.value(value, ())
                if estimate(shaped) < estimate(text):
                    self.where = again.where
                    return shaped
        return text

    # values outside tables

    def value(self, value, path):
        return value if isinstance(value, str) else self.container(value, path, "")

    def container(self, value, path, key):
        """Writes an array or object after its key, if it has one: as a table where that pays, else in JSON's own form."""
        prefix = key + ":" if key else ""
        plain, undo, plain_notes = self.attempt(lambda: prefix + self.plain_container(value, path))
        found = self.table_of(value)
        if found is not None:
            undo()
            label = key if self.form.indent else prefix
            text, undo, notes = self.attempt(lambda: self.rows(*found, path, label))
            if estimate(text) < estimate(plain) + self.form.slack:
                return self.accept(text, notes)
            undo()
        return self.accept(plain, plain_notes)

    def attempt(self, write):
        """Writes something that may be dropped; returns its text, a function that forgets it, and what to note if it stays."""
        where, met, names, hinted = self.where, self.met, dict(self.shape_names), set(self.hinted)
        self.where, self.met = {}, {}
        text = write()
        notes = (self.where, self.met, self.shape_names, self.hinted)
        self.where, self.met = where, met

        def undo():
            self.shape_names, self.hinted = dict(names), set(hinted)

        return text, undo, notes

    def accept(self, text, notes):
        where, met, self.shape_names, self.hinted = notes
        self.where.update(where)
        for shape, count in met.items():
            self.met[shape] = self.met.get(shape, 0) + count
        return text

    def plain_container(self, value, path):
        if isinstance(value, list):
            return "[" + self.joined([self.value(element, path + (index,)) for index, element in enumerate(value)]) + "]"
        return self.object(value, path, self.form.keys, self.member)

    def member(self, key, value, path):
        return key + ":" + value if isinstance(value, str) else self.container(value, path, key)

    def object(self, value, path, keys, member):
        shape = tuple(value.keys())
        self.met[shape] = self.met.get(shape, 0) + 1
        if shape in self.shape_names:
            for key in shape:
                self.where[path + (lexemes.body(key),)] = "shape"
            cells = [self.inline(value, path + (lexemes.body(key),)) for key, value in value.members]
            return "@" + self.shape_names[shape] + "(" + ",".join(cells) + ")"
        parts = [member(key if keys == "quoted" else bare(key), member_value, path + (lexemes.body(key),)) for key, member_value in value.members]
        label = ""
        if shape in self.shared_keys and shape not in self.shape_names and not any(part.endswith("\n") for part in parts):
            name = chr(ord("a") + len(self.shape_names) % 26) * (1 + len(self.shape_names) // 26)
            self.shape_names[shape] = name
            label = "@" + name
        return label + "{" + self.joined(parts) + "}"

    @staticmethod
    def joined(parts):
        """Joins parts with commas; the line feed at the end of a table stands for the comma after it."""
        text = ""
        for part in parts:
            text += part if not text or text.endswith("\n") else "," + part
        return text

    def inline(self, value, path):
        """Writes a value without tables."""
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "[" + ",".join(self.inline(element, path + (index,)) for index, element in enumerate(value)) + "]"
        return self.object(value, path, self.form.row_keys, lambda key, member, path: key + ":" + self.inline(member, path))

    # tables

    def table_of(self, value):
        """Returns names, rows and columns of a list or object of objects that can be a table, else None."""
        if isinstance(value, list):
            names, rows = [None] * len(value), value
        elif self.form.keyed:
            names, rows = value.keys(), [row for _, row in value.members]
        else:
            return None
        if len(rows) < 2 or not all(isinstance(row, Object) and row.members for row in rows):
            return None
        columns = self.columns(rows, 0)
        return None if columns is None else (names, rows, columns)

    def rows(self, names, rows, columns, path, key):
        form, is_list = self.form, names[0] is None
        positional = form.rows == "positional" or form.rows == "narrow" and self.is_narrow(columns, rows)
        if positional:
            header = self.positional_header(columns)
        else:
            header = self.labelled_header(columns, rows)
        count = f"[{len(rows)}]" if is_list else "{" + str(len(rows)) + "}"
        text = key + count + ("{" + header + "}" if header or not is_list else "") + ":" + self.hint(positional, columns) + "\n"
        for index, (name, row) in enumerate(zip(names, rows)):
            row_path = path + (index if is_list else lexemes.body(name),)
            self.where[row_path] = "row"
            line = self.positional_row(columns, row, row_path) if positional else None
            if line is None or form.missing == "labelled" and line.startswith("{") and positional:
                line = self.labelled_object(columns, row, row_path, "labelled cell")
            if name is not None:
                line = (name if form.row_keys == "quoted" else bare(name)) + ":" + line
            text += ("  " if form.indent else "") + line + "\n"
        return text

    def hint(self, positional, columns):
        kind = "positional" if positional else "labelled"
        if not self.form.hints or kind in self.hinted:
            return ""
        self.hinted.add(kind)
        if positional:
            return " #one object a line, values in this order"
        if any(column.constant is not None for column in columns):
            return f" #one object a line; key{self.form.sign}value holds for all of them"
        return " #one object a line"

    def is_tuple(self, column):
        """Returns whether the objects of a column of labelled rows are tuples: four cells at most, none ever missing."""
        if self.form.inner != "tuple" or any(inner.inner is not None for inner in column.inner):
            return False
        return not has_optional(column.inner) and sum(inner.constant is None for inner in column.inner) <= 4

    def is_narrow(self, columns, rows):
        if any(column.optional or column.default is not None for column in columns):
            return False
        cells = [column for column in columns if column.constant is None]
        if not cells or any(isinstance(row.get(cells[0].key), Object) for row in rows):
            return False
        return len(cells) <= self.form.narrow

    def columns(self, rows, level):
        """Plans the columns of these objects, or returns None if their keys have no common order."""
        order = merged_order(rows)
        if order is None:
            return None
        return [self.column(key, [row.get(key) for row in rows], level) for key in order]

    def column(self, key, values, level):
        form = self.form
        column = Column(key, optional=any(value is None for value in values))
        present = [value for value in values if value is not None]
        hoist = form.constants == "nested" or form.constants == "rows" and level == 0
        if hoist and not column.optional and len(present) > 1:
            first = minify(present[0])
            if all(minify(value) == first for value in present[1:]):
                column.constant = present[0]
                return column
        objects = [value for value in present if isinstance(value, Object)]
        elements = [element for value in present if isinstance(value, list) for element in value if isinstance(element, Object)]
        inner = [entry for entry in objects + elements if entry.members]
        if len(inner) > 1 and len(inner) == len(objects) + len(elements):
            column.inner = self.columns(inner, level + 1)
            column.spliced = (
                column.inner is not None
                and form.nested == "splice"
                and form.rows != "narrow"
                and len(objects) == len(values)
                and (form.missing in ("empty", "mark") or not has_optional(column.inner))
            )
        if form.defaults and not column.optional and column.inner is None and all(isinstance(value, str) for value in present):
            counts = {}
            for value in present:
                counts[value] = counts.get(value, 0) + 1
            value, count = max(counts.items(), key=lambda entry: entry[1])
            if count >= 2 and 4 * count >= len(present):
                column.default = value
        return column

    # headers

    def header_key(self, column):
        return column.key if self.form.header_keys == "quoted" else bare(column.key)

    def positional_header(self, columns):
        parts = []
        for column in columns:
            text = self.header_key(column)
            if column.constant is not None:
                parts.append(text + self.form.sign + self.inline(column.constant, ("",)))
                continue
            if column.optional or column.default is not None:
                text += "?"
            if column.inner is not None and self.form.nested != "labelled":
                text += ("." if column.spliced else "") + "{" + self.positional_header(column.inner) + "}"
            elif column.inner is not None and has_constant(column.inner):
                text += "{" + self.labelled_header(column.inner, None) + "}"
            if column.default is not None:
                text += self.form.sign + column.default
            parts.append(text)
        return ",".join(parts)

    def labelled_header(self, columns, rows):
        """Writes the header of labelled rows; without the rows every key is named, because any may stand before a constant."""
        needed = {column.key for column in columns}
        if self.form.header == "constants":
            needed = self.keys_before_hoisted(columns, rows)
        parts = []
        for column in columns:
            text = self.header_key(column)
            if column.constant is not None:
                parts.append(text + self.form.sign + self.inline(column.constant, ("",)))
                continue
            deeper = column.inner is not None and (has_constant(column.inner) or self.is_tuple(column))
            if not deeper and column.default is None and column.key not in needed:
                continue
            if column.default is not None or column.optional and self.form.header == "columns":
                text += "?"
            if deeper and self.is_tuple(column):
                text += "{" + self.positional_header(column.inner) + "}"
            elif deeper:
                text += "{" + self.labelled_header(column.inner, None if rows is None else inner_objects(column.key, rows)) + "}"
            if column.default is not None:
                text += self.form.sign + column.default
            parts.append(text)
        return ",".join(parts)

    @staticmethod
    def keys_before_hoisted(columns, rows):
        if rows is None:
            return {column.key for column in columns}
        hoisted = {column.key for column in columns if column.constant is not None or column.default is not None}
        found = set()
        for row in rows:
            keys = row.keys()
            found.update(before for before, key in zip(keys, keys[1:]) if key in hoisted and before not in hoisted)
        return found

    # rows

    def labelled_object(self, columns, row, path, construct):
        return "{" + ",".join(self.labelled_members(columns, row, path, construct)) + "}"

    def labelled_members(self, columns, row, path, construct):
        parts = []
        named = {column.key: column for column in columns}
        for key, value in row.members:
            column, member_path = named[key], path + (lexemes.body(key),)
            if column.constant is not None:
                self.where[member_path] = "constant"
                continue
            if column.default is not None and value == column.default:
                self.where[member_path] = "default"
                continue
            label = key if self.form.row_keys == "quoted" else bare(key)
            self.where[member_path] = construct
            dotted = self.dotted(label, column, value, member_path, construct)
            parts += dotted or [label + ":" + self.labelled_value(column, value, member_path, construct)]
        return parts

    def dotted(self, label, column, value, path, construct):
        """Writes an object inside a labelled row as members with dotted labels, or returns nothing where it cannot."""
        if self.form.inner != "dotted" or not isinstance(value, Object) or not value.members or label.startswith('"'):
            return []
        if not all(lexemes.BARE.fullmatch(key[1:-1]) for key in value.keys()):
            return []
        self.where[path] = "row"
        if column.inner is not None:
            inner = column.inner
        else:
            inner = [Column(key) for key in value.keys()]
        return [label + "." + part for part in self.labelled_members(inner, value, path, "dotted label")]

    def labelled_value(self, column, value, path, construct):
        if column.inner is not None and self.is_tuple(column):
            return self.shaped(column, value, path, lambda entry, where: self.tuple(column.inner, entry, where))
        if column.inner is None or not has_constant(column.inner):
            return self.inline(value, path)
        return self.shaped(column, value, path, lambda entry, where: self.labelled_object(column.inner, entry, where, construct))

    def shaped(self, column, value, path, write_object):
        """Writes a value whose objects, itself or its elements, have the column's inner columns."""
        if isinstance(value, Object):
            self.where[path] = "row"
            return write_object(value, path)
        if isinstance(value, list):
            parts = []
            for index, element in enumerate(value):
                if isinstance(element, Object):
                    self.where[path + (index,)] = "row"
                    parts.append(write_object(element, path + (index,)))
                else:
                    parts.append(self.inline(element, path + (index,)))
            return "[" + ",".join(parts) + "]"
        return self.inline(value, path)

    def positional_row(self, columns, row, path):
        """Writes a row as cells, or returns None if this form wants it labelled."""
        if self.form.missing == "labelled" and not is_full(columns, row):
            return None
        return ",".join(self.cells(columns, row, path, "cell"))

    def cells(self, columns, row, path, construct):
        cells, trailing = [], []
        for column in columns:
            value, cell_path = row.get(column.key), path + (lexemes.body(column.key),)
            if column.constant is not None:
                self.where[cell_path] = "constant"
                continue
            if column.spliced:
                self.where[cell_path] = "row"
                cells += self.cells(column.inner, value, cell_path, "spliced" if construct == "cell" else construct)
                continue
            if value is None:
                missing = self.form.missing
                self.where[cell_path] = {"empty": "empty cell", "mark": "marked", "trailing": "left out"}[missing]
                if missing != "trailing":
                    cells.append("-" if missing == "mark" else "")
                continue
            if column.default is not None and value == column.default:
                self.where[cell_path] = "default"
                cells.append("")
                continue
            held = construct
            if construct == "cell" and column.default is not None:
                held = "default cell"
            elif construct == "cell" and column.optional:
                held = "trailing cell" if self.form.missing == "trailing" else "optional cell"
            self.where[cell_path] = held
            text = self.cell(column, value, cell_path, held)
            if column.optional and self.form.missing == "trailing":
                trailing.append(bare(column.key) + ":" + text)
            else:
                cells.append(text)
        return cells + trailing

    def cell(self, column, value, path, construct):
        if column.inner is None:
            return self.inline(value, path)
        if self.form.nested == "labelled":
            return self.labelled_value(column, value, path, "labelled in cell")
        return self.shaped(column, value, path, lambda entry, where: self.tuple(column.inner, entry, where))

    def tuple(self, columns, value, path):
        if self.form.missing == "labelled" and not is_full(columns, value):
            return self.labelled_object(columns, value, path, "labelled in cell")
        return "(" + ",".join(self.cells(columns, value, path, "tuple")) + ")"


def has_constant(columns):
    """Returns whether these columns, or those inside them, hoist anything."""
    return any(
        column.constant is not None or column.default is not None or column.inner is not None and has_constant(column.inner)
        for column in columns
    )


def has_optional(columns):
    """Returns whether a cell of these columns may be missing."""
    return any(column.optional or column.spliced and has_optional(column.inner) for column in columns)


def is_full(columns, row):
    """Returns whether a row has a value for every column that may be missing."""
    for column in columns:
        value = row.get(column.key)
        if value is None or column.spliced and not is_full(column.inner, value):
            return False
    return True


def inner_objects(key, rows):
    """Returns the objects at a key of these rows: its values, and the elements of its lists."""
    found = []
    for row in rows:
        value = row.get(key)
        if isinstance(value, Object):
            found.append(value)
        elif isinstance(value, list):
            found += [element for element in value if isinstance(element, Object)]
    return found
