"""The bodies of requests, compared byte by byte outside the texts of tool results."""

import json
from json.decoder import scanstring
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "grammar" / "reference" / "python"))
import stc_reference  # noqa: E402  an independent reader of the format


def texts(body):
    """Returns (start, end, value) of every text of a tool result in a request of any of the six APIs."""
    text = body.decode()
    found = []

    def skip(at):
        while text[at] in " \t\r\n":
            at += 1
        return at

    def read(at):
        """Returns the value at `at` as (kind, start, end, value); objects are dicts of those, arrays lists."""
        at = skip(at)
        if text[at] == '"':
            value, end = scanstring(text, at + 1)
            return ("text", at, end, value)
        if text[at] in "{[":
            is_object, start, members = text[at] == "{", at, []
            at = skip(at + 1)
            while text[at] not in "}]":
                key = None
                if is_object:
                    key, at = scanstring(text, at + 1)
                    at = skip(at) + 1
                value = read(at)
                members.append((key, value))
                at = skip(value[2])
                if text[at] == ",":
                    at = skip(at + 1)
            return ("object" if is_object else "array", start, at + 1, dict(members) if is_object else [value for _, value in members])
        end = at
        while end < len(text) and text[end] not in ",]} \t\r\n":
            end += 1
        return ("other", at, end, text[at:end])

    def content(value):
        if value[0] == "text":
            found.append(value[1:])
        for part in value[3] if value[0] == "array" else []:
            if part[3]["type"][3] in ("text", "input_text"):
                found.append(part[3]["text"][1:])

    def is_(value, key, *names):
        return value[0] == "object" and key in value[3] and value[3][key][3] in names

    whole = read(0)[3]
    rows = whole.get("messages") or whole.get("input") or whole.get("contents") or ("array", 0, 0, [])
    for row in rows[3] if rows[0] == "array" else []:
        if is_(row, "role", "tool", "function"):
            content(row[3]["content"])
        elif is_(row, "type", "function_call_output", "custom_tool_call_output"):
            content(row[3]["output"])
        elif row[0] == "object" and row[3].get("content", ("",))[0] == "array":
            for block in row[3]["content"][3]:
                if is_(block, "type", "tool_result") and "content" in block[3]:
                    content(block[3]["content"])
                # A block of Bedrock counts as a whole: a document becomes a text.
                for part in block[3]["toolResult"][3]["content"][3] if "toolResult" in block[3] else []:
                    ((key, value),) = part[3].items()
                    found.append((part[1], part[2], value[3] if key == "text" else text[value[1] : value[2]]))
        elif row[0] == "object" and "parts" in row[3]:
            for part in row[3]["parts"][3]:
                if "functionResponse" in part[3]:
                    content(part[3]["functionResponse"][3]["response"][3]["output"])
    # Offsets are of characters, as the text is.
    return text, found


def compare(before, after):
    """Returns the number of texts that changed; fails if anything else did, or if a changed text is not what came."""
    (one, came), (two, went) = texts(before), texts(after)
    assert len(came) == len(went), "a text is missing"
    blank = lambda text, found: "\0".join(text[a:b] for a, b in zip([0] + [end for _, end, _ in found], [start for start, _, _ in found] + [len(text)]))
    assert blank(one, came) == blank(two, went), "bytes outside the tool results differ"
    changed = 0
    for (_, _, old), (_, _, new) in zip(came, went):
        if old == new:
            continue
        changed += 1
        back = stc_reference.decode(new.encode())
        assert json.loads(back) == json.loads(old), "a text does not decode to what came"
    return changed


def end_of_rows(body):
    """Returns the end of the last message in a body, in characters."""
    text = body.decode()
    key = '"messages":' if '"messages":' in text else '"input":'
    at = text.index(key) + len(key)
    _, end = json.JSONDecoder().raw_decode(text, at + (text[at] == " "))
    return text, end - 1
