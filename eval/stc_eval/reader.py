"""A reader of STC 1 and STC 2: the tree of a text, and the construct that holds each value.

It is no validator. It reads what the encoder writes, to prove that a text loses nothing and to say where an answer stands.
"""
import re
from dataclasses import dataclass, field

from . import lexemes
from .lexemes import BARE, Object, minify

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")
_LIST = re.compile(r"(?:&[A-Za-z][A-Za-z0-9_-]*)?\[")
_COUNT = re.compile(r"[1-9]\d*")
_WORD = re.compile(r"[A-Za-z0-9_./:+#%=?~-][A-Za-z0-9_./:@+#%&=?~-]*")
_BARE_STRING = re.compile(r"[A-Za-z][A-Za-z0-9_./:@+#%&=?~-]*")


@dataclass
class Written:
    """A text, and for each path the construct that holds its value; `where` is None where that is not known."""

    text: str
    where: dict = field(default_factory=dict)

    def construct(self, path):
        """Returns the construct of the value at a path; a key that is nowhere is `left out`."""
        if self.where is None:
            return "not known"
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
    """A key of a table: what its rows share, and the columns of the objects inside it.

    `filled` is the template that a word in the column's cell is put into, where it has one.
    """

    key: str
    optional: bool = False
    constant: object = None
    default: object = None
    inner: list = None
    spliced: bool = False
    filled: str = None


def read(text):
    """Returns the tree of a text and a `Written` with the construct of each path."""
    reader = _Reader(text)
    value = reader.document()
    return value, Written(text, reader.where)


class _Template:
    def __init__(self, lexeme):
        self.lexeme = lexeme


