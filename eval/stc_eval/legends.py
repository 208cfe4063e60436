"""The lines that explain a candidate form to a model, made from its switches.

A short legend says in one or two sentences what a table is. A long one adds an example and the JSON it stands for. The codec's
own formats have the legend that `stc legend` prints.
"""
from . import formats, forms, lexemes, writer
from .lexemes import minify

LENGTHS = ("none", "short", "long")
_EXAMPLE = lexemes.parse(
    '[{"id":1,"state":"open","by":{"login":"ann","bot":false}},{"id":2,"state":"open","by":{"login":"bob","bot":false},"tag":"x"},'
    '{"id":3,"state":"open","by":{"login":"cy","bot":false}}]'
)
_TOON = (
    "TOON nests by indentation. key[N]: a,b is an array of N values. key[N]{x,y}: is an array of N objects with the keys x and y, "
    "one object a line, its values in the order of the keys."
)


def legend(name, length):
    """Returns the legend of a format, or "" where the length is none or the format needs none."""
    if length == "none" or name in ("json", "json-pretty", "yaml", "csv", "markdown"):
        return ""
    if name == "toon":
        return _TOON
    if name in formats.CODEC:
        return formats.legend(name)
    return _of_form(forms.FORMS[name], length)


def _of_form(form, length):
    key = "key" if form.indent else ""
    lines = [f"STC 2 is lossless JSON{' with bare keys' if form.keys == 'bare' else ''}."]
    if form.rows == "positional":
        lines.append(f"{key}[3]{{a,b}}: begins an array of 3 objects; each line after it holds the values of one, in the order of the header.")
    else:
        lines.append(f"{key}[3]{{…}}: begins an array of 3 objects, one a line.")
    if form.rows == "narrow":
        lines.append("A line without braces holds the values in the order of the header.")
    if form.constants != "none":
        lines.append(f"k{form.sign}v in the braces: every one of these objects also has k:v.")
    if form.defaults:
        lines.append(f"k?{form.sign}v: k is v in objects that do not say otherwise.")
    if form.inner == "dotted":
        lines.append("a.b:1 is a:{b:1}.")
    if form.rows == "positional":
        lines.append({"empty": "Empty cell: the object has no such key.", "mark": "- : the object has no such key."}.get(form.missing, ""))
    if form.keyed:
        lines.append(f"{key}{{3}}{{…}}: is an object of 3 members, lines begin with the key.")
    if length == "long":
        example = writer.Writer(form).rows([None] * 3, _EXAMPLE, writer.Writer(form).columns(_EXAMPLE, 0), (), "")
        lines.append(f"\n{example.rstrip()}\nis\n{minify(_EXAMPLE)}")
    return " ".join(line for line in lines if line)
