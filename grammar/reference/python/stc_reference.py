"""A decoder of STC 1 and 2, written to be read beside grammar/STC.md; the section numbers in the comments are its.

It builds no model of the document: it walks the input once, from left to right, and copies every string, number and
literal to the output as it stood, so nothing can change on the way (2.1). What is open stands on an explicit stack, so
the depth of the input is never the depth of the call stack (10.1). Nothing is found by searching for a separator: a
count in a header says how many values follow (7.4). Where a template stands, the output has a hole until the object
around it is complete (17.6). What may come again is kept under its name (14.2).
"""

import re
import sys

__all__ = ["decode", "STCError"]


class STCError(ValueError):
    """A refused document: what was wrong (`kind`, `message`) and at which byte (`offset`), by section 9."""

    def __init__(self, kind: str, offset: int, message: str):
        super().__init__(f"{message} at byte {offset}")
        self.kind = kind
        self.offset = offset
        self.message = message


def decode(
    stc: bytes,
    *,
    max_depth: int = 512,
    max_output: int = 1 << 30,
    ratio: int = 100,
    ratio_after: int = 64 << 20,
    max_columns: int = 4096,
    max_header: int = 256 << 10,
    max_input: int = 256 << 20,
    max_row: int = 1 << 20,
    max_anchors: int = 1 << 20,
) -> bytes:
    """Returns the minified JSON text that the STC text `stc` stands for. Raises STCError.

    The limits are those of sections 10 and 20: containers open at once, bytes out, bytes out for each byte in so far
    (which does not bind below `ratio_after`), keys of a header or a shape and names of a kind, bytes of a header or of all
    shapes or of the dictionary, bytes in, bytes of a row that has templates, bytes of all that is anchored.
    """
    if len(stc) > max_input:
        raise STCError("Input", max_input, "longer than the input limit")
    decoder = _Decoder(bytes(stc))
    decoder.max_depth = max_depth
    decoder.max_output = max_output
    decoder.ratio = ratio
    decoder.ratio_after = ratio_after
    decoder.max_columns = max_columns
    decoder.max_header = max_header
    decoder.max_row = max_row
    decoder.max_anchors = max_anchors
    decoder.document()
    return b"".join(decoder.out)


# What is matched at a place; nothing is ever searched for.
_WS = re.compile(rb"[ \t\n\r]*")  # 1.4
_HS = re.compile(rb"[ \t]*")  # 1.4
_BARE_KEY = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")  # 4.1
_NAME = re.compile(rb"(?:[A-Za-z][A-Za-z0-9_-]{0,23})?")  # 14.2
_BARE_STRING = re.compile(rb"[A-Za-z][A-Za-z0-9_./:@+#%&=?~-]*")  # 14.5
_WORD = re.compile(rb"[A-Za-z0-9_./:+#%=?~-][A-Za-z0-9_./:@+#%&=?~-]*")  # 17.11
_COUNT = re.compile(rb"[1-9][0-9]{0,18}")  # 7.1
_COLUMNAR = re.compile(rb"\[[ \t\n\r]*([1-9][0-9]{0,18})[ \t\n\r]*\]\{")  # 7.3, 16.1
_DIGITS = re.compile(rb"[0-9]*")
_PLAIN = re.compile(rb'[^\x00-\x1f"\\\x80-\xff]*')  # of a string: what needs no second look
_PLAIN_TEMPLATE = re.compile(rb'[^\x00-\x1f"$\\\x80-\xff]*')  # the same, of a template

# The kind of scalar that a first byte announces.
_STRING, _NUMBER, _BOOLEAN, _NULL = "string", "number", "boolean", "null"
_KINDS = {b'"': _STRING, b"t": _BOOLEAN, b"f": _BOOLEAN, b"n": _NULL}
_KINDS.update((bytes([byte]), _NUMBER) for byte in b"-0123456789")
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}

# What may stand as a value or a cell, and what as an element of a compact array (5.2).
_SCALARS = (_STRING, _NUMBER, _BOOLEAN, _NULL)
_ELEMENTS = (_STRING, _NUMBER, _BOOLEAN)


class _Columns:
    """17.1: a list of columns, that of a header or one nested in it or spliced into it."""

    def __init__(self, outer, spliced=False):
        self.columns = []
        self.outer = outer
        self.spliced = spliced
        self.open = False  # 17.10: whether its objects are written out with their own keys
        self.holds_open = False  # 17.8: whether it is open, or a list inside it is
        self.places = {}  # 17.10: of an open list, where each key stands in it
        self.constants = []  # 17.10: of an open list, where its constants stand in it
        self.row = []  # in the order of a row, with those of lists that are spliced in
        self.keys = []  # of all columns, with their offsets
        self.plain = {}  # 17.6: the plain columns, by key
        self.height = 0  # of the constant, default or spliced object that nests deepest
        self.templates = False  # of a header's own list: whether there are any in the header that name columns


