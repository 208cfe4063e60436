"""The STC plugin and ContextForge's own TOON plugin, called directly: compare.py STC WORK FILE...

Prints the tokens of all texts after each plugin (o200k_base, counted by the command line) and the time of a call of the hook. WORK has
plugins/toon_encoder. A text that a plugin leaves alone counts as it is.
"""

import asyncio
import json
import logging
import pathlib
import statistics
import subprocess
import sys
import time

from cpex.framework import PluginConfig, ToolPostInvokePayload

from stc.contextforge import Plugin

ROUNDS = 5


def tokens(stc, texts):
    """Tokens of all texts, as results of tools in a request, before anything is done to them."""
    messages = []
    for number, text in enumerate(texts):
        call = {"id": str(number), "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": text})
    command = [stc, "context", "--api", "openai-chat", "--json"]
    body = json.dumps({"model": "m", "messages": messages})
    done = subprocess.run(command, input=body, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["total"]["o200k"][0]


def config(kind, settings):
    return PluginConfig(name="x", kind=kind, hooks=["tool_post_invoke"], mode="transform", config=settings)


async def converted(plugin, text):
    """The text after the plugin, and the seconds of the call."""
    result = {"content": [{"type": "text", "text": text}], "isError": False}
    payload = ToolPostInvokePayload(name="document", result=result)
    began = time.perf_counter()
    answer = await plugin.tool_post_invoke(payload, None)
    took = time.perf_counter() - began
    changed = answer.modified_payload
    return (changed.result["content"][0]["text"] if changed else text), took


def main(stc, work, *paths):
    sys.path.append(work)
    logging.disable(logging.WARNING)
    from plugins.toon_encoder.toon_encoder import ToonEncoderPlugin

    plugins = {"STC": Plugin(config("stc.contextforge.Plugin", {})), "TOON": ToonEncoderPlugin(config("toon", {}))}
    texts = [pathlib.Path(path).read_bytes().decode() for path in sorted(paths)]
    times, after = {name: [] for name in plugins}, {}
    for _ in range(ROUNDS):
        for name, plugin in plugins.items():
            answers = [asyncio.run(converted(plugin, text)) for text in texts]
            after[name] = [text for text, _ in answers]
            times[name].append(sum(took for _, took in answers))
    size, given = sum(len(text.encode()) for text in texts), tokens(stc, texts)
    print(f"\n{len(texts)} files of the corpus, {size} bytes, as results of a tool; {ROUNDS} rounds in turns\n")
    print("| plugin | texts changed | o200k tokens | of the JSON's | milliseconds for all texts |\n|---|---|---|---|---|")
    print(f"| none | 0 | {given:,} | 1.00 | |")
    for name in plugins:
        changed = sum(new != old for new, old in zip(after[name], texts))
        count = tokens(stc, after[name])
        print(f"| {name} | {changed} | {count:,} | {count / given:.2f} | {statistics.median(times[name]) * 1e3:.1f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
