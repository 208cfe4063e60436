"""The adapters with stand-ins for their libraries: whose results they convert, by the name of the tool."""

import asyncio
import json
import sys
import types
import unittest

import stc
from stc._texts import is_skipped

ROWS = [{"id": number, "state": "open", "by": "ann"} for number in range(60)]
TEXT = json.dumps(ROWS)


class Model:
    """What the adapters use of a model of pydantic."""

    def __init__(self, **members):
        self.__dict__.update(members)

    def model_copy(self, update):
        return type(self)(**{**self.__dict__, **update})


class TextContent(Model):
    meta = None


class CallToolResult(Model):
    meta = None


class ToolMessage(Model):
    name, status = None, "success"


class Tool(Model):
    """A tool of LangChain, which returns what it has."""

    extras = None

    def run(self):
        return self.output


class Plugin:
    def __init__(self, config):
        self.config = config


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


others = {name: Model for name in ("ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource")}
stand_in("mcp.types", TextContent=TextContent, CallToolResult=CallToolResult, **others)
stand_in("mcp", types=sys.modules["mcp.types"])
stand_in("pydantic_core", to_json=lambda value, fallback=None: json.dumps(value).encode())
stand_in("langchain_core")
stand_in("langchain_core.messages", ToolMessage=ToolMessage)
stand_in("langchain_core.tools", BaseTool=Model)
stand_in("cpex")
stand_in("cpex.framework", Plugin=Plugin, ToolPostInvokePayload=Model, ToolPostInvokeResult=Model)

import stc.contextforge  # noqa: E402
import stc.langchain  # noqa: E402
import stc.mcp  # noqa: E402


class Names(unittest.TestCase):
    def test_is_skipped(self):
        for name in (None, ""):
            self.assertTrue(is_skipped(name, ("read",)))
            self.assertTrue(is_skipped(name, iter(["export_*"])))
            self.assertFalse(is_skipped(name, []))
        self.assertTrue(is_skipped("read_file", ("read",)))
        self.assertFalse(is_skipped("list_rows", ("read", "export_*")))

    def test_mcp(self):
        result = CallToolResult(content=[TextContent(text=TEXT)])
        for options in ({}, {"tool": ""}, {"tool": None, "skip_tools": ["x"]}, {"tool": "read_file"}):
            self.assertIs(stc.mcp.encoded(result, **options), result, options)
        for options in ({"tool": "rows"}, {"skip_tools": []}):
            self.assertEqual(stc.mcp.encoded(result, **options).content[0].text, stc.encode(TEXT), options)

        def rows():
            return TEXT

        nameless = lambda: TEXT  # noqa: E731
        for tool, options, expected in [
            (rows, {}, stc.encode(TEXT)),
            (rows, {"tool_name": "read_file"}, TEXT),
            (nameless, {}, TEXT),
            (nameless, {"tool_name": "rows"}, stc.encode(TEXT)),
            (nameless, {"skip_tools": []}, stc.encode(TEXT)),
        ]:
            self.assertEqual(stc.mcp.encodes(**options)(tool)().content[0].text, expected, options)

    def test_langchain(self):
        for name, options, expected in [
            (None, {}, TEXT),
            ("rows", {}, stc.encode(TEXT)),
            (None, {"tool": "rows"}, stc.encode(TEXT)),
            ("read_file", {"tool": "rows"}, TEXT),
            (None, {"skip_tools": []}, stc.encode(TEXT)),
        ]:
            message = ToolMessage(content=TEXT, name=name, response_metadata={})
            self.assertEqual(stc.langchain.encode_message(message, **options).content, expected, (name, options))
        # A message of a tool has its name.
        message = ToolMessage(content=TEXT, response_metadata={})
        for name, expected in [("rows", stc.encode(TEXT)), ("read_file", TEXT)]:
            tool = stc.langchain.EncodedTool(tool=Tool(name=name, output=message))
            self.assertEqual(tool.run().content, expected)

    def test_contextforge(self):
        def invoked(name, result):
            plugin = stc.contextforge.Plugin(Model(config={}))
            answer = asyncio.run(plugin.tool_post_invoke(Model(name=name, result=result), None))
            return answer.modified_payload.result if answer.__dict__ else result

        for meta in (None, "a", [1], 1, {}, {"caller": {"type": "direct"}}):
            result = {"content": [{"type": "text", "text": TEXT}], "_meta": meta}
            self.assertEqual(invoked("server-rows", result)["content"][0]["text"], stc.encode(TEXT), meta)
            self.assertIs(invoked("server-read-file", result), result)
        called = {"content": [{"type": "text", "text": TEXT}], "_meta": {"caller": {"type": "program"}}}
        self.assertIs(invoked("server-rows", called), called)
        for meta in ("io.stoa/stc", ["a"], 1):
            odd = {"content": [{"type": "text", "text": TEXT, "_meta": meta}]}
            self.assertIs(invoked("server-rows", odd), odd, meta)


if __name__ == "__main__":
    unittest.main()
