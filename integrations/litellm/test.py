"""STC in LiteLLM's proxy, for real: test.py STC VENV WORK

STC is the command, VENV a virtual environment with LiteLLM and stc-codec, WORK an empty folder. Two proxies, with and without the
callback (config.yaml and stc_callback.py as they are, with other addresses), send requests to a provider that keeps them. Every text
of a tool result has to be what `stc context` makes of the same request.
"""

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402
from provider import Provider  # noqa: E402

# LiteLLM starts with a strong key only.
KEY = "sk-" + secrets.token_hex(24)
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
# What config.yaml has behind the names of the requests.
MODELS = {"sample": "openai/gpt-4o", "sample-anthropic": "anthropic/claude-sonnet-4-5"}
PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}


def chat(texts):
    messages = [{"role": "user", "content": "How many?"}]
    for number, text in enumerate(texts):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "list", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    return {"model": "sample", "messages": messages}


def responses(texts):
    items = [{"role": "user", "content": "How many?"}]
    for number, text in enumerate(texts):
        items.append({"type": "function_call", "call_id": f"call_{number}", "name": "list", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"call_{number}", "output": text})
    return {"model": "sample", "input": items}


def anthropic(texts):
    messages = [{"role": "user", "content": "How many?"}]
    for number, text in enumerate(texts):
        messages.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"call_{number}", "name": "list", "input": {}}]})
        block = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": [{"type": "text", "text": text}]}
        messages.append({"role": "user", "content": [block]})
    return {"model": "sample-anthropic", "max_tokens": 10, "messages": messages}


REQUESTS = {"openai-chat": chat, "openai-responses": responses, "anthropic": anthropic}


def results(api, body):
    """The texts of tool results in a request."""
    request = json.loads(body)
    if api == "openai-chat":
        return [message["content"] for message in request["messages"] if message["role"] == "tool"]
    if api == "openai-responses":
        return [item["output"] for item in request["input"] if item.get("type") == "function_call_output"]
    blocks = [block for message in request["messages"] if isinstance(message["content"], list) for block in message["content"]]
    contents = [block["content"] for block in blocks if block["type"] == "tool_result"]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


def by_the_command(stc, api, request, work):
    """What the command line makes of the same request."""
    out = work / "prepared.json"
    command = [stc, "context", "--api", api, "--model", MODELS[request["model"]], "--out", out]
    subprocess.run(command, input=json.dumps(request).encode(), capture_output=True, check=True)
    return results(api, out.read_bytes())


def sent(provider, port, api, request, headers=None):
    """Status of the proxy, and the texts that the provider received."""
    provider.received.clear()
    status, _, answer = host.get(port, PATHS[api], "POST", json.dumps(request), {**HEADERS, **(headers or {})})
    body = provider.received.get(PATHS[api])
    return status, answer, body


def cells(cells, stc, provider, plain, with_stc, work):
    texts = [document.decode() for document in host.documents().values()]
    for api, request in REQUESTS.items():
        status, answer, body = sent(provider, plain, api, request(texts))
        cells.check(status == 200 and results(api, body) == texts, f"{api}: without the callback: {status} {answer[:500]}")
        status, answer, body = sent(provider, with_stc, api, request(texts))
        cells.check(status == 200, f"{api}: {status} {answer[:1000]}")
        got, expected = results(api, body), by_the_command(stc, api, request(texts), work)
        cells.check(len(got) == len(texts), f"{api}: {len(got)} results of {len(texts)}")
        for number, text in enumerate(expected):
            cells.check(got[number] == text, f"{api}: result {number}: other bytes than the command line")
        cells.check(sum(new != old for new, old in zip(got, texts)) > len(texts) // 3, f"{api}: hardly a text changed")
        # A longer conversation begins with the bytes of the shorter one.
        _, _, shorter = sent(provider, with_stc, api, request(texts[:20]))
        cells.check(results(api, shorter) == got[:20], f"{api}: the texts of earlier turns changed")
        options(cells, provider, with_stc, api, request, texts[:3] + [texts[-1]])


def options(cells, provider, port, api, request, texts):
    given = {**request(texts), "_stc": "disabled"}
    status, answer, body = sent(provider, port, api, given)
    cells.check(status == 200 and results(api, body) == texts and b"_stc" not in body, f"{api}: _stc disabled: {status} {answer[:500]}")
    status, answer, body = sent(provider, port, api, {**request(texts), "_stc": "no such mode"})
    cells.check(status == 400 and b"_stc" in answer and body is None, f"{api}: a wrong option: {status} {answer[:500]}")
    status, _, body = sent(provider, port, api, request(texts), {"X-STC-Bypass": "true"})
    cells.check(status == 200 and results(api, body) == texts, f"{api}: X-STC-Bypass")


@contextlib.contextmanager
def proxy(venv, work, name, provider, has_callback):
    folder = work / name
    folder.mkdir()
    config = (HERE / "config.yaml").read_text()
    address = f"http://127.0.0.1:{provider.server_port}"
    for before, after in [
        ("https://api.openai.com/v1", f"{address}/v1"), ("https://api.anthropic.com", address),
        ("os.environ/OPENAI_API_KEY", "none"), ("os.environ/ANTHROPIC_API_KEY", "none"),
    ]:
        assert config.count(before) == 1, before
        config = config.replace(before, after)
    if not has_callback:
        config = config[: config.index("litellm_settings:")]
    (folder / "config.yaml").write_text(config)
    shutil.copy(HERE / "stc_callback.py", folder)
    port = host.free_port()
    command = [venv / "bin/litellm", "--config", folder / "config.yaml", "--host", "127.0.0.1", "--port", port, "--num_workers", "1"]
    settings = {**os.environ, "LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    with host.program(command, work / f"{name}.log", port, "/health/liveliness", 300, cwd=folder, env=settings) as process:
        yield port, process


def main(stc, venv, work):
    work, venv = pathlib.Path(work).resolve(), pathlib.Path(venv).absolute()
    provider = Provider()
    with proxy(venv, work, "plain", provider, False) as plain, proxy(venv, work, "stc", provider, True) as with_stc:
        counted = host.Cells("litellm", [work / "stc.log"])
        cells(counted, stc, provider, plain[0], with_stc[0], work)
        request = json.dumps(chat([host.documents()["issues.json"].decode()]))
        ways = [host.Way(name, port, PATHS["openai-chat"], HEADERS, request) for name, (port, _) in {"plain": plain, "stc2-labelled": with_stc}.items()]
        measured = host.costs(ways, work, [process.pid for _, process in (plain, with_stc)], host.SLOW)
    host.report("LiteLLM", counted.passed, f"a chat of {len(request)} bytes", measured)


if __name__ == "__main__":
    main(*sys.argv[1:])
