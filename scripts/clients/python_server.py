"""A server of the Python SDK: rows as a list, rows as one text, words, an error. python_server.py PORT json|sse, or python_server.py stdio"""

import json
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

ROWS = [{"id": n, "name": f"service-{n} \"é\"", "method": "GET" if n % 3 else "POST", "ok": n % 2 == 0} for n in range(40)]

server = MCPServer("matrix")


@server.tool()
def rows() -> list[dict]:
    """Forty rows; the SDK sends them as forty texts and as structured content."""
    return ROWS


@server.tool(structured_output=False)
def table() -> str:
    """Forty rows in one text."""
    return json.dumps(ROWS)


@server.tool(structured_output=False)
def pretty() -> str:
    """Forty rows in one text, indented, with numbers spelled as they are."""
    return json.dumps({"total": 1.0, "rows": ROWS}, indent=2, ensure_ascii=False)


@server.tool(structured_output=False)
def words() -> str:
    """No JSON at all."""
    return "just words\n" * 40


@server.tool(structured_output=False)
def broken() -> str:
    """JSON that is not."""
    return json.dumps(ROWS)[:-1]


@server.tool()
def fails() -> str:
    """An error whose text is JSON."""
    raise ValueError(json.dumps(ROWS))


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    app = server.streamable_http_app(json_response=sys.argv[2] == "json")
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
