"""An MCP server over Streamable HTTP for the tests: mcp_server.py PORT FOLDER [events], with the files of a folder as results of a tool.

Answers are JSON, with `events` streams of events.
"""

import pathlib
import sys

from mcp.server.fastmcp import FastMCP
from mcp.types import ImageContent, TextContent

PORT, FOLDER = int(sys.argv[1]), pathlib.Path(sys.argv[2])
server = FastMCP("corpus", host="127.0.0.1", port=PORT, stateless_http=True, json_response="events" not in sys.argv[3:], log_level="WARNING")


@server.tool(structured_output=False)
def document(name: str) -> str:
    """A file of the corpus."""
    return (FOLDER / name).read_bytes().decode()


@server.tool(structured_output=False)
def several(name: str) -> list:
    """Two texts and an image."""
    text = (FOLDER / name).read_bytes().decode()
    return [TextContent(type="text", text=text), ImageContent(type="image", data="AAAA", mimeType="image/png"), TextContent(type="text", text="words")]


@server.tool(structured_output=False)
def fails(name: str) -> str:
    """A failure whose message is JSON."""
    raise ValueError((FOLDER / name).read_bytes().decode())


@server.tool(structured_output=False)
def excluded(name: str) -> str:
    """A result that the configuration excludes."""
    return (FOLDER / name).read_bytes().decode()


server.run("streamable-http")
