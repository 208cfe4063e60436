"""Is an answer right? Compares what a model said with the exact answer, and forgives only spelling.

Forgiven are quotes and code marks around the answer, a full stop or comma after it, the case of true, false, null and missing,
whitespace, a repeated "field: " before it, another spelling of the same number, and the escape of a character, as the data may have
it. Anything else is wrong. An answer that is to be written out as JSON is compared as JSON: its members in their order, every number
as it is spelled.
"""
import json
import re
from decimal import Decimal, InvalidOperation

from . import lexemes

_QUOTES = "\"'`“”‘’"
_WORDS = ("true", "false", "null", "missing")
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?")


def is_right(question, given):
    """Returns whether a question's record is answered by a text."""
    right = question["answer"]
    if question["kind"] in ("row", "object"):
        return same_json(fence(given).strip(), right)
    if question["kind"] in ("list", "having"):
        parts = [normal(part) for part in re.split(r",|\n", fence(given).strip().strip("[]")) if part.strip()]
        wanted = [normal(part) for part in right.split(", ")]
        return len(parts) == len(wanted) and all(same(part, want) for part, want in zip(parts, wanted))
    return same(normal(given), normal(right)) or same(normal(without_label(question, given)), normal(right))


def normal(text):
    """Returns a text without the marks around it and with single spaces."""
    text = " ".join(fence(text).split())
    before = None
    while before != text:
        before = text
        text = text.strip().rstrip(".,;").strip()
        if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
            text = text[1:-1]
    return text.strip(_QUOTES)


def fence(text):
    """Returns what stands between the lines of a code fence, or the text itself."""
    found = re.match(r"\s*```\w*\n(.*?)\n?(?:```|$)", text, re.S)
    return found.group(1) if found else text


def without_label(question, text):
    """Returns the text without a leading name of the field that was asked."""
    field = question["path"][-1] if question.get("path") else None
    if not isinstance(field, str):
        return text
    found = re.match(r"\s*[`\"{]*(?:[\w.\-\[\]]*\.)?" + re.escape(field) + r"[`\"]*\s*(?:[:=]|is\b)\s*(.+?)\}?\s*$", text, re.S)
    return found.group(1) if found else text


def same(given, right):
    """Returns whether two normal texts are one answer."""
    if given == right or "\\u" in given and characters(given) == right:
        return True
    if right.lower() in _WORDS:
        return given.lower() == right.lower()
    if _NUMBER.fullmatch(right) and _NUMBER.fullmatch(given.replace(",", "")):
        try:
            return Decimal(given.replace(",", "")) == Decimal(right)
        except InvalidOperation:
            return False
    return False


def characters(text):
    """Returns a text with the characters that its `\\u` escapes stand for; the text itself if it has others."""
    try:
        return json.loads(f'"{text}"')
    except ValueError:
        return text


def same_json(given, right):
    """Returns whether two texts are the same JSON, however its strings are escaped."""
    try:
        return unescaped(lexemes.parse(given)) == unescaped(lexemes.parse(right))
    except (ValueError, RecursionError):
        return False


def unescaped(value):
    """Returns a tree whose strings are marked texts and whose other scalars are their lexemes."""
    if isinstance(value, lexemes.Object):
        return {"members": [(lexemes.body(key), unescaped(member)) for key, member in value.members]}
    if isinstance(value, list):
        return [unescaped(element) for element in value]
    return ("string", lexemes.body(value)) if value.startswith('"') else value
