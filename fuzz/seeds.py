"""Writes the first inputs of every target: the vectors, and shortened tool responses of corpus/made.

`seeds.py FOLDER` writes FOLDER/TARGET/seed-NUMBER. Targets whose input is choices start without seeds: any bytes are a
document there.
"""

import json
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 900


def vectors(names, field):
    for name in names:
        for case in json.loads((ROOT / "grammar/vectors" / f"{name}.json").read_text())["cases"]:
            if field in case:
                yield case[field].encode()
            elif f"{field}_hex" in case:
                yield bytes.fromhex(case[f"{field}_hex"])


def shortened(value, longest):
    if isinstance(value, list):
        return [shortened(element, longest) for element in value[:longest]]
    if isinstance(value, dict):
        return {key: shortened(member, longest) for key, member in list(value.items())[: 4 * longest]}
    return value[:80] if isinstance(value, str) else value


def made():
    for path in sorted((ROOT / "corpus/made").glob("*.json")):
        text = path.read_bytes()
        if len(text) > LONGEST:
            value = json.loads(text)
            # With and without whitespace.
            spacing = {"indent": 1} if len(text) % 2 else {"separators": (",", ":")}
            texts = (json.dumps(shortened(value, rows), **spacing).encode() for rows in (3, 2, 1))
            text = next((text for text in texts if len(text) <= LONGEST), None)
        if text is not None:
            yield text


def requests():
    """Small requests to models, by API."""
    rows = json.dumps([{"id": number, "state": "open"} for number in range(3)])
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    chat = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": rows}]
    parts = [{"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": rows}]}] * 2
    items = [{"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}]
    items.append({"type": "function_call_output", "call_id": "c", "output": rows})
    blocks = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": rows, "is_error": False}]}]
    yield 0, {"messages": chat, "_stc": {"mode": "lossless"}}
    yield 0, {"_forge": {"x": 1, "tool_output_compression": "on"}, "messages": parts}
    yield 1, {"input": items}
    yield 2, {"messages": blocks, "_stc": {"format": "stc2", "dedup": True}}


def secrets():
    """Examples of the rules for secrets, with gaps that the target fills."""
    rules = tomllib.loads((ROOT / "crates/stc-redact/src/rules.toml").read_text())["rule"]
    yield from (rule[example].encode() for rule in rules for example in ("hit", "miss"))


def passages():
    """Short texts whose passages repeat when the target repeats them."""
    yield "/usr/local/lib/python3.11/site-packages/requests/api.py\n".encode()
    yield "error: cannot find value\n  in this function\n\n".encode()
    yield "«1» = «» ‹2› ⟦3⟧ ¤1¤ and the same words again\n".encode()


def paths():
    yield b"/admin/keys\n/%61dmin/keys\n/admin%2fkeys\n//admin\n/x/../admin\n/x/%2e%2E/admin\n/admin;x/keys\n/a%3ab:c"
    yield "/%2561%25%36%31\n/x\\..\\admin\n/a%00\n/admin.%20/keys\n/%c0%af\n/caf\u00e9/caf%c3%a9\n/..;/a?b#c\n/100%25\n/\"{|}~!$&'()*+,;=@".encode()


def main():
    folder = pathlib.Path(sys.argv[1])
    texts = [*vectors(["encode", "decode", "reject-json"], "json"), *made()]
    both = [*texts, *vectors(["encode", "decode", "reject"], "stc")]
    cuts = [bytes([64, 1, 1]), bytes([10, 20, 30]), bytes([1, 63, 0]), bytes([0, 0, 0])]

    # A first byte chooses the setting, and in `chunked` from 128 on also another way to cut: all of them in turn.
    def first(number):
        return bytes([(number + number % 2 * 128) % 256])

    seeds = {
        # The first byte chooses the API and the settings.
        "context_request": [
            bytes([api + 4 * settings, 0]) + json.dumps(request, separators=(",", ":")).encode()
            for api, request in requests()
            for settings in range(4)
        ],
        "dictionary": [bytes([choice]) + text for text in passages() for choice in (0, 16, 32, 35)],
        "path": list(paths()),
        "budget": [bytes([choice, 1]) + text for text in passages() for choice in (2, 3, 7, 10)],
        "redact": [bytes([number % 4]) + text for number, text in enumerate(secrets())],
        "roundtrip": texts,
        "decode": both,
        "chunked": [first(number) + cuts[number // 2 % len(cuts)] + text for number, text in enumerate(both)],
        "kernels": [first(number) + text for number, text in enumerate(both)],
        "reuse": [first(at // 3) + b"\xff".join(both[at : at + 3]) for at in range(0, len(both), 3)],
        "reference": [b"\0" + text for text in both],
    }
    for target, files in seeds.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(files):
            (folder / target / f"seed-{number}").write_bytes(text)


main()