class _Column:
    """17.1: a key and what follows it. A column without constant, template and brace has a cell, and so has a filled one."""

    def __init__(self, key):
        self.name = b'"%b":' % key
        self.brace = None  # 17.9: that an object spliced in begins with, or ends with; no key then
        self.inner = None  # its columns
        self.optional = False  # whether it has a `?`
        self.shape = None  # 17.4: the columns of its tuples
        self.constant = None
        self.default = None  # 17.8: what an empty cell stands for
        self.template = None  # literals and, between them, the column to fill from
        self.filled = False  # 17.11: whether the template holds `${}`, so that the column itself is among these
        self.named = False  # by a template, so its cells are strings or numbers


class _Frame:
    """A container that is open. `step` reads on in it: True where a value must begin, False where it is complete."""

    def __init__(self, step, inline, levels=1):
        self.step = step
        self.inline = inline  # 14.4: only hs is whitespace in it, and no table stands in it
        self.levels = levels  # how many the JSON nests for it
        self.inside = 0  # how many levels its values nest
        self.started = False  # whether something stands in it already
        self.bare = False  # 14.5: whether its values may be bare strings: those of members, and cells
        self.shape = None  # 17.4, 17.10: the columns of a tuple or an object that may stand as the next value
        self.column = None  # of a record: that of the next value
        self.anchor = None  # 19: its name, and where its text begins in the output
        self.label = None  # 18: its name
        self.keys = None  # 18: that a labelled object has so far, or that a shape's tuple has
        # 16, 17: of a table's row, a tuple or an object of an open list
        self.columns = None
        self.index = 0  # of the next column
        self.constants = 0  # 17.10: of an object of an open list, how many constants are written
        self.cells = 0  # read so far
        self.members = 0  # written so far
        self.spliced = 0  # 17.9: objects that are open in it
        self.fields = {}  # 17.6: by column, what templates are filled with
        self.holes = []  # 17.6: where in the output, and with which template
        self.table = False
        self.rows = 0  # still to come
        self.whole = False  # 16.7: whether the row that is read is a value of its own


