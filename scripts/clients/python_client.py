"""The Python SDK, mcp 2.x: connects, calls what it is told, prints what it got.

python_client.py URL HEADERS CALLS [FORMAT], the middle two as JSON. With FORMAT the client asks by the extension.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.streamable_http import streamable_http_client


async def main():
    url, headers, calls = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
    extensions = [advertise("io.stoa/stc", {"format": sys.argv[4]})] if len(sys.argv) > 4 else []
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http), extensions=extensions) as client:
            tools = await client.list_tools()
            results = []
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    print(json.dumps({"tools": [tool.name for tool in tools.tools], "results": results}))


asyncio.run(main())
