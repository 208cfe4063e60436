"""Which texts the adapters encode: JSON containers that become shorter."""

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ._error import STCError
from ._stc import FORMATS, encode, estimate_tokens, tool_family

if TYPE_CHECKING:
    from ._stc import StcFormat

# The identifier of the MCP extension, and the key of the mark on a block or a message.
EXTENSION = "io.stoa/stc"
# Shorter texts stay as they are.
MIN_BYTES = 128
# Families of tools whose results stay: an agent that edits a file copies from what it has read.
SKIP_TOOLS = ("read", "edit", "write")
_WRITTEN = tuple(format for format in FORMATS if format != "json")
# What became of formats that had these names before.
_BEFORE = {"stc2-refs": "stc2-refs is now stc2", "stc2-dense": "stc2-dense is part of stc2"}


def checked_format(format: "StcFormat") -> "StcFormat":
    """Returns a format that the adapters write: not "json", which is what texts are without them, and would be marked as STC."""
    if format not in _WRITTEN:
        raise ValueError(_BEFORE.get(format, f"format {format!r} is not one of {', '.join(_WRITTEN)}"))
    return format


def shorter(text: str, format: "StcFormat" = "stc2", min_bytes: int = MIN_BYTES) -> str | None:
    """Returns a JSON object or array as STC, or None for texts that stay: not JSON, too short, or not shorter as STC."""
    checked_format(format)
    if text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return None
    try:
        given = text.encode()
        if len(given) < min_bytes:
            return None
        encoded = encode(given, format)
    except (STCError, UnicodeEncodeError):
        return None
    if len(encoded.encode()) >= len(given) or estimate_tokens(encoded) > estimate_tokens(given):
        return None
    return encoded


def is_skipped(tool: str | None, skip_tools: Iterable[str]) -> bool:
    """Whether the results of a tool stay: `skip_tools` has its family, its name or a pattern with `*` that fits.

    With any entry, results of a tool whose name is not known stay too: it may be one that is skipped.
    """
    entries = list(skip_tools)
    if not tool:
        return bool(entries)
    family = tool_family(tool)
    return any(entry == family or fnmatchcase(tool, entry) for entry in entries)


def is_program(caller: Any) -> bool:
    """Whether a caller is anything but the model. What a program parses stays as it came."""
    return caller is not None and not (isinstance(caller, Mapping) and caller.get("type") == "direct")


def may_be_programs(callers: Any) -> bool:
    """Whether programs may call a tool, by its list of allowed callers."""
    return callers is not None and (isinstance(callers, str) or list(callers) != ["direct"])


def as_text(value: Any) -> str | None:
    """Returns what a tool returned as text: a str unchanged, every other value as JSON, by pydantic's rules; None if it has no JSON."""
    if isinstance(value, str):
        return value
    # Not needed for `import stc`; the libraries whose tools return values depend on it.
    from pydantic_core import to_json

    try:
        return to_json(value).decode()
    except (TypeError, ValueError):
        return None


def elements(text: str) -> list[str]:
    """Returns the elements of a minified JSON array as texts, spelled as they are."""
    found, at, read = [], 1, json.JSONDecoder().raw_decode
    while text[at : at + 1] not in ("]", ""):
        _, end = read(text, at)
        found.append(text[at:end])
        at = end + (text[end] == ",")
    return found
