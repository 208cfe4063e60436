"""stc.mcp with version 1 of the MCP SDK: a server encodes, and a client session decodes."""

import asyncio
import importlib.metadata
import json

from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session as connected

import stc
import stc.mcp

ROWS = [{"id": number, "state": "open", "labels": ["bug"]} for number in range(40)]
server = FastMCP("adapters")


@server.tool()
@stc.mcp.encodes()
def rows(count: int) -> list[dict]:
    """Rows."""
    return ROWS[:count]


@server.tool()
@stc.mcp.encodes()
async def fails() -> str:
    raise ValueError(json.dumps(ROWS))


async def main():
    async with connected(server._mcp_server) as session:
        tool = (await session.list_tools()).tools[0]
        assert (tool.inputSchema["required"], tool.outputSchema) == (["count"], None), tool
        (block,) = (await session.call_tool("rows", {"count": 40})).content
        assert block.meta == {"io.stoa/stc": {"format": "stc2"}}, block
        assert block.text == stc.dumps(ROWS), block
        decoding = stc.mcp.DecodingSession(session)
        assert json.loads((await decoding.call_tool("rows", {"count": 40})).content[0].text) == ROWS
        failed = await decoding.call_tool("fails", {})
        assert failed.isError and "io.stoa/stc" not in str(failed), failed
    print(f"stc.mcp with mcp {importlib.metadata.version('mcp')}: passed")


asyncio.run(main())
