#!/usr/bin/env python3
"""LiteLLM's proxy with its guardrail `headroom` pointed at the gateway's /v1/compress.

    litellm_guardrail.py WORK GATEWAY

    client -> LiteLLM -> hop -> aimock
                 |
                 +-> hop -> gateway, a path with `compress = true`

A chat with the results of two calls must get through; the earlier result must reach the model as STC 2 (LiteLLM withholds the
latest exchange from guardrails), and the gateway must report saved tokens.
"""

import json
import os
import secrets
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import bodies
import conversation
import matrix


# LiteLLM starts with a strong key only.
KEY = "sk-" + secrets.token_hex(24)


def post(url, body):
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    return json.load(urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60))


def main():
    work = matrix.WORK
    folder = Path(tempfile.mkdtemp())
    model = matrix.hop(matrix.aimock(), folder / "model")
    _, gateway = matrix.gateway(model, '[[routes]]\npath = "/v1/compress"\ncompress = true\n')
    compress = matrix.hop(gateway, folder / "compress")
    saved = post(f"{gateway}/v1/compress", {"messages": conversation.chat(2)})["tokens_saved"]
    assert saved > 0, saved
    config = folder / "litellm.json"
    config.write_text(
        json.dumps(
            {
                "model_list": [
                    {"model_name": "sample", "litellm_params": {"model": "openai/gpt-4o", "api_base": f"{model}/v1", "api_key": "none"}}
                ],
                "guardrails": [
                    {
                        "guardrail_name": "stc",
                        "litellm_params": {"guardrail": "headroom", "mode": "pre_call", "api_base": compress, "default_on": True},
                    }
                ],
            }
        )
    )
    port = matrix.free_port()
    log = (work / "litellm.log").open("w")
    command = [work / "litellm/bin/litellm", "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "LITELLM_MASTER_KEY": KEY}
    proxy = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=environment)
    matrix.STARTED.append(proxy)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/health/liveliness", timeout=1)
            break
        except OSError:
            if proxy.poll() is not None:
                raise SystemExit(f"LiteLLM ended; see {work / 'litellm.log'}")
            time.sleep(0.2)
    else:
        raise SystemExit(f"LiteLLM does not answer; see {work / 'litellm.log'}")
    rows = conversation.chat(2)
    answer = post(f"{url}/v1/chat/completions", {"model": "sample", "messages": rows})
    assert answer["choices"][0]["message"]["content"] == conversation.ANSWER, answer
    asked = matrix.recorded(folder / "compress")
    assert asked and asked[0][0].startswith("POST /v1/compress"), "the guardrail did not ask"
    _, texts = bodies.texts(matrix.recorded(folder / "model")[-1][1])
    values = [value for _, _, value in texts]
    assert len(values) == 2 and values[1] == conversation.TEXT and values[0] != conversation.TEXT, [len(value) for value in values]
    assert json.loads(bodies.stc_reference.decode(values[0].encode())) == conversation.ROWS
    print(f"LiteLLM, guardrail headroom: the chat got through; the first of two results went as STC 2; tokens_saved {saved}")


try:
    main()
finally:
    for process in matrix.STARTED:
        process.kill()
