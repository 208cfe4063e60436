"""Candidate forms of STC 2: each a set of switches of one planner and writer.

A form is a set of switches; `FORMS` names the sets that are measured. All of them keep every lexeme, the order of keys
included, and `reader.py` reads every one back:

- A table is `[n]{header}:` and n lines. A keyed table is `{n}{header}:` and lines that begin with `key:`.
- A positional row is cells between commas, in the header's order, as in STC 2. Its header names every column.
- A labelled row is an object. Its header holds what all rows share, and the keys that say where it belongs: a constant stands
  directly after the last key before it in the header that the row has, or first if there is none. The header names every
  column, or only the keys that can stand directly before a constant.
- `key{…}` in a header is the same for the objects at that key: the value itself, or the elements of a list.
- A missing key of a positional row is an empty cell, a mark `-`, or the key is no cell at all and stands at the end of the rows
  that have it as `key:value`; or such a row is labelled. A labelled row just leaves the key out.
- In a form that has both kinds of row, a row that begins with `{` is labelled: a positional row that would begin so is
  labelled too.
- Everything else is JSON with bare or quoted keys. The line feed after a table stands for the comma there.
"""
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Form:
    """A set of choices. The defaults are labelled rows under a header that names every column."""

    name: str = ""
    rows: str = "labelled"  # labelled | positional | narrow: positional where no cell is empty and the table is narrow
    narrow: int = 6  # cells of the widest positional row of a `narrow` form
    header: str = "columns"  # of labelled rows: columns (every key) | constants (what is needed)
    sign: str = "="  # between a key and its value in a header
    keys: str = "bare"  # bare | quoted, outside tables
    header_keys: str = "bare"  # bare | quoted, in headers
    row_keys: str = "bare"  # bare | quoted, inside labelled rows
    constants: str = "nested"  # none | rows | nested: also in the objects inside a row
    defaults: bool = False
    missing: str = "empty"  # of positional rows: empty | mark | trailing | labelled
    nested: str = "labelled"  # objects in positional rows: splice | tuple | labelled
    inner: str = "labelled"  # objects in labelled rows: labelled | dotted (`a.b:1`) | tuple, where narrow and full
    indent: bool = False  # `key[n]{…}:` with its rows indented
    keyed: bool = True
    shapes: bool = False
    slack: int = 0  # tokens that a table may cost more than the same rows in JSON's form, for the count and the lines it has
    hints: bool = False  # a comment after the first header of each kind


_POSITIONAL = Form(rows="positional", nested="splice", missing="empty")
_SHORT = Form(header="constants")
FORMS = {
    form.name: form
    for form in (
        # labelled rows
        replace(Form(), name="labelled"),
        replace(_SHORT, name="labelled-short"),
        replace(_SHORT, name="labelled-colon", sign=":"),
        replace(_SHORT, name="labelled-quoted", sign=":", keys="quoted", header_keys="quoted", row_keys="quoted"),
        replace(_SHORT, name="json-rows", sign=":", keys="quoted", row_keys="quoted"),
        replace(_SHORT, name="labelled-indent", indent=True),
        replace(_SHORT, name="labelled-colon-indent", indent=True, sign=":"),
        replace(_SHORT, name="json-rows-indent", indent=True, sign=":", keys="quoted", row_keys="quoted"),
        replace(_SHORT, name="labelled-row-constants", constants="rows"),
        replace(_SHORT, name="labelled-always", slack=12),
        replace(_SHORT, name="bare", constants="none"),
        replace(_SHORT, name="labelled-defaults", defaults=True),
        replace(_SHORT, name="labelled-shapes", shapes=True),
        replace(_SHORT, name="labelled-dotted", inner="dotted"),
        replace(_SHORT, name="labelled-tuples", inner="tuple"),
        replace(_SHORT, name="labelled-unkeyed", keyed=False),
        replace(_SHORT, name="labelled-hints", hints=True),
        # positional rows; the first is STC 2 as its encoder writes it, nearly
        replace(_POSITIONAL, name="positional", defaults=True),
        replace(_POSITIONAL, name="no-defaults"),
        replace(_POSITIONAL, name="no-empty-trailing", missing="trailing"),
        replace(_POSITIONAL, name="no-empty-labelled", missing="labelled"),
        replace(_POSITIONAL, name="no-empty-mark", missing="mark"),
        replace(_POSITIONAL, name="tuples", missing="labelled", nested="tuple"),
        replace(_POSITIONAL, name="inner-labelled", missing="labelled", nested="labelled"),
        replace(_POSITIONAL, name="inner-labelled-indent", missing="labelled", nested="labelled", indent=True),
        # positional where it is easy, labelled elsewhere
        replace(_SHORT, name="narrow-4", rows="narrow", narrow=4),
        replace(_SHORT, name="narrow-6", rows="narrow", narrow=6),
        replace(_SHORT, name="narrow-8", rows="narrow", narrow=8),
        replace(_SHORT, name="narrow-12", rows="narrow", narrow=12),
        replace(_SHORT, name="narrow-6-indent", rows="narrow", narrow=6, indent=True),
        replace(_SHORT, name="narrow-8-tuples", rows="narrow", narrow=8, nested="tuple", inner="tuple", missing="labelled"),
        # labelled, and as small as that gets
        replace(_SHORT, name="labelled-tuples-shapes", inner="tuple", shapes=True),
    )
}
