"""The adapters against the libraries they are for: the MCP SDK, LangChain, the OpenAI Agents SDK, LiteLLM."""

import asyncio
import http.server
import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import stc

ROWS = [{"id": number, "state": "open", "labels": ["bug"], "price": 1.0} for number in range(40)]
TEXT = '{"total": 1e2, "rows": %s}' % json.dumps(ROWS, indent=2)
WORDS = "just words, " * 40


class Odd:
    """A value that has no JSON."""

    def __repr__(self):
        return "odd"


class MCP(unittest.IsolatedAsyncioTestCase):
    def server(self):
        from mcp.server.mcpserver import MCPServer

        import stc.mcp

        server = MCPServer("adapters")

        @server.tool()
        @stc.mcp.encodes()
        def rows(count: int) -> list[dict]:
            """Rows."""
            return ROWS[:count]

        @server.tool()
        @stc.mcp.encodes("stc2-labelled")
        async def text() -> str:
            return TEXT

        @server.tool()
        @stc.mcp.encodes()
        def words() -> str:
            return WORDS

        @server.tool()
        @stc.mcp.encodes()
        def odd():
            return [{"id": number, "value": Odd()} for number in range(40)]

        @server.tool()
        @stc.mcp.encodes()
        def fails() -> str:
            raise ValueError(TEXT)

        return server

    async def test_a_server_encodes_and_a_client_decodes(self):
        from mcp import Client

        import stc.mcp

        async with Client(self.server()) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            self.assertEqual(tools["rows"].input_schema["required"], ["count"])
            self.assertEqual(tools["rows"].description, "Rows.")
            self.assertIsNone(tools["rows"].output_schema)
            raw = await client.call_tool("rows", {"count": 40})
            (block,) = raw.content
            self.assertEqual(block.meta, {"io.stoa/stc": {"format": "stc2"}})
            self.assertEqual(block.text, stc.encode(json.dumps(ROWS, separators=(",", ":"))))

            session = stc.mcp.DecodingSession(client)
            self.assertEqual(json.loads((await session.call_tool("rows", {"count": 40})).content[0].text), ROWS)
            decoded = (await session.call_tool("text", {})).content[0]
            self.assertEqual((decoded.text, decoded.meta), (stc.encode(TEXT, "json"), None))
            self.assertEqual((await session.call_tool("words", {})).content[0].text, WORDS)
            self.assertEqual(json.loads((await session.call_tool("odd", {})).content[0].text)[1], {"id": 1, "value": "odd"})
            failed = await session.call_tool("fails", {})
            self.assertTrue(failed.is_error)
            self.assertNotIn("io.stoa/stc", str(failed))
            self.assertEqual(len((await session.list_tools()).tools), 5)

    async def test_json_is_no_format_of_an_adapter(self):
        from mcp.types import CallToolResult, TextContent

        import stc.mcp

        result = CallToolResult(content=[TextContent(type="text", text=TEXT)])
        for format in ["json", "stc3"]:
            for work in [lambda: stc.mcp.encodes(format), lambda: stc.mcp.encoded(result, format)]:
                with self.assertRaisesRegex(ValueError, "stc1, stc2, stc2-labelled"):
                    work()

    async def test_folded_blocks_and_other_marks(self):
        from mcp.types import CallToolResult, TextContent

        import stc.mcp

        items = ['{"id":1,"rate":1e2}', '{"id":2,"rate":-0}', "[]"]
        folded = TextContent(type="text", text=stc.encode("[%s]" % ",".join(items)), _meta={"io.stoa/stc": {"format": "stc2", "blocks": 3}, "k": 1})
        result = stc.mcp.decoded(CallToolResult(content=[TextContent(type="text", text="a"), folded]))
        self.assertEqual([block.text for block in result.content], ["a", *items])
        self.assertEqual(result.content[1].meta, {"k": 1})
        once = stc.mcp.encoded(CallToolResult(content=[TextContent(type="text", text=TEXT)]), tool="rows")
        again = stc.mcp.encoded(once, tool="rows")
        self.assertNotEqual(again.content[0].text, TEXT)
        self.assertEqual(stc.decode(again.content[0].text), stc.encode(TEXT, "json"))
        broken = TextContent(type="text", text="[2", _meta={"io.stoa/stc": {"format": "stc2"}})
        with self.assertRaises(stc.STCError):
            stc.mcp.decoded(CallToolResult(content=[broken]))


    async def test_tools_of_files_and_what_programs_read_stay(self):
        from mcp.types import CallToolResult, TextContent

        import stc.mcp

        result = CallToolResult(content=[TextContent(type="text", text=TEXT)])
        for tool in ["read_text_file", "edit_file", "write_file", "memory", "str_replace_based_edit_tool"]:
            self.assertIs(stc.mcp.encoded(result, tool=tool), result)
        self.assertIs(stc.mcp.encoded(result, tool="export_rows", skip_tools=["export_*"]), result)
        self.assertIsNot(stc.mcp.encoded(result, tool="read_file", skip_tools=[]), result)
        self.assertIsNot(stc.mcp.encoded(result, tool="list_rows"), result)
        self.assertIs(stc.mcp.encoded(result), result)
        self.assertIsNot(stc.mcp.encoded(result, skip_tools=[]), result)
        called = CallToolResult(content=result.content, _meta={"caller": {"type": "program"}})
        self.assertIs(stc.mcp.encoded(called, tool="list_rows"), called)

        @stc.mcp.encodes()
        def read_file() -> str:
            return TEXT

        self.assertEqual(read_file().content[0].text, TEXT)