class _Columns(list):
    """The columns of a header; `open` if it begins with `*`, so that its objects keep their keys."""

    open = False


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0
        self.where = {}
        self.dictionary, self.shapes, self.anchors = {}, {}, {}

    # the text

    def peek(self, length=1):
        return self.text[self.at : self.at + length]

    def take(self, expected):
        if not self.text.startswith(expected, self.at):
            raise ValueError(f"expected {expected!r} at {self.at}, found {self.peek(20)!r}")
        self.at += len(expected)

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if not found:
            raise ValueError(f"no {pattern.pattern} at {self.at}, found {self.peek(20)!r}")
        self.at = found.end()
        return found.group()

    def space(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1

    def blank(self):
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def comma(self, close):
        """Takes the comma before the next part, or returns False at the closing bracket; a table's line feed is a comma too."""
        after_table = self.text[self.at - 1] == "\n"
        self.space()
        if self.peek() == close:
            self.take(close)
            return False
        if self.peek() == ",":
            self.take(",")
        elif not after_table:
            raise ValueError(f"no comma at {self.at}: {self.peek(20)!r}")
        self.space()
        return True

    # values

    def document(self):
        self.space()
        while re.match(r"\$[A-Za-z][A-Za-z0-9_-]*=", self.text[self.at : self.at + 26]):
            self.take("$")
            name = self.match(_NAME)
            self.take("=")
            self.dictionary[name] = self.match(_STRING)
            self.space()
        value = self.value((), "member")
        self.space()
        if self.at != len(self.text):
            raise ValueError(f"text after the value at {self.at}")
        return value

    def value(self, path, construct, columns=None, bare=False):
        """Reads a value; `columns` are those that a tuple here takes its keys from, and `bare` says that it may be a bare string."""
        char = self.peek()
        if char == "{" and isinstance(columns, _Columns) and columns.open:
            return self.open_object(columns, path)
        if char == "{":
            return self.braces(path, construct)
        if char == "[":
            return self.brackets(path, construct, columns)
        if char == "(":
            self.take("(")
            return self.record(columns, path, "tuple", ")")
        if char == "@":
            return self.shape(path, construct)
        if char == "&":
            self.take("&")
            name = self.match(_NAME)
            value = self.value(path, construct, columns)
            self.anchors[name] = value
            return value
        if char == "*":
            self.take("*")
            self.where[path] = "copy"
            return self.anchors[self.match(_NAME)]
        if char == "$":
            self.take("$")
            joined = self.dictionary[self.match(_NAME)]
            self.where[path] = "dictionary"
            if self.peek() == '"':
                joined = joined[:-1] + self.match(_STRING)[1:]
            return joined
        self.where.setdefault(path, construct)
        if bare and _BARE_STRING.match(char):
            word = self.match(_BARE_STRING)
            return word if word in ("true", "false", "null") else '"' + word + '"'
        return self.scalar()

    def scalar(self):
        for literal in ("true", "false", "null"):
            if self.text.startswith(literal, self.at):
                self.at += len(literal)
                return literal
        return self.match(_STRING if self.peek() == '"' else _NUMBER)

    def key(self):
        if self.peek() == '"':
            return self.match(_STRING)
        return '"' + self.match(BARE) + '"'

    def braces(self, path, construct):
        self.take("{")
        self.space()
        if self.peek().isdigit():
            count = int(self.match(_COUNT))
            self.take("}")
            return self.keyed_table(count, path)
        members = []
        if self.peek() == "}":
            self.take("}")
            return Object(members)
        while True:
            key = self.key()
            self.space()
            inner = path + (lexemes.body(key),)
            members.append((key, self.after_key(inner, construct)))
            if not self.comma("}"):
                return Object(members)

    def after_key(self, path, construct):
        """Reads what follows a key: `:` and a value, or a count and a compact array or table."""
        if self.peek() == "[":
            self.take("[")
            count = int(self.match(_COUNT))
            self.take("]")
            if self.peek() == "{" or self.text.startswith(":\n", self.at):
                return self.table(count, path)
            self.take(":")
            return self.compact(count, path)
        if self.peek() == "{":
            self.take("{")
            count = int(self.match(_COUNT))
            self.take("}")
            return self.keyed_table(count, path)
        self.take(":")
        self.space()
        return self.value(path, construct, bare=True)

    def compact(self, count, path):
        elements = []
        for index in range(count):
            if index:
                self.space()
                self.take(",")
            self.space()
            elements.append(self.value(path + (index,), "compact array"))
        return elements

    def brackets(self, path, construct, columns):
        header = re.compile(r"\[([1-9]\d*)\](?=\{|:\n)").match(self.text, self.at)
        if header:
            self.at = header.end()
            return self.table(int(header.group(1)), path)
        self.take("[")
        self.space()
        elements = []
        if self.peek() == "]":
            self.take("]")
            return elements
        while True:
            inner = path + (len(elements),)
            elements.append(self.value(inner, construct, None if _LIST.match(self.text, self.at) else columns))
            if not self.comma("]"):
                return elements

    def shape(self, path, construct):
        self.take("@")
        name = self.match(_NAME)
        if self.peek() == "{":
            value = self.value(path, construct)
            self.shapes[name] = value.keys()
            return value
        self.take("(")
        members = []
        for index, key in enumerate(self.shapes[name]):
            if index:
                self.take(",")
            inner = path + (lexemes.body(key),)
            self.where[inner] = "shape"
            members.append((key, self.value(inner, "shape", bare=True)))
        self.take(")")
        return Object(members)

    # tables

    def table(self, count, path):
        columns = self.header() if self.peek() == "{" else []
        self.take(":")
        if self.peek() != "\n":
            return self.columnar(count, columns, path)
        self.line_end()
        rows = []
        for index in range(count):
            self.blank()
            rows.append(self.row(columns, path + (index,)))
        return rows

    def keyed_table(self, count, path):
        columns = self.header()
        self.take(":")
        self.line_end()
        members = []
        for _ in range(count):
            self.blank()
            key = self.key()
            self.take(":")
            members.append((key, self.row(columns, path + (lexemes.body(key),))))
        return Object(members)

    def line_end(self):
        self.take("\n")

    def columnar(self, count, columns, path):
        rows = []
        for index in range(count):
            members = []
            for number, column in enumerate(columns):
                self.blank()
                if number or index:
                    self.take("," if number else "/")
                    self.blank()
                inner = path + (index, lexemes.body(column.key))
                members.append((column.key, self.value(inner, "cell")))
            rows.append(Object(members))
        return rows

    def row(self, columns, path):
        if isinstance(columns, _Columns) and columns.open:
            value = self.open_object(columns, path)
            self.take("\n")
            return value
        if self.peek() == "!":
            self.take("!")
            self.blank()
            if self.peek() == "{":
                self.where[path] = "row"
            value = self.value(path, "whole row")
            self.blank()
            self.take("\n")
            return value
        self.where[path] = "row"
        return self.record(columns, path, "cell", "\n")

    def open_object(self, columns, path):
        """Reads an object of an open list: a constant stands before the first of its keys that come after it in the list."""
        self.where[path] = "row"
        self.take("{")
        ranks = {column.key: rank for rank, column in enumerate(columns)}
        members, rank = [], 0
        while self.peek() != "}":
            if members and self.text[self.at - 1] != "{":
                self.take(",")
            key = self.key()
            count = self.peek() == "["
            if count:
                self.take("[")
                count = int(self.match(_COUNT))
                self.take("]")
            self.take(":")
            inner, columns_inside = path + (lexemes.body(key),), None
            if key in ranks:
                members += self.constants(columns[rank : ranks[key]], path)
                rank = ranks[key] + 1
                columns_inside = columns[ranks[key]].inner
            self.where[inner] = "row" if self.peek() == "(" else "labelled cell"
            members.append((key, self.compact(count, inner) if count else self.value(inner, "labelled cell", columns_inside, bare=True)))
        self.take("}")
        return Object(members + self.constants(columns[rank:], path))

    def constants(self, columns, path):
        """Returns the members that these columns hold for every object."""
        held = [(column.key, column.constant) for column in columns if column.constant is not None]
        for key, _ in held:
            self.where[path + (lexemes.body(key),)] = "constant"
        return held

    def record(self, columns, path, construct, close):
        """Reads a row or tuple of cells up to its closing byte."""
        members, _ = self.cells(columns, path, construct, close, True)
        self.blank()
        self.take(close)
        return self.filled([(key, value) for key, value in members if value is not None], path)

    def cells(self, columns, path, construct, close, first):
        members = []
        for column in columns:
            inner = path + (lexemes.body(column.key),)
            if isinstance(column.constant, _Template):
                self.where[inner] = "template"
                members.append((column.key, column.constant))
                continue
            if column.constant is not None:
                self.where[inner] = "constant"
                members.append((column.key, column.constant))
                continue
            if column.spliced:
                self.where[inner] = "row"
                spliced = "spliced" if construct == "cell" else construct
                held, first = self.cells(column.inner, inner, spliced, close, first)
                held = [(key, value) for key, value in held if value is not None]
                members.append((column.key, self.filled(held, inner)))
                continue
            if not first:
                self.take(",")
            first = False
            self.blank()
            members.append((column.key, self.cell(column, inner, construct, close)))
            self.blank()
        return members, first

    def cell(self, column, path, construct, close):
        if self.peek() in (",", close):
            if column.default is not None:
                self.where[path] = "default"
                return column.default
            self.where[path] = "empty cell"
            return None
        held = construct
        if construct == "cell" and column.default is not None:
            held = "default cell"
        elif construct == "cell" and column.optional:
            held = "optional cell"
        self.where[path] = held
        return self.cell_value(column, path, held)

    def cell_value(self, column, path, construct):
        if self.peek() == "(":
            self.where[path] = "row"
        word = column.filled is not None and _WORD.match(self.text, self.at)
        if word and word.group() not in ("true", "false", "null"):
            self.at = word.end()
            self.where[path] = "filled cell"
            return _Template(column.filled.replace("${}", word.group(), 1))
        return self.value(path, construct, column.inner, bare=True)

    def filled(self, members, path):
        """Returns the object with its templates filled from its other members."""
        named = dict(members)
        result = []
        for key, value in members:
            if isinstance(value, _Template):

                def fill(found):
                    held = named['"' + found.group(1) + '"']
                    return held[1:-1] if held.startswith('"') else held

                value = re.sub(r"\$\{([A-Za-z_]\w*)\}", fill, value.lexeme)
            result.append((key, value))
        return Object(result)

    # headers

    def header(self):
        self.take("{")
        columns = _Columns()
        if self.peek() == "*":
            self.take("*")
            columns.open = True
        while self.peek() != "}":
            if columns or columns.open:
                self.take(",")
            columns.append(self.column())
        self.take("}")
        return columns

    def column(self):
        column = Column(self.key())
        optional = self.peek() == "?"
        if optional:
            self.take("?")
        if self.peek(2) == ".{":
            self.take(".")
            column.spliced = True
        if self.peek() == "{":
            column.inner = self.header()
        if self.peek() == "~":
            self.take("~")
            template = self.match(_STRING)
            if "${}" in template:
                column.filled, column.optional = template, optional
            else:
                column.constant = _Template(template)
            if optional and self.peek() == "=":
                self.take("=")
                where, self.where = self.where, {}
                column.default = self.value((), "member")
                self.where = where
        elif self.peek() == "=":
            self.take("=")
            where, self.where = self.where, {}
            value = self.value((), "member", column.inner, bare=True)
            self.where = where
            if optional:
                column.default = value
            else:
                column.constant = value
        else:
            column.optional = optional
        return column


def same(value, other):
    """Returns whether two trees are the same data: equal as minified JSON."""
    return minify(value) == minify(other)
