#!/usr/bin/env python3
"""Tokens of the JSON files of a folder as tool results, relative to minified JSON.

    table.py STC FOLDER [MODEL]

STC is the command `stc`, MODEL the name of the model that the requests are for: without one it is `m`, which is unknown. Each file of 1 KiB to 1 MiB goes, minified, as the only result of a request; then all files of 1 to 64 KB go
in one request. Beside each figure is that of the format itself (`stc stats`), which encodes every file whether or not that
saves anything. Fails if a request has more tokens than its minified JSON, if a text does not come back, or if a
prepared request is worse than the format by more than 0.02 on average, or by more than 0.01 in the one request. All tokens are of o200k.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

STC, FOLDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
MODEL = sys.argv[3] if len(sys.argv) > 3 else "m"


def stc(*words, given=b"", fails=False):
    done = subprocess.run([str(STC), *map(str, words)], input=given, capture_output=True)
    if done.returncode != 0 and not fails:
        raise SystemExit(f"stc {words[0]}: {done.stderr.decode()}")
    return done.stdout if done.returncode == 0 else None


def chat(texts):
    rows = [{"role": "user", "content": "Summarise."}]
    for number, text in enumerate(texts):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
        rows.append({"role": "assistant", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    return json.dumps({"model": MODEL, "messages": rows}, ensure_ascii=False).encode()


def prepared(texts):
    """Returns the tokens before and after, by text, and the statuses; and who reads."""
    body = chat(texts)
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.json"
        report = json.loads(stc("context", "--json", "--api", "openai-chat", "--out", prepared, given=body))
        back = json.loads(stc("context", "--back", "--api", "openai-chat", prepared))
    returned = [row["content"] for row in back["messages"] if row["role"] == "tool"]
    assert returned == texts, "a text does not come back"
    return report["results"], report["reader"]


def main():
    files = sorted(path for path in FOLDER.rglob("*.json") if 1024 <= path.stat().st_size <= 1 << 20)
    rows, small = [], []
    _, reader = prepared(["[]"])
    form = reader["format"].replace("-", "_")
    print(f"{MODEL}: a {reader['level']} reader by {reader['by']}, {reader['format']}")
    for path in files:
        minified = stc("encode", "--format", "json", path, fails=True)
        if minified is None:
            print(f"{path.name}: not JSON, left out")
            continue
        text = minified.decode()
        ((result,), _) = prepared([text])
        total = json.loads(stc("stats", "--json", path))["total"]
        json_tokens, format_tokens = total["minified"]["o200k"], total[form]["o200k"]
        before, after = result["o200k"]
        rows.append((path.name, before, after, format_tokens, result["status"]))
        if path.stat().st_size <= 64 << 10:
            small.append((text, format_tokens))
        assert json_tokens == before, (path, json_tokens, before)
    print(f"{'file':40} {'minified':>9} {'prepared':>9} {'format':>9} {'ratio':>6} {'format':>6}  status")
    for name, before, after, own, status in rows:
        print(f"{name[:40]:40} {before:9,} {after:9,} {own:9,} {after / before:6.3f} {own / before:6.3f}  {status}")
    mean = sum(after / before for _, before, after, *_ in rows) / len(rows)
    of_format = sum(own / before for _, before, _, own, _ in rows) / len(rows)
    worst = max(after / before for _, before, after, *_ in rows)
    results, _ = prepared([text for text, _ in small])
    before, after = (sum(result["o200k"][side] for result in results) for side in (0, 1))
    own = sum(tokens for _, tokens in small)
    print(f"\n{len(rows)} requests of one result: mean {mean:.4f}, format {of_format:.4f}; worst {worst:.4f}")
    print(f"one request of {len(small)} results: {after:,} of {before:,} tokens, {after / before:.4f}; format {own / before:.4f}")
    assert worst <= 1.0, f"a request has more tokens than its minified JSON: {worst:.4f}"
    assert mean <= of_format + 0.02, (mean, of_format)
    assert after / before <= own / before + 0.01, (after / before, own / before)


main()