class _Decoder:
    def __init__(self, data):
        self.data = data
        self.pos = 0  # all bytes before it have been read
        self.out = []  # pieces; a hole is an empty one until its template is filled
        self.size = 0  # of what was written
        self.row = None  # the size where the open row began, if its header has templates
        self.depth = 0
        self.stack = []  # of frames, innermost last
        self.height = 0  # how many levels the last value nests
        self.after_table = False  # whether the last value was a table: its LF was the comma too
        self.after_key = False  # 16.6: whether the next value is a table directly after its key
        self.in_header = False
        # 14.2: the names. A shape or an anchor is None until it is complete.
        self.dictionary, self.shapes, self.anchors = {}, {}, {}
        self.dictionary_size = self.shapes_size = self.anchors_size = 0
        self.anchored = None  # the size where the outermost open anchor began

    # ---- Values

    def document(self):
        """3.1, 14.3: definitions and a value, with whitespace around them, and nothing else."""
        self.skip(_WS)
        while self.definition():
            self.skip(_WS)
        self.value()
        self.skip(_WS)
        if self.pos < len(self.data):
            raise self.unexpected("the end of the document")

    def definition(self):
        """15.1: `$a="text"` and LF. Without the `=` it is the document's value."""
        start = self.pos
        if self.peek() != b"$":
            return False
        name = self.name()
        if self.peek() != b"=":
            self.pos = start
            return False
        self.define(self.dictionary, name, start)
        self.pos += 1
        if self.peek() != b'"':
            raise self.unexpected("a string")
        string = self.string()
        self.dictionary_size += len(string)  # 20.3: quotes included
        if self.dictionary_size > self.max_header:
            raise STCError("Header", start, "a dictionary longer than the limit")
        self.dictionary[name] = string[1:-1]
        self.expect(b"\n", "a line feed after the definition")
        return True

    def value(self):
        """Reads one whole value, however deep: a value begins, then the innermost open container says what is next."""
        base = len(self.stack)
        self.begin()
        while len(self.stack) > base:
            frame = self.stack[-1]
            if frame.step(frame):
                self.begin()
            else:
                self.end()

    def begin(self):
        """A value must begin here. Reads it if it is no container; otherwise opens it."""
        parent = self.stack[-1] if self.stack else None
        inline = self.in_header or (parent is not None and parent.inline)
        shape = parent.shape if parent else None
        tuples = shape is not None and not shape.open
        column = parent.column if parent else None
        self.after_table = False
        self.height = 0
        first = self.peek()
        if self.after_key:
            self.after_key = False
            self.stack.append(self.table_after_key())
            return
        if column is not None and column.filled and parent.columns is not None and _WORD.match(self.data, self.pos):
            self.fill_in(parent, column)
            return
        if column is not None and column.named:  # 17.6
            text = self.source(first)
            parent.fields[column] = text[1:-1] if text[:1] == b'"' else text
            self.write(text)
            return
        anchor = None
        if first == b"&" and not self.in_header:  # 19.1
            anchor = self.anchor()
            first = self.peek()
            if not first or first not in b"{[@(" or (first == b"(" and not tuples):
                raise self.unexpected("a container after the anchor")
        if first == b"{" and shape is not None and shape.open:
            frame = self.open_listed(shape, parent.columns is shape)
        elif first == b"{":
            frame = self.open_braces(inline, None, anchor)
        elif first == b"[":
            frame = self.open_brackets(inline, shape, anchor)
        elif first == b"@":
            frame = self.open_shape(inline, anchor)
        elif first == b"(" and tuples:
            frame = self.open_tuple(shape)
        else:
            if first == b"$":
                self.write(self.reference())
            elif first == b"*":
                self.copy()
            elif parent is not None and parent.bare and _BARE_STRING.match(self.data, self.pos):
                self.write(self.word())
            else:
                self.write(self.scalar(_SCALARS, "a value")[1])
            self.ended(parent)
            return
        frame.anchor = anchor
        self.stack.append(frame)

    def end(self):
        """The innermost container is complete."""
        frame = self.stack.pop()
        self.depth -= frame.levels
        self.height = frame.inside + frame.levels
        self.after_table = frame.table
        if frame.label is not None:
            self.shapes[frame.label] = frame.keys
        if frame.anchor is not None:
            self.keep(frame.anchor)
        self.ended(self.stack[-1] if self.stack else None)

    def ended(self, parent):
        if parent is not None:
            parent.inside = max(parent.inside, parent.spliced + self.height)

    # ---- Objects and arrays

    def open_braces(self, inline, label, anchor):
        """4.2: an object; 16.5: `{12}{` where a table may stand."""
        self.enter()
        self.write(b"{")
        self.skip(_HS if inline else _WS)
        if not inline and label is None and anchor is None and _COUNT.match(self.data, self.pos):
            return self.table(self.table_count(b"}"), self.step_keyed)
        frame = _Frame(self.step_object, inline)
        frame.bare = True
        if label is not None:
            frame.label, frame.keys = label, []
        return frame

    def step_object(self, frame):
        """4.2, 4.4: the next member's key, or the closing brace."""
        space = _HS if frame.inline else _WS
        while True:
            self.skip(space)
            if self.peek() == b"}" and (frame.started or frame.label is None):  # 18.1: a shape has a key
                self.pos += 1
                if frame.columns is not None:
                    self.write_constants(frame, len(frame.columns.columns))
                self.write(b"}")
                return False
            if frame.started and not self.after_table:  # 16.4
                self.expect(b",", "',' or '}'")
                self.skip(space)
            self.after_table = False
            key = self.member_key(frame, "a key" if frame.started else "a key or '}'")
            frame.started = True
            self.write_key(frame, key)
            self.skip(space)
            if self.take(b":"):
                self.skip(space)
                return True
            if not frame.inline and (self.peek() == b"{" or _COLUMNAR.match(self.data, self.pos)):  # 16.6
                self.after_key = True
                return True
            if self.peek() != b"[":
                raise self.unexpected("':' or '[' after the key")
            self.compact(space)
            frame.inside = max(frame.inside, 1)

    def write_key(self, frame, key):
        self.write((b',"%b":' if frame.members else b'"%b":') % key)
        frame.members += 1

    def member_key(self, frame, expected):
        start = self.pos
        key = self.key(expected)
        if frame.columns is not None:
            self.meet_column(frame, key, start)
        if frame.label is not None:  # 18.1
            frame.keys.append(key)
            self.shapes_size += self.pos - start
            if len(frame.keys) > self.max_columns:
                raise STCError("Columns", start, "a shape with more keys than the limit")
            if self.shapes_size > self.max_header:
                raise STCError("Header", start, "the keys of the shapes are longer than the limit")
        return key

    def key(self, expected):
        """4.1: a bare key or a string. Returns its body."""
        bare = _BARE_KEY.match(self.data, self.pos)
        if bare:
            self.pos = bare.end()
            return bare[0]
        if self.peek() != b'"':
            raise self.unexpected(expected)
        return self.string()[1:-1]

    def open_brackets(self, inline, shape, anchor):
        """3.5, 7.3: `[12]` is an array unless the very next byte is `{`. That is all the look-ahead there is."""
        ahead = None if inline or anchor else _COLUMNAR.match(self.data, self.pos)
        self.enter()
        self.write(b"[")
        if ahead:
            self.pos = ahead.end() - 1
            return self.table(int(ahead[1]), self.step_table)
        frame = _Frame(self.step_array, inline)
        # 17.4: a tuple may be a direct element of an array that is the cell.
        frame.shape = shape if self.stack and self.stack[-1].column is not None else None
        return frame

    def step_array(self, frame):
        space = _HS if frame.inline else _WS
        self.skip(space)
        if self.take(b"]"):
            self.write(b"]")
            return False
        if frame.started:
            if not self.after_table:  # 16.4
                self.expect(b",", "',' or ']'")
                self.skip(space)
            self.write(b",")
        frame.started = True
        return True

    def compact(self, space):
        """5: `[3]: 1,2,3` after a key."""
        self.enter()
        self.skip(space)
        count = _COUNT.match(self.data, self.pos)
        if not count:
            raise self.unexpected("a count (1 to 19 digits, no leading zero)")
        self.pos = count.end()
        self.skip(space)
        self.expect(b"]", "']' after the count")
        self.skip(space)
        self.expect(b":", "':' after the count")
        self.write(b"[")
        kinds = _ELEMENTS
        for index in range(int(count[0])):
            self.skip(space)
            if index > 0:
                self.expect(b",", "',' (the count says that more elements follow)", "Count")
                self.write(b",")
                self.skip(space)
            kind, element = self.scalar(kinds, " or ".join(kinds))
            kinds = (kind,)  # 5.2: the first one decides for all
            self.write(element)
        self.depth -= 1
        self.write(b"]")

    # ---- Columnar values and tables

    def table_after_key(self):
        """16.6: `[2]{` or `{2}{` directly after a key. Only a table may stand there."""
        keyed = self.peek() == b"{"
        self.write(b"{" if keyed else b"[")
        self.enter()
        self.skip(_WS)
        if keyed:
            return self.table(self.table_count(b"}"), self.step_keyed)
        return self.table(self.table_count(b"]"), self.step_table, columnar=False)

    def table_count(self, closer):
        """16.1, 16.5: the count of a table, its bracket and, directly after it, the brace of the header."""
        count = _COUNT.match(self.data, self.pos)
        if not count:
            raise self.unexpected("a count (1 to 19 digits, no leading zero)")
        self.pos = count.end()
        self.skip(_WS)
        self.expect(closer, f"'{closer.decode()}' after the count")
        if self.peek() != b"{":
            raise self.unexpected("'{' directly after the count")
        return int(count[0])

    def table(self, count, step, columnar=True):
        """After `[2]` or `{2}`: a value of section 6 if it may stand here and has version 1's form, otherwise of 16."""
        self.enter()
        columns, plain = self.header()
        keyed = step == self.step_keyed
        frame = _Frame(step, True, levels=2)
        if not self.take(b"\n"):
            if keyed or not plain or not columnar:
                raise self.unexpected("a line feed directly after the header")
            self.columnar(count, columns)
            frame.step = lambda _: False
            return frame
        frame.table, frame.rows, frame.columns = True, count, columns
        frame.bare = True
        return frame

    def columnar(self, count, columns):
        """6: `: 1,"a" / 2,"b"` after the header. Only hs stands between the colon and the last cell (6.4)."""
        for row in range(count):
            self.skip(_HS)
            if row > 0:
                self.expect(b"/", "'/' (the count says that more rows follow)", "Count")
                self.write(b",")
                self.skip(_HS)
            for index, column in enumerate(columns.columns):
                if index > 0:
                    self.skip(_HS)
                    self.expect(b",", "',' (the header has more keys)", "Count")
                    self.skip(_HS)
                cell = self.scalar(_SCALARS, "a string, number, boolean or null")[1]
                self.write((b"," if index else b"{") + column.name)
                self.write(cell)
            self.write(b"}")
        self.write(b"]")

    def step_table(self, frame):
        """16.2: the next cell of a row, or the next row."""
        return self.step_rows(frame, b"]")

    def step_keyed(self, frame):
        """16.5: the same, with a key before each row."""
        return self.step_rows(frame, b"}")

    def step_rows(self, frame, closer):
        while True:
            if not frame.started:  # a row begins here
                if frame.rows == 0:
                    self.write(closer)
                    return False
                frame.rows -= 1
                self.deepen(frame.columns.height, self.pos)  # 20.2
                if closer == b"}":
                    self.skip(_HS)
                    self.write(b'"%b":' % self.key("a key (the count says that more rows follow)"))
                    self.skip(_HS)
                    self.expect(b":", "':' after the row's key")
                if frame.columns.open:
                    return self.open_row(frame)
                if self.take(b"!"):
                    return self.open_whole(frame)
                self.open_record(frame)
            if frame.columns.open:
                self.skip(_HS)
                self.expect(b"\n", "a line feed after the row's object")
            elif frame.whole:
                self.close_whole(frame)
            elif self.cells(frame, b"\n", "a line feed (the row has all its cells)"):
                return True
            frame.started = False
            self.row = None
            if frame.rows > 0:
                self.write(b",")

    def open_row(self, frame):
        """17.10: the row of an open list is an object."""
        self.skip(_HS)
        if self.peek() != b"{":
            raise self.unexpected("'{' (the row of an open list is an object)")
        frame.started = True
        frame.shape = frame.columns
        if frame.columns.templates:
            self.row = self.size
        return True

    def open_whole(self, frame):
        """16.7: the row is a value of its own, at the level that other rows have."""
        self.skip(_HS)
        frame.started = frame.whole = True
        frame.bare = False
        frame.shape = frame.column = None
        frame.spliced = -1
        self.depth -= 1
        if frame.columns.templates:
            self.row = self.size
        return True

    def close_whole(self, frame):
        self.skip(_HS)
        self.expect(b"\n", "a line feed after the row's value")
        frame.whole, frame.bare, frame.spliced = False, True, 0
        self.depth += 1

    def open_listed(self, columns, is_row):
        """17.10: an object of an open list. A row's level is open already, and its constants are counted (20.2)."""
        frame = _Frame(self.step_object, True, levels=0 if is_row else 1)
        if is_row:
            self.pos += 1
        else:
            self.deepen(1 + columns.height, self.pos)
            self.enter()
        self.write(b"{")
        frame.bare = True
        frame.columns = columns
        frame.inside = columns.height
        return frame

    def meet_column(self, frame, key, start):
        """17.10: a key in an object of an open list. If it is a column, the constants before it come first."""
        columns = frame.columns
        frame.shape = frame.column = None
        place = columns.places.get(key)
        if place is None:
            return
        column = columns.columns[place]
        if place < frame.index or column.constant is not None:
            if self.pos == len(self.data) and self.data[start : start + 1] != b'"':
                raise self.unexpected("the rest of a key")  # a bare key may have been cut
            raise STCError("DuplicateColumn", start, "a key that is a constant of its list, or stands out of its order")
        self.write_constants(frame, place)
        frame.index = place + 1
        frame.shape, frame.column = column.shape, column

    def write_constants(self, frame, end):
        """17.10: writes the constants that stand before the column `end` and are not written yet."""
        columns = frame.columns
        while frame.constants < len(columns.constants) and columns.constants[frame.constants] < end:
            column = columns.columns[columns.constants[frame.constants]]
            frame.constants += 1
            self.write_name(frame, column)
            self.write(column.constant)

    def open_tuple(self, shape):
        """17.4: `(` where its column says what it stands for."""
        start = self.pos
        self.enter()
        self.deepen(shape.height, start)  # 20.2
        frame = _Frame(self.step_tuple, True)
        frame.bare = True
        frame.columns = shape
        self.open_record(frame)
        return frame

    def step_tuple(self, frame):
        return self.cells(frame, b")", "')' (the tuple has all its cells)")

    def open_record(self, frame):
        """The object of a row or a tuple begins."""
        frame.started = True
        frame.index = frame.cells = frame.members = 0
        frame.fields, frame.holes = {}, []
        frame.inside = max(frame.inside, frame.columns.height)
        if frame.columns.templates:
            self.row = self.size
        self.write(b"{")

    def cells(self, record, closer, expected):
        """17: goes on to the next cell that holds a value (True) or, if there is none, to the end (False)."""
        columns = record.columns.row
        record.shape = record.column = None
        while record.index < len(columns):
            column = columns[record.index]
            record.index += 1
            if column.brace == b"{":  # 17.9
                self.write_name(record, column)
                self.write(b"{")
                record.members = 0
                record.spliced += 1
                self.depth += 1
            elif column.brace == b"}":
                self.write(b"}")
                record.members = 1
                record.spliced -= 1
                self.depth -= 1
            elif column.constant is not None:
                self.write_name(record, column)
                self.write(column.constant)
            elif column.template is not None and not column.filled:
                self.write_name(record, column)
                record.holes.append((len(self.out), column.template))
                self.out.append(b"")
            else:
                self.skip(_HS)
                if record.cells > 0:
                    self.expect(b",", "',' (the header has more columns)", "Count")
                    self.skip(_HS)
                record.cells += 1
                empty = column.optional and self.peek() in (b",", closer)
                if empty and column.default is None:  # 17.2
                    continue
                self.write_name(record, column)
                if not empty:
                    record.shape, record.column = column.shape, column
                    return True
                self.write(column.default)  # 17.8
        self.skip(_HS)
        self.expect(closer, expected, "Count")
        self.write(b"}")
        self.fill(record)
        return False

    def write_name(self, record, column):
        self.write(b"," + column.name if record.members else column.name)
        record.members += 1

    def source(self, first):
        """17.6: a cell that a template is filled from: a string or a number. Returns its JSON."""
        start = self.pos
        if first == b"$":
            return self.reference()
        if _BARE_STRING.match(self.data, start):
            word = self.word()
            if word[:1] == b'"':
                return word
            if self.pos == len(self.data):
                raise self.unexpected("the rest of a bare string")
            self.pos = start  # a literal is reported at its first byte (20.1)
        elif first and first in b'"-0123456789':
            return self.scalar(_SCALARS, "")[1]
        raise self.unexpected("a string or a number, since a template names this column")

    def fill_in(self, record, column):
        """17.11: a word in the cell of a filled column. Only a template that names other columns has to wait for them."""
        word = self.word(_WORD)
        if word[:1] != b'"':
            self.write(word)  # a literal stands for itself
            return
        record.fields[column] = word[1:-1]
        if any(part is not column for part in column.template if not isinstance(part, bytes)):
            record.holes.append((len(self.out), column.template))
            self.out.append(b"")
            return
        head, _, tail = column.template
        self.write(b'"%b%b%b"' % (head, record.fields[column], tail))

    def fill(self, record):
        """17.6: a row or a tuple is complete, so its templates can be filled. Their length is tested before that."""
        for place, template in record.holes:
            parts = [b'"']
            for part in template:
                parts.append(part if isinstance(part, bytes) else record.fields[part])
                self.count(len(parts[-1]))
            parts.append(b'"')
            self.count(2)
            self.out[place] = b"".join(parts)

    # ---- Headers

    def header(self):
        """6.2, 17.1: `id,name}:` after the brace. Returns the columns, and whether version 1 has such a header."""
        columns = self.outermost = _Columns(None)
        self.plain, self.width, self.header_size = True, 0, 0
        while True:
            self.skip(_WS)
            begins = not columns.columns and not columns.open
            if begins and not columns.spliced and self.take(b"*"):  # 17.10
                self.plain, columns.open, columns.holds_open = False, True, True
            else:
                inner = self.column(columns)
                if inner is not None:
                    columns = inner
                    continue
            self.skip(_WS)
            while self.take(b"}"):
                self.close_list(columns)
                self.skip(_WS)
                if columns.outer is None:
                    self.expect(b":", "':' after the header")
                    return columns, self.plain
                columns = columns.outer
                last = columns.columns[-1]
                if last.optional and not last.shape.holds_open and self.take(b"="):  # 17.8
                    self.header_value(columns, last)
                    self.skip(_WS)
            self.expect(b",", "',' or '}' in the header")

    def column(self, columns):
        """17.1: a column. Returns its list, if one begins. In an open list it has no `.`, `?` or `~` (17.10)."""
        start = self.pos
        self.width += 1
        if self.width > self.max_columns:
            raise STCError("Columns", start, "more columns than the limit")
        key = self.key("a key")
        self.grow_header(self.pos - start)
        column = _Column(key)
        columns.columns.append(column)
        columns.keys.append((key, start))
        self.skip(_WS)
        if not columns.open and self.take(b"."):  # 17.9
            self.expect(b"{", "'{' after the dot")
            self.plain, column.brace = False, b"{"
            column.inner = _Columns(columns, spliced=True)
            return column.inner
        if not columns.open and self.take(b"?"):  # 17.2
            self.plain, column.optional = False, True
            self.skip(_WS)
        if self.take(b"{"):  # 17.4
            self.plain, column.shape = False, _Columns(columns)
            return column.shape
        if self.take(b"="):  # 17.3, 17.8
            self.plain = False
            self.header_value(columns, column)
        elif not columns.open and self.take(b"~"):  # 17.5
            self.plain = False
            column.template = self.template(column)
            if len(column.template) > (3 if column.filled else 1):
                self.outermost.templates = True
            self.skip(_WS)
            if column.optional and self.take(b"="):  # 17.11
                self.header_value(columns, column)
        elif not column.optional:
            columns.plain.setdefault(key, column)
        return None

    def close_list(self, columns):
        """17.7, 17.6, 17.9, 17.10: what is known at the `}` of a list."""
        self.unique(columns.keys)
        self.resolve(columns)
        if columns.open:
            columns.places = {key: place for place, (key, _) in enumerate(columns.keys)}
            columns.constants = [at for at, column in enumerate(columns.columns) if column.constant is not None]
        elif columns.spliced:
            columns.outer.height = max(columns.outer.height, 1 + columns.height)
        else:
            columns.row = self.flattened(columns)
        if columns.outer is not None and columns.holds_open:
            columns.outer.holds_open = True

    def flattened(self, columns):
        """17.9: the columns of a row or tuple, with those spliced in where they stand and a brace on either side."""
        end = _Column(b"")
        end.brace = b"}"
        row, open_lists = [], [iter(columns.columns)]
        while open_lists:
            column = next(open_lists[-1], None)
            if column is None:
                open_lists.pop()
                if open_lists:
                    row.append(end)
                continue
            row.append(column)
            if column.inner is not None:
                open_lists.append(iter(column.inner.columns))
        return row

    def grow_header(self, size):
        self.header_size += size
        if self.header_size > self.max_header:
            raise STCError("Header", self.pos, "a header longer than the limit")

    def unique(self, keys):
        """9.5, 17.7: only at the list's `}`, so that an error inside the list is reported instead."""
        seen = set()
        for key, start in keys:
            if key in seen:
                raise STCError("DuplicateColumn", start, "a key stands twice in a list of columns")
            seen.add(key)

    def header_value(self, columns, column):
        """17.3, 17.8: a constant or a default: an inline value, in which nothing is named. Its own levels are counted,
        the table's are not (20.2). A default is read as a cell of its column is, so tuples may stand in it. Both may be
        bare strings, but for the default of a filled column (17.11)."""
        self.skip(_HS)
        cell = _Frame(None, True)
        cell.bare = not column.filled
        cell.column, cell.shape = column, column.shape
        document = self.out, self.size, self.depth, self.stack
        self.out, self.size, self.depth, self.stack, self.in_header = [], self.header_size, 0, [cell], True
        self.value()
        self.header_size = self.size
        value = b"".join(self.out)
        self.out, self.size, self.depth, self.stack = document
        self.in_header = False
        if column.optional:
            column.default = value
        else:
            column.constant = value
        columns.height = max(columns.height, self.height)

    def template(self, column):
        """17.5: a string that holds `${key}`, or `${}` once (17.11). Returns its literals and, between them, offset and key
        of what is named there, or the column itself."""
        self.skip(_HS)
        if self.peek() != b'"':
            raise self.unexpected("a template's string")
        quote = self.pos
        parts = []
        start = self.pos = self.pos + 1
        while True:
            if self.characters(_PLAIN_TEMPLATE) == b'"':
                if not parts or (column.optional and not column.filled):
                    raise self.unexpected("a placeholder in the template")
                parts.append(self.data[start : self.pos])
                self.pos += 1
                self.grow_header(self.pos - quote)
                return parts
            dollar = self.pos
            self.pos += 1
            if self.take(b"{"):
                parts.append(self.data[start:dollar])
                start = self.pos + 1
                if not column.filled and self.take(b"}"):
                    column.filled = True
                    parts.append(column)
                    continue
                bare = _BARE_KEY.match(self.data, self.pos)
                if not bare:
                    raise self.unexpected("a bare key in the placeholder")
                parts.append((dollar, bare[0]))
                self.pos = bare.end()
                self.expect(b"}", "'}' after the placeholder's key")
                start = self.pos

    def resolve(self, columns):
        """17.6: each placeholder names a plain column of its own list."""
        for column in columns.columns:
            for at, part in enumerate(column.template or ()):
                if isinstance(part, tuple):
                    offset, key = part
                    if key not in columns.plain:
                        raise STCError("Template", offset, "a template names no plain column of its list")
                    column.template[at] = columns.plain[key]
                    columns.plain[key].named = True

    # ---- Names

    def name(self):
        """14.2: reads a sigil and the name after it."""
        self.pos += 1
        name = _NAME.match(self.data, self.pos)[0]
        self.pos += len(name)
        if not name:
            raise self.unexpected("a name, which begins with a letter")
        if len(name) == 24 and re.match(rb"[A-Za-z0-9_-]", self.peek() or b""):
            raise self.unexpected("the end of a name of at most 24 bytes")
        return name

    def define(self, names, name, start):
        if name in names:
            raise STCError("Name", start, "a name is defined twice")
        if len(names) >= self.max_columns:
            raise STCError("Columns", start, "more names than the limit")
        names[name] = None

    def named(self, names, name, start):
        """What a name stands for. At the end of the input a name may be the beginning of another one."""
        if names.get(name) is not None:
            return names[name]
        if self.pos == len(self.data):
            raise self.unexpected("the rest of a name")
        raise STCError("Name", start, "a name that is not defined here")

    def reference(self):
        """15.2: `$a`, or `$a"rest"`: the two bodies joined. Returns a string."""
        start = self.pos
        body = self.named(self.dictionary, self.name(), start)
        rest = self.string()[1:-1] if self.peek() == b'"' else b""
        return b'"%b%b"' % (body, rest)

    def open_shape(self, inline, anchor):
        """18: `@a{` defines a shape, `@a(` is an object of that shape."""
        start = self.pos
        name = self.name()
        if self.peek() == b"{" and not self.in_header:
            self.define(self.shapes, name, start)
            return self.open_braces(inline, name, anchor)
        if self.peek() != b"(":
            raise self.unexpected("'{' or '(' directly after the name" if not self.in_header else "'('")
        keys = self.named(self.shapes, name, start)
        self.enter()
        frame = _Frame(self.step_shape, True)
        frame.bare = True
        frame.keys = keys
        return frame

    def step_shape(self, frame):
        self.skip(_HS)
        if frame.index > 0:
            if frame.index == len(frame.keys):
                self.expect(b")", "')' (the shape has no more keys)", "Count")
                self.write(b"}")
                return False
            self.expect(b",", "',' (the shape has more keys)", "Count")
            self.skip(_HS)
        self.write((b',"%b":' if frame.index else b'{"%b":') % frame.keys[frame.index])
        frame.index += 1
        return True

    def anchor(self):
        """19.1: `&a`. Returns its name and where its text will begin in the output."""
        start = self.pos
        name = self.name()
        if self.pos < len(self.data):
            self.define(self.anchors, name, start)
        if self.anchored is None:
            self.anchored = self.size
        return name, len(self.out), self.size

    def keep(self, anchor):
        """19.1: an anchored value is complete."""
        name, begin, size = anchor
        if not any(frame.anchor is not None for frame in self.stack):
            self.anchored = None
        self.anchors_size += self.size - size
        self.count(0)
        self.anchors[name] = b"".join(self.out[begin:]), self.height

    def copy(self):
        """19.2: `*a`."""
        start = self.pos
        text, self.height = self.named(self.anchors, self.name(), start)
        if self.pos == len(self.data):  # 14.2: the name may have been cut, and no copy is the whole document
            raise self.unexpected("the rest of a name")
        self.deepen(self.height, start)
        self.write(text)

    # ---- Scalars: 2.4 to 2.6, checked against RFC 8259 and copied

    def scalar(self, kinds, expected):
        """A scalar of one of `kinds`; its first byte tells which. Returns its kind and its lexeme."""
        first = self.peek()
        kind = _KINDS.get(first)
        if kind not in kinds:
            raise self.unexpected(expected)
        if kind == _STRING:
            return kind, self.string()
        if kind == _NUMBER:
            return kind, self.number()
        literal = _LITERALS[first]
        for byte in literal:
            self.expect(bytes([byte]), f"the rest of {literal.decode()}")
        return kind, literal

    def word(self, pattern=_BARE_STRING):
        """14.5: a bare string, as long as it can be, or one of the literals if it is all of the word. Returns its JSON."""
        word = pattern.match(self.data, self.pos)[0]
        self.pos += len(word)
        return word if word in _LITERALS.values() else b'"%b"' % word

    def number(self):
        start = self.pos
        self.take(b"-")
        if not self.take(b"0"):
            self.digits()
        if self.take(b"."):
            self.digits()
        if self.take(b"e") or self.take(b"E"):
            if not self.take(b"+"):
                self.take(b"-")
            self.digits()
        return self.data[start : self.pos]

    def digits(self):
        start = self.pos
        self.skip(_DIGITS)
        if self.pos == start:
            raise self.unexpected("a digit")

    def string(self):
        start = self.pos
        self.pos += 1
        self.characters(_PLAIN)
        self.pos += 1
        return self.data[start : self.pos]

    def characters(self, plain):
        """Reads on to the quote, or to a `$` if `plain` has none. Returns what it found."""
        while True:
            self.skip(plain)
            byte = self.peek()
            if byte == b"\\":
                self.escape()
            elif byte in (b'"', b"$"):
                return byte
            elif byte >= b"\x80":
                self.multibyte()
            elif byte:
                raise STCError("Control", self.pos, "a control character in a string")
            else:
                raise self.unexpected("the closing quote of the string")

    def escape(self):
        self.pos += 1
        byte = self.peek()
        if not byte or byte not in b'"\\/bfnrtu':
            raise self.unexpected('one of "\\/bfnrtu after the backslash')
        self.pos += 1
        for _ in range(4 if byte == b"u" else 0):
            if not self.peek() or self.peek() not in b"0123456789abcdefABCDEF":
                raise self.unexpected("a hexadecimal digit")
            self.pos += 1

    def multibyte(self):
        """3.4: a character of two to four bytes (RFC 3629, section 4). What is none is reported at its start (9.3)."""
        lead = self.data[self.pos]
        if not 0xC2 <= lead <= 0xF4:
            raise STCError("Utf8", self.pos, "invalid UTF-8")
        length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        # The second byte has a narrower range after four of the leads.
        low = {0xE0: 0xA0, 0xF0: 0x90}.get(lead, 0x80)  # no overlong forms
        high = {0xED: 0x9F, 0xF4: 0x8F}.get(lead, 0xBF)  # no surrogates, nothing above U+10FFFF
        for at in range(self.pos + 1, self.pos + length):
            if at == len(self.data):
                raise STCError("Truncated", at, "the input ends inside a character")
            if not low <= self.data[at] <= high:
                raise STCError("Utf8", self.pos, "invalid UTF-8")
            low, high = 0x80, 0xBF
        self.pos += length

    # ---- Reading and writing bytes

    def peek(self):
        """The next byte; nothing at the end of the input."""
        return self.data[self.pos : self.pos + 1]

    def skip(self, pattern):
        self.pos = pattern.match(self.data, self.pos).end()

    def take(self, byte):
        if self.peek() != byte:
            return False
        self.pos += 1
        return True

    def expect(self, byte, expected, kind="Syntax"):
        if not self.take(byte):
            raise self.unexpected(expected, kind)

    def unexpected(self, expected, kind="Syntax"):
        """9.2: the next byte cannot continue any valid document, or there is none."""
        if self.pos == len(self.data):
            return STCError("Truncated", self.pos, f"the input ends where {expected} was expected")
        return STCError(kind, self.pos, f"expected {expected}")

    def enter(self):
        """10.1: reads the byte that opens a container."""
        self.deepen(1, self.pos)
        self.pos += 1
        self.depth += 1

    def deepen(self, levels, offset):
        """10.1, 20.2: whether that many levels more may be open."""
        if self.depth + levels > self.max_depth:
            raise STCError("Depth", offset, "nested deeper than the depth limit")

    def write(self, piece):
        """10.2: the one place where output grows, so the one place where it is bounded."""
        self.count(len(piece))
        self.out.append(piece)

    def count(self, size):
        self.size += size
        if self.in_header:  # a constant
            if self.size > self.max_header:
                raise STCError("Header", self.pos, "a header longer than the limit")
            return
        if self.size > self.max_output:
            raise STCError("Output", self.pos, "the result passes the output limit")
        if self.size > max(self.ratio_after, self.ratio * self.pos):
            raise STCError("Ratio", self.pos, "the result passes the output-to-input ratio limit")
        if self.row is not None and self.size - self.row > self.max_row:
            raise STCError("Row", self.pos, "a row with templates longer than the limit")
        open_anchor = 0 if self.anchored is None else self.size - self.anchored
        if self.anchors_size + open_anchor > self.max_anchors:  # 20.4
            raise STCError("Anchors", self.pos, "the anchored values are longer than the limit")


def main():
    """Decodes standard input to standard output: all of it or, on an error, nothing."""
    try:
        text = decode(sys.stdin.buffer.read())
    except STCError as error:
        print(f"stc_reference: {error}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
