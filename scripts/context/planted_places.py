"""Every place and wrapping of a text in a request: which of them reach an upstream, and with what.

A place is the path and the body of a request of an API; a wrapping is how that request is sent. Where redaction is required a request is
answered with status 200 and nothing of a secret is in its body at the upstream, or with 502 and it is not sent; where it is on and not
required, a body that has a secret is counted in the answer's `X-STC-Context`. Responses and streams have places of their own.
"""

import gzip
import json
import zlib

CHAT, RESPONSES, MESSAGES = "v1/chat/completions", "v1/responses", "v1/messages"
GEMINI, BEDROCK, OLLAMA = "v1beta/models/m:generateContent", "model/m/converse", "api/chat"
JSON = {"content-type": "application/json"}


def places(text):
    """Returns the name, the path and the body of a request with the text in each place."""
    string = json.dumps({"deep": {"command": text}})
    middle = len(text) // 2
    parts = [{"type": "text", "text": text[:middle]}, {"type": "text", "text": text[middle:]}]
    bare = [{"text": part["text"]} for part in parts]

    def message(role, content, **more):
        return {"model": "m", "messages": [{"role": role, "content": content, **more}]}

    for path in (CHAT, OLLAMA):
        for role in ("system", "developer", "user", "assistant", "tool", "Tool"):
            yield f"{role}", path, message(role, text)
        yield "tool in two parts", path, message("tool", parts, tool_call_id="c")
        yield "user in two parts", path, message("user", parts)
        yield "refusal", path, message("tool", [{"type": "refusal", "refusal": text}])
        yield "old call", path, message("assistant", None, function_call={"name": "x", "arguments": string})
        yield "call", path, message("assistant", None, tool_calls=[{"id": "c", "type": "function", "function": {"name": "x", "arguments": string}}])
        yield "tool's description", path, {**message("user", "x"), "tools": [{"type": "function", "function": {"name": "x", "description": text}}]}
        yield "unknown member", path, {**message("user", "x"), "unknown": [[{"x": [None, {"y": text}]}]]}
        yield "key", path, {**message("user", "x"), "unknown": {text: 1}}
    for item in (
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": text, "stderr": "", "outcome": {"type": "exit"}}]},
        {"type": "local_shell_call_output", "id": "c", "output": string},
        {"type": "apply_patch_call_output", "call_id": "c", "output": text},
        {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "create_file", "diff": text}},
        {"type": "mcp_call", "id": "c", "name": "n", "arguments": string, "output": text},
        {"type": "code_interpreter_call", "id": "c", "code": text, "outputs": [{"type": "logs", "logs": text}]},
        {"type": "shell_call", "call_id": "c", "action": {"commands": [text]}},
        {"type": "custom_tool_call", "call_id": "c", "name": "x", "input": text},
        {"type": "function_call_output", "call_id": "c", "output": [{**part, "type": "input_text"} for part in parts]},
        {"role": "user", "content": [{"type": "input_text", "text": text}]},
    ):
        yield item.get("type", "message"), RESPONSES, {"model": "m", "input": [item]}
    yield "instructions", RESPONSES, {"instructions": text, "input": text}
    yield "items", "v1/conversations/c/items", {"items": [{"type": "function_call_output", "call_id": "c", "output": text}]}
    yield "outputs of a run", "v1/threads/t/runs/r/submit_tool_outputs", {"tool_outputs": [{"tool_call_id": "c", "output": text}]}
    for block in (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}},
        {"type": "document", "source": {"type": "content", "content": parts}},
        {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": text}]},
        {"type": "unknown", "unknown": text},
    ):
        result = {"type": "tool_result", "tool_use_id": "t", "content": [block]}
        yield f"{block['type']} in a result", MESSAGES, message("user", [result])
        yield block["type"], MESSAGES, message("user", [block])
    yield "result in two parts", MESSAGES, message("user", [{"type": "tool_result", "tool_use_id": "t", "content": parts}])
    yield "system in two parts", MESSAGES, {**message("user", "x"), "system": parts}
    ran = {"type": "bash_code_execution_tool_result", "tool_use_id": "t", "content": {"type": "bash_code_execution_result", "stdout": text}}
    yield "code execution", MESSAGES, message("assistant", [ran])
    batch = {"requests": [{"custom_id": "a", "params": message("user", text)}]}
    yield "batch", "v1/messages/batches", batch
    yield "rawPredict", "v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict", {"anthropic_version": "v", **message("user", text)}
    yield "invoke", "model/m/invoke", {"anthropic_version": "v", **message("user", text)}
    yield "invoke of another model", "model/m/invoke", {"prompt": text}
    for part in (
        {"functionResponse": {"name": "x", "response": {"ok": 1}, "parts": [{"inlineData": {"mimeType": "text/plain", "displayName": text}}]}},
        {"function_response": {"name": "x", "response": {"rows": [text]}}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": text}},
        {"executableCode": {"code": text}},
        {"text": text},
    ):
        yield next(iter(part)), GEMINI, {"contents": [{"role": "user", "parts": [part]}]}
        yield f"{next(iter(part))}, no lists", GEMINI, {"contents": {"role": "user", "parts": part}}
    yield "two parts", GEMINI, {"contents": [{"role": "user", "parts": bare}]}
    yield "Gemini's batch", "v1beta/models/m:batchGenerateContent", {"batch": {"requests": [{"request": {"contents": [{"parts": [{"text": text}]}]}}]}}
    for block in (
        {"text": text},
        {"json": {"rows": [text]}},
        {"document": {"format": "txt", "name": "d", "source": {"text": text}}},
        {"searchResult": {"source": "s", "title": "t", "content": [{"text": text}]}},
    ):
        yield f"Bedrock's {next(iter(block))}", BEDROCK, message("user", [{"toolResult": {"toolUseId": "t", "content": [block]}}])
    yield "Bedrock's two parts", BEDROCK, message("user", bare)


def wrappings(body):
    """Returns the name, the method, the headers and the bytes of each way to send a body, and whether it can be looked through."""
    plain = json.dumps(body).encode()
    raw = json.dumps(body, ensure_ascii=False).encode()
    yield "plain", "POST", JSON, plain, True
    yield "without escapes", "POST", JSON, raw, True
    yield "no type", "POST", {}, plain, True
    yield "text/json", "POST", {"content-type": "text/json"}, plain, True
    yield "+json", "POST", {"content-type": "application/vnd.api+json"}, plain, True
    yield "PUT", "PUT", JSON, plain, True
    yield "PATCH", "PATCH", JSON, plain, True
    yield "DELETE", "DELETE", JSON, plain, True
    yield "gzip", "POST", {**JSON, "content-encoding": "gzip"}, gzip.compress(plain), True
    yield "bypass", "POST", {**JSON, "x-stc-bypass": "true", "x-stc-mode": "disabled"}, plain, None
    yield "gzip without a label", "POST", JSON, gzip.compress(plain), False
    yield "gzip twice", "POST", {**JSON, "content-encoding": "gzip, gzip"}, gzip.compress(gzip.compress(plain)), False
    yield "deflate", "POST", {**JSON, "content-encoding": "deflate"}, zlib.compress(plain), False
    yield "text/plain", "POST", {"content-type": "text/plain"}, plain, False
    yield "octet-stream", "PUT", {"content-type": "application/octet-stream"}, plain, False
    yield "UTF-16", "POST", {"content-type": "application/json; charset=utf-16"}, json.dumps(body).encode("utf-16"), False
    yield "UTF-16 without a label", "POST", JSON, json.dumps(body).encode("utf-16-le"), False
    yield "byte order mark", "POST", JSON, b"\xef\xbb\xbf" + plain, False
    yield "signed", "POST", {**JSON, "authorization": "AWS4-HMAC-SHA256 x"}, plain, False
    yield "digest", "POST", {**JSON, "content-digest": "sha-256=:x:"}, plain, False
    yield "two documents", "POST", JSON, plain + plain, False
    yield "two types", "POST", {"content-type": "text/plain, application/json"}, plain, False
    yield "a lone surrogate", "POST", JSON, plain[:-1] + b', "x": "\\ud800"}', False


def drive(url, texts, received, found_in, parts_of):
    """Sends texts in every place and wrapping to the routes and plugins at `url`, four addresses by name. Returns the number of
    requests that were sent to the upstream, and of those that were not; fails if one has a part of a secret and is not counted."""
    counts = {name: [0, 0, 0] for name in url}
    texts = iter(texts)
    first = next(texts)
    for number, (place, path, _) in enumerate(list(places(first["text"]))):
        row = next(texts)
        body = list(places(row["text"]))[number][2]
        for name, send in url.items():
            for way, method, headers, data, can_be_read in wrappings(body):
                received.clear()
                status, answered = send(method, path, headers, data)
                what = (name, place, way, row["rule"], row["text"], status)
                left = set()
                for sent in received:
                    for decode in (gzip.decompress, zlib.decompress, bytes):
                        try:
                            sent = decode(sent)
                        except (OSError, zlib.error):
                            pass
                    sent = sent.decode("utf-16", "replace").encode() if b"\0" in sent else sent
                    left |= found_in([sent], parts_of(row["secrets"]))
                if "required" in name:
                    assert status in (200, 502) and len(received) == (status == 200), what
                    assert not left, (what, sorted(left)[:3])
                    # Places whose meaning is ambiguous are refused too.
                    assert can_be_read is not False or status == 502, what
                    counts[name][0 if status == 200 else 1] += 1
                else:
                    assert status == 200 and len(received) == 1, what
                    counted = "unsearched=" in answered
                    assert not left or counted or way == "bypass" or name.startswith("plugin"), (what, answered, sorted(left)[:3])
                    assert not can_be_read or not left, (what, sorted(left)[:3])
                    counts[name][2 if left else 0] += 1
    return counts
