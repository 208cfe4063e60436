"""STC (STOA Token Compression): JSON as a shorter text that a model reads directly and that decodes to the same JSON.

    >>> import stc
    >>> text = stc.dumps({"issues": [{"id": 1, "state": "open"}, {"id": 2, "state": "open"}]})
    >>> stc.loads(text)
    {'issues': [{'id': 1, 'state': 'open'}, {'id': 2, 'state': 'open'}]}

`encode` and `decode` convert JSON texts, and keep every number's spelling. `dumps` and `loads` convert Python values, as the module
`json` does. Formats: "stc2" (the default), "stc2-labelled", "stc1" and "json"; `decode` reads all of them.
"""

import json as _json
import re as _re
import sys as _sys

if _sys.version_info < (3, 12):
    # Newer versions of Python refuse this themselves. The compiled part has state that one interpreter owns.
    import _xxsubinterpreters

    if _xxsubinterpreters.get_current() != _xxsubinterpreters.get_main():
        raise ImportError("module stc._stc does not support loading in subinterpreters")

from ._error import STCError
from ._stc import FORMATS, Decoder, Encoder, __version__, decode, encode, estimate_tokens, legend

__all__ = [
    "FORMATS",
    "Decoder",
    "Encoder",
    "STCError",
    "__version__",
    "decode",
    "dumps",
    "encode",
    "estimate_tokens",
    "iter_decode",
    "iter_encode",
    "legend",
    "loads",
]

# Without whitespace and with characters as they are: the shortest JSON, and the fastest to write and to read. NaN is not JSON.
_SETTINGS = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
_plain = _json.JSONEncoder(**_SETTINGS).encode
_surrogate = _re.compile("[\\ud800-\\udfff]")


def dumps(obj, format="stc2", *, default=None, cls=None, sort_keys=False):
    """Returns a Python value as STC. Values, `default`, `cls` and `sort_keys` are those of `json.dumps`; NaN is a ValueError."""
    if default is None and cls is None and not sort_keys:
        text = _plain(obj)
    else:
        text = (cls or _json.JSONEncoder)(default=default, sort_keys=sort_keys, **_SETTINGS).encode(obj)
    try:
        return encode(text, format)
    except STCError as error:
        if error.kind != "Utf8":
            raise
        # A lone surrogate has no UTF-8; as the escape \udXXX it is JSON. It is escaped in the text: to write the value again would call
        # `default` twice, which finds an iterator empty the second time.
        return encode(_surrogate.sub(lambda found: f"\\u{ord(found[0]):04x}", text), format)


def loads(text, **keywords):
    """Returns the Python value of STC in any format, or of JSON. Keywords are those of `json.loads`."""
    return _json.loads(decode(text), **keywords)


def iter_encode(chunks, format="stc2", **limits):
    """Encodes a document that arrives in chunks; yields bytes as soon as they are certain ("stc1") or at the end (all others)."""
    encoder = Encoder(format, **limits)
    for chunk in chunks:
        if part := encoder.push(chunk):
            yield part
    if part := encoder.finish():
        yield part


def iter_decode(chunks, **limits):
    """Decodes a document that arrives in chunks; yields bytes of JSON as soon as they are certain."""
    decoder = Decoder(**limits)
    for chunk in chunks:
        if part := decoder.push(chunk):
            yield part
    if part := decoder.finish():
        yield part