class LangChain(unittest.IsolatedAsyncioTestCase):
    async def test_a_tool_returns_stc(self):
        from langchain_core.tools import tool

        from stc.langchain import decode_message, encoded_tool

        @tool
        def rows(count: int) -> list[dict]:
            """Rows."""
            return ROWS[:count]

        @tool
        def words(count: int) -> str:
            """Words."""
            return WORDS

        @tool
        def odd(count: int) -> list:
            """Values that have no JSON."""
            return [{"object": Odd(), "bytes": b"\xff", "set": {1}}] * 40

        wrapped = encoded_tool(rows)
        self.assertEqual((wrapped.name, wrapped.description, wrapped.args), (rows.name, rows.description, rows.args))
        call = {"type": "tool_call", "id": "call-1", "name": "rows", "args": {"count": 40}}
        plain = rows.invoke(call)
        for message in [wrapped.invoke(call), await wrapped.ainvoke(call)]:
            self.assertEqual((message.tool_call_id, message.name), ("call-1", "rows"))
            self.assertLess(len(message.content), len(plain.content))
            self.assertEqual(stc.loads(message.content), ROWS)
            back = decode_message(message)
            self.assertEqual(json.loads(back.content), json.loads(plain.content))
            self.assertEqual(back.response_metadata, {})
        self.assertEqual(stc.loads(wrapped.invoke({"count": 40})), ROWS)
        self.assertEqual(encoded_tool(words).invoke({**call, "name": "words"}).content, WORDS)
        # What has no JSON stays as it is.
        plain = odd.invoke({**call, "name": "odd"})
        self.assertEqual(encoded_tool(odd).invoke({**call, "name": "odd"}).content, plain.content)
        with self.assertRaises(ValueError):
            encoded_tool(rows, "json")
        with self.assertRaisesRegex(ValueError, "stc1, stc2, stc2-labelled"):
            wrapped.model_copy(update={"format": "json"}).invoke({"count": 40})


