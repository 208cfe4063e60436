"""stc.litellm with stand-ins for LiteLLM and FastAPI: which calls are prepared, and which are refused."""

import asyncio
import json
import sys
import types
import unittest

import stc.context


class HTTPException(Exception):
    def __init__(self, status_code, detail):
        super().__init__(status_code)
        self.status_code, self.detail = status_code, detail


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


stand_in("litellm", completion=lambda **keywords: keywords)
stand_in("litellm.integrations")
stand_in("litellm.integrations.custom_logger", CustomLogger=object)
stand_in("fastapi", HTTPException=HTTPException)

from stc.litellm import Callback, completion  # noqa: E402

SECRET = "the key is ghp_" + "a1B2c3D4e5" * 4
ROWS = json.dumps([{"id": number, "state": "open", "by": "ann"} for number in range(60)])


def chat(text=ROWS, **members):
    return {"model": "m", "messages": [{"role": "tool", "tool_call_id": "c", "content": text}], **members}


def called(settings, data, kind="acompletion"):
    return asyncio.run(Callback(stc.context.Context(**settings)).async_pre_call_hook(None, None, data, kind))


class LiteLLM(unittest.TestCase):
    def refused(self, settings, data, kind="acompletion"):
        with self.assertRaises(HTTPException) as raised:
            called(settings, data, kind)
        return raised.exception.status_code, raised.exception.detail["error"]["code"]

    def test_settings_apply(self):
        self.assertEqual(called({}, chat())["messages"][0]["content"], stc.encode(ROWS))
        self.assertEqual(called({"min_bytes": 100_000}, chat())["messages"][0]["content"], ROWS)
        tools = [{"type": "function", "function": {"name": "list", "description": "Lists.   \n\n\n\nAll."}}]
        self.assertEqual(called({}, chat(tools=tools))["tools"], tools)
        self.assertLess(len(json.dumps(called({"schemas": "minify"}, chat(tools=tools))["tools"])), len(json.dumps(tools)))
        self.assertNotIn("ghp_", str(called({"redact": {"enabled": "on"}}, chat(SECRET))))
        shorter = completion(model="m", messages=chat()["messages"], tools=tools, stc_context=stc.context.Context(schemas="minify"))
        self.assertEqual(shorter["messages"][0]["content"], stc.encode(ROWS))
        self.assertNotEqual(shorter["tools"], tools)

    def test_what_is_refused(self):
        self.assertEqual(self.refused({}, chat(_stc={"mode": "best"})), (400, "stc_option"))
        required = {"redact": {"enabled": "required"}}
        self.assertNotIn("ghp_", str(called(required, chat(SECRET))))
        for data, kind in [
            ({"model": "m", "input": SECRET}, "aembedding"),
            ({"model": "m", "prompt": SECRET}, "text_completion"),
            ({"model": "m"}, "acompletion"),
            (chat(SECRET.encode()), "acompletion"),
        ]:
            self.assertEqual(self.refused(required, data, kind), (502, "stc_redaction"), kind)
            self.assertIs(called({"redact": {"enabled": "on"}}, data, kind), data)


if __name__ == "__main__":
    unittest.main()
