"""What a type checker sees: `mypy --strict` accepts this file, and rejects the last line."""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from agents import FunctionTool, function_tool
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult

import stc
import stc.context
import stc.contextforge
import stc.langchain
import stc.litellm
import stc.mcp
import stc.openai_agents

text: str = stc.dumps({"a": [1, 2]}, "stc2-labelled", sort_keys=True)
value: object = stc.loads(text)
json_text: str = stc.decode(memoryview(b"[1]"))
encoder: stc.Encoder = stc.Encoder("stc1", depth=64, window=1 << 20)
chunk: bytes = encoder.push("[1") + encoder.push(b"]") + encoder.finish()
parts: Iterator[bytes] = stc.iter_encode([b"[", "1]"], "stc1")
tokens: int = stc.estimate_tokens(text) + len(stc.legend())
try:
    stc.decode("[")
except stc.STCError as error:
    place: tuple[str, int, int | None, int | None] = (error.kind, error.offset, error.line, error.column)
sent: bytes = stc.context.Context(min_bytes=512).prepare(b"{}", "anthropic").body
safe = stc.context.Context(mode="safe", cap={"bytes": 4096}, schemas="minify", redact={"enabled": "required", "rules": ["-jwt"]})
known = stc.context.Context(readers=[{"model": "house/*", "format": "stc2"}], reader="auto", unknown_reader="large")
reading = known.reading("house/x")
why: str = reading["by"] if reading is not None else known.prepare("{}", model="house/x").report["mode"]
refuses: bool = safe.requires_redaction or safe.reads_all
saved: tuple[int, int] = stc.context.prepare("{}").report["tokens"]

server = MCPServer("issues")


@server.tool()
@stc.mcp.encodes()
def issues(state: str) -> list[dict[str, object]]:
    """Open issues."""
    return [{"id": 1, "state": state}]


@server.tool()
@stc.mcp.encodes("stc2-labelled", min_bytes=1)
async def later() -> str:
    return "{}"


as_declared: Callable[[str], CallToolResult] = issues
as_coroutine: Callable[[], Coroutine[Any, Any, CallToolResult]] = later


async def client_of_mcp(client: Client) -> CallToolResult:
    async with stc.mcp.DecodingSession(client) as session:
        called: CallToolResult = await session.call_tool("issues", {"state": "open"})
        return stc.mcp.decoded(stc.mcp.encoded(called, "stc1"))


def tools(tool: BaseTool, message: ToolMessage, function: FunctionTool) -> tuple[BaseTool, ToolMessage, FunctionTool]:
    decoded = stc.langchain.decode_message(stc.langchain.encode_message(message, min_bytes=1))
    return stc.langchain.encoded_tool(tool, "stc2"), decoded, stc.openai_agents.encoded_tool(function)


wrapped: FunctionTool = stc.openai_agents.encoded_tool(function_tool(lambda: "x"), "stc1")


async def request(messages: list[dict[str, object]]) -> None:
    encoded: list[dict[str, object]] = stc.litellm.encoded_messages(messages)
    stc.litellm.completion(model="m", messages=encoded)
    await stc.litellm.acompletion(model="m", messages=messages, stc_context=stc.context.Context(min_bytes=1))
    stc.litellm.Callback(stc.context.Context()).context.prepare(b"{}")


kinds: tuple[type, object] = (stc.contextforge.Plugin, stc.litellm.callback)
stc.encode("1", "stc3")  # a name that is no format