class OpenAIAgents(unittest.IsolatedAsyncioTestCase):
    async def test_a_run_with_a_model_that_calls_a_tool(self):
        from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
        from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

        from stc.openai_agents import encoded_tool

        seen = []

        class Scripted(Model):
            """Calls all tools, then answers; keeps what it is sent."""

            async def get_response(self, system_instructions, input, *args, **keywords):
                seen.append(input)
                if len(seen) == 1:
                    output = [
                        ResponseFunctionToolCall(arguments="{}", call_id=name, name=name, type="function_call")
                        for name in ["rows", "words", "odd"]
                    ]
                else:
                    text = ResponseOutputText(text="done", type="output_text", annotations=[])
                    output = [ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")]
                return ModelResponse(output=output, usage=Usage(), response_id=None)

            def stream_response(self, *args, **keywords):
                raise NotImplementedError

        @function_tool
        def rows() -> list[dict]:
            return ROWS

        @function_tool
        async def words() -> str:
            return WORDS

        @function_tool
        def odd() -> list:
            return [Odd()]

        agent = Agent(name="a", model=Scripted(), tools=[encoded_tool(rows), encoded_tool(words), encoded_tool(odd)])
        result = await Runner.run(agent, "go")
        self.assertEqual(result.final_output, "done")
        outputs = {item["call_id"]: item["output"] for item in seen[1] if item.get("type") == "function_call_output"}
        self.assertEqual(outputs["rows"], stc.dumps(ROWS))
        self.assertEqual(stc.loads(outputs["rows"]), ROWS)
        self.assertEqual(outputs["words"], WORDS)
        # What has no JSON stays as it is.
        self.assertEqual(outputs["odd"], "[odd]")
        self.assertIsNot(encoded_tool(rows), rows)
        with self.assertRaises(ValueError):
            encoded_tool(rows, "json")


def provider():
    """An OpenAI-compatible server that answers "done", and the list of requests that it gets."""
    received = []

    class Provider(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(
                {
                    "id": "x", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, received


class LiteLLM(unittest.TestCase):
    MESSAGES = [
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": TEXT},
        {"role": "tool", "tool_call_id": "1", "content": WORDS},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": TEXT}, {"type": "text", "text": "x"}]},
    ]

    def check(self, messages):
        self.assertEqual(messages[0]["content"], TEXT)
        self.assertEqual(messages[2]["content"], stc.encode(TEXT))
        self.assertEqual(messages[3]["content"], WORDS)
        self.assertEqual([block["text"] for block in messages[4]["content"]], [stc.encode(TEXT), "x"])

    def test_messages(self):
        from stc.litellm import encoded_messages

        before = json.dumps(self.MESSAGES)
        self.check(encoded_messages(self.MESSAGES))
        self.assertEqual(json.dumps(self.MESSAGES), before)
        once = encoded_messages(self.MESSAGES)
        self.assertEqual(encoded_messages(once), once)

    def test_what_programs_read_stays(self):
        from stc.litellm import encoded_messages

        def call(**more):
            return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}, **more}]}

        result = {"role": "tool", "tool_call_id": "1", "content": TEXT}
        program = [call(caller={"type": "code_execution_20250825", "tool_id": "s"}), result]
        self.assertEqual(encoded_messages(program), program)
        tools = [{"type": "function", "function": {"name": "f"}, "allowed_callers": ["code_execution_20250825"]}]
        self.assertEqual(encoded_messages([call(), result], tools=tools), [call(), result])
        self.assertEqual(encoded_messages([result], tools=tools), [result])
        tools[0]["allowed_callers"] = ["direct"]
        self.assertEqual(encoded_messages([call(), result], tools=tools)[1]["content"], stc.encode(TEXT))

    def test_requests_that_arrive(self):
        """What an OpenAI-compatible server receives from LiteLLM."""
        from stc.litellm import acompletion, completion

        server, received = provider()
        keywords = {
            "model": "openai/m", "api_base": f"http://127.0.0.1:{server.server_port}/v1", "api_key": "none", "messages": self.MESSAGES,
        }
        try:
            self.assertEqual(completion(**keywords).choices[0].message.content, "done")
            self.assertEqual(asyncio.run(acompletion(**keywords)).choices[0].message.content, "done")
        finally:
            server.shutdown()
            server.server_close()
        self.assertEqual(len(received), 2)
        for request in received:
            self.check(request["messages"])

    def test_the_proxy(self):
        """LiteLLM's proxy as a program, with the callback that its configuration names."""
        server, received = provider()
        # The proxy does not start without a key.
        key = f"sk-{secrets.token_hex(32)}"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "stc_callback.py").write_text("from stc.litellm import callback\n")
            (folder / "config.yaml").write_text(
                f"""
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_base: "http://127.0.0.1:{server.server_port}/v1", api_key: none}}
litellm_settings: {{callbacks: stc_callback.callback}}
general_settings: {{master_key: {key}}}
"""
            )
            command = [pathlib.Path(sys.executable).with_name("litellm"), "--config", folder / "config.yaml", "--port", str(port), "--host", "127.0.0.1"]
            with open(folder / "log", "w") as log:
                proxy = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
            try:
                body = json.dumps({"model": "m", "messages": self.MESSAGES}).encode()
                headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
                request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, headers)
                for _ in range(240):
                    try:
                        answer = json.load(urllib.request.urlopen(request, timeout=60))
                        break
                    except urllib.error.HTTPError as error:
                        self.fail(f"{error.read()}")
                    except OSError:
                        self.assertIsNone(proxy.poll(), (folder / "log").read_text()[-3000:])
                        time.sleep(0.5)
                self.assertEqual(answer["choices"][0]["message"]["content"], "done")
            finally:
                proxy.terminate()
                proxy.wait()
                server.shutdown()
                server.server_close()
        self.check(received[-1]["messages"])


if __name__ == "__main__":
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
    print(f"python {sys.version.split()[0]}, stc {stc.__version__}")
    unittest.main()
