"""A decoder of STC 1, written to be read beside grammar/STC.md; the section numbers in the comments are its.

It builds no model of the document: it walks the input once, from left to right, and copies every string, number and
literal to the output as it stood, so nothing can change on the way (2.1). What is open stands on an explicit stack, so
the depth of the input is never the depth of the call stack (10.1). Nothing is found by searching for a separator: a
count in a header says how many values follow (7.4).
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
    free: int = 64 << 20,
    max_columns: int = 4096,
    max_header: int = 256 << 10,
    max_input: int = 256 << 20,
) -> bytes:
    """Returns the minified JSON text that the STC text `stc` stands for. Raises STCError.

    The limits are those of section 10: containers open at once, bytes out, bytes out for each byte in so far (which
    does not bind below `free`), keys of a columnar header, bytes of those keys as written, bytes in.
    """
    if len(stc) > max_input:
        raise STCError("Input", max_input, "longer than the input limit")
    decoder = _Decoder(bytes(stc))
    decoder.max_depth = max_depth
    decoder.max_output = max_output
    decoder.ratio = ratio
    decoder.free = free
    decoder.max_columns = max_columns
    decoder.max_header = max_header
    decoder.document()
    return bytes(decoder.out)


# What is matched at a place; nothing is ever searched for.
_WS = re.compile(rb"[ \t\n\r]*")  # 1.4
_HS = re.compile(rb"[ \t]*")  # 1.4
_BARE_KEY = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")  # 4.1
_COUNT = re.compile(rb"[1-9][0-9]{0,18}")  # 7.1
_COLUMNAR = re.compile(rb"\[[ \t\n\r]*([1-9][0-9]{0,18})[ \t\n\r]*\]\{")  # 7.3
_DIGITS = re.compile(rb"[0-9]*")
_PLAIN = re.compile(rb'[^\x00-\x1f"\\\x80-\xff]*')  # of a string: what needs no second look

# The kind of scalar that a first byte announces.
_STRING, _NUMBER, _BOOLEAN, _NULL = "string", "number", "boolean", "null"
_KINDS = {b'"': _STRING, b"t": _BOOLEAN, b"f": _BOOLEAN, b"n": _NULL}
_KINDS.update((bytes([byte]), _NUMBER) for byte in b"-0123456789")
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}

# What may stand as a value or a cell, and what as an element of a compact array (5.2).
_SCALARS = (_STRING, _NUMBER, _BOOLEAN, _NULL)
_ELEMENTS = (_STRING, _NUMBER, _BOOLEAN)


class _Decoder:
    def __init__(self, data):
        self.data = data
        self.pos = 0  # all bytes before it have been read
        self.out = bytearray()
        self.closers = bytearray()  # of every open container, as the JSON has them: "]" or "}", innermost last

    # ---- Values, objects, arrays

    def document(self):
        """3.1: a value, with whitespace around it, and nothing else. At the top of the loop a value must begin."""
        self.skip(_WS)
        more = True
        while more:
            first = self.peek()
            if first == b"{":  # 4.2, and 4.4 if it closes at once
                self.enter(b"}")
                self.write(b"{")
                self.skip(_WS)
                if self.peek() != b"}" and self.member("a key or '}'"):
                    continue
            elif first == b"[":
                # 7.3: `[12]` is an array unless the very next byte is `{`. That is all the look-ahead there is.
                ahead = _COLUMNAR.match(self.data, self.pos)
                self.enter(b"]")
                self.write(b"[")
                if ahead:
                    self.pos = ahead.end() - 1
                    self.columnar(int(ahead[1]))
                else:  # 3.5
                    self.skip(_WS)
                    if self.peek() != b"]":
                        continue
            else:
                self.write(self.scalar(_SCALARS, "a value")[1])
            more = self.value_ended()

    def value_ended(self):
        """Goes on after a whole value: True where the next one must begin, False at the end of the document."""
        while self.closers:
            self.skip(_WS)
            closer = bytes(self.closers[-1:])
            if self.take(closer):
                self.closers.pop()
                self.write(closer)
            else:
                self.expect(b",", f"',' or '{closer.decode()}'")
                self.write(b",")
                self.skip(_WS)
                if closer == b"]" or self.member("a key"):
                    return True
        self.skip(_WS)
        if self.pos < len(self.data):
            raise self.unexpected("the end of the document")
        return False

    def member(self, expected):
        """4.2: a key, then a colon (True: its value comes next) or a compact array (False: that was its value)."""
        self.write(b'"%b":' % self.key(expected))
        self.skip(_WS)
        if self.peek() == b"[":
            self.compact()
            return False
        self.expect(b":", "':' or '[' after the key")
        self.skip(_WS)
        return True

    def key(self, expected):
        """4.1: a bare key or a string. Returns its body."""
        bare = _BARE_KEY.match(self.data, self.pos)
        if bare:
            self.pos = bare.end()
            return bare[0]
        if self.peek() != b'"':
            raise self.unexpected(expected)
        return self.string()[1:-1]

    # ---- What STC adds

    def compact(self):
        """5: `[3]: 1,2,3` after a key."""
        self.enter(b"]")
        self.skip(_WS)
        count = _COUNT.match(self.data, self.pos)
        if not count:
            raise self.unexpected("a count (1 to 19 digits, no leading zero)")
        self.pos = count.end()
        self.skip(_WS)
        self.expect(b"]", "']' after the count")
        self.skip(_WS)
        self.expect(b":", "':' after the header")
        self.write(b"[")
        kinds = _ELEMENTS
        for index in range(int(count[0])):
            self.skip(_WS)
            if index > 0:
                self.expect(b",", "',' (the count says that more elements follow)", "Count")
                self.write(b",")
                self.skip(_WS)
            kind, element = self.scalar(kinds, " or ".join(kinds))
            kinds = (kind,)  # 5.2: the first one decides for all
            self.write(element)
        self.closers.pop()
        self.write(b"]")

    def columnar(self, count):
        """6: `{id,name}: 1,"a" / 2,"b"` after `[2]`. Only hs stands between the colon and the last cell (6.4)."""
        names = self.header()
        for row in range(count):
            self.skip(_HS)
            if row > 0:
                self.expect(b"/", "'/' (the count says that more rows follow)", "Count")
                self.write(b",")
                self.skip(_HS)
            for column, name in enumerate(names):
                if column > 0:
                    self.skip(_HS)
                    self.expect(b",", "',' (the header has more keys)", "Count")
                    self.skip(_HS)
                cell = self.scalar(_SCALARS, "a string, number, boolean or null")[1]
                self.write(name)
                self.write(cell)
            self.write(b"}")
        self.closers.pop()
        self.closers.pop()
        self.write(b"]")

    def header(self):
        """6.2: `{id,name}:`. Returns what each cell of a row has before it in the JSON: `{"id":` and `,"name":`."""
        self.enter(b"}")
        names, seen, size, duplicate = [], set(), 0, None
        while not names or not self.take(b"}"):
            if names:
                self.expect(b",", "',' or '}' in the header")
            self.skip(_WS)
            start = self.pos
            if len(names) == self.max_columns:
                raise STCError("Columns", start, "more columns than the limit")
            key = self.key("a key")
            size += self.pos - start
            if size > self.max_header:
                raise STCError("Header", start, "a header longer than the limit")
            if key in seen and duplicate is None:
                duplicate = start
            seen.add(key)
            names.append(b'%b"%b":' % (b"," if names else b"{", key))
            self.skip(_WS)
        # 9.5: only now, so that an error inside the header is reported instead.
        if duplicate is not None:
            raise STCError("DuplicateColumn", duplicate, "a key stands twice in a columnar header")
        self.skip(_WS)
        self.expect(b":", "':' after the header")
        return names

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
        while True:
            self.skip(_PLAIN)
            byte = self.peek()
            if byte == b'"':
                self.pos += 1
                return self.data[start : self.pos]
            if byte == b"\\":
                self.escape()
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

    def enter(self, closer):
        """10.1: reads the byte that opens a container."""
        if len(self.closers) >= self.max_depth:
            raise STCError("Depth", self.pos, "nested deeper than the depth limit")
        self.pos += 1
        self.closers += closer

    def write(self, piece):
        """10.2: the one place where output grows, so the one place where it is bounded."""
        size = len(self.out) + len(piece)
        if size > self.max_output:
            raise STCError("Output", self.pos, "the result passes the output limit")
        if size > max(self.free, self.ratio * self.pos):
            raise STCError("Ratio", self.pos, "the result passes the output-to-input ratio limit")
        self.out += piece


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
