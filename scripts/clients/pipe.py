"""`stc mcp` around official servers, under official clients: pipe.py STC JS FOLDER

STC is the command, JS a folder with the servers and the TypeScript clients. Every server is called directly and through `stc mcp`,
by the Python client and by both TypeScript clients; after decoding, the results have to be the same. A file is read, edited by what was
read, and written through `stc mcp`. Servers that talk Streamable HTTP
are reached with `stc mcp --url`: the official one, and one whose results are rows, as JSON and as events.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

import stc
import stc.mcp
from mcp import Client, StdioServerParameters


def servers(js, folder):
    binaries = js / "node_modules/@modelcontextprotocol"
    filesystem = ["node", str(binaries / "server-filesystem/dist/index.js"), str(folder)]
    everything = ["node", str(binaries / "server-everything/dist/index.js"), "stdio"]
    rows = str(folder / "rows.json")
    return [
        (
            "filesystem",
            filesystem,
            [
                ("read_text_file", {"path": rows}),
                ("list_directory", {"path": str(folder)}),
                ("directory_tree", {"path": str(folder)}),
                ("get_file_info", {"path": rows}),
                ("read_text_file", {"path": str(folder / "missing")}),
            ],
        ),
        (
            "everything",
            everything,
            [("echo", {"message": "é"}), ("get-sum", {"a": 1, "b": 2}), ("get-structured-content", {"location": "Chicago"})],
        ),
    ]


async def python_results(command, calls):
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        results = [await client.call_tool(name, arguments) for name, arguments in calls]
    marked = sum(block.type == "text" and bool(block.meta) and stc.mcp.EXTENSION in block.meta for result in results for block in result.content)
    return marked, tools, [stc.mcp.decoded(result).model_dump(by_alias=True, mode="json", exclude_none=True) for result in results]


def typescript_results(js, client, command, calls):
    run = subprocess.run(["node", f"{client}_pipe.mjs", json.dumps(command), json.dumps(calls)], cwd=js, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{client}: {run.stderr}")
    answer = json.loads(run.stdout)
    return answer["marked"], answer["tools"], answer["results"]


# Who answered: a server of mcp 2 adds it in the newest protocol only. Clients agree on an older one through --url.
SERVER = "io.modelcontextprotocol/serverInfo"


def comparable(results):
    """Texts that are JSON are compared without their whitespace, which STC does not keep; results without the server's name."""

    def text(block):
        try:
            return {**block, "text": stc.encode(block["text"], "json")} if block.get("type") == "text" else block
        except stc.STCError:
            return block

    def answer(result):
        meta = {key: value for key, value in result.get("_meta", {}).items() if key != SERVER}
        return {**result, "_meta": meta, "content": [text(block) for block in result["content"]]}

    return [answer(result) for result in results]


@contextlib.contextmanager
def over_http(program):
    """A server over Streamable HTTP, a command in which the word PORT stands for the port; yields its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(port) if word == "PORT" else word for word in program]
    server = subprocess.Popen(command, env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.wait()


def compared(name, js, direct, wrapped, calls, converts):
    """Calls a server in every way and compares the results; returns the cells that passed and the blocks that were STC.

    A server that `converts` has results that become STC, in every way that is not direct.
    """
    cells = marks = 0
    for client in ["python", "ts1", "ts2"]:
        results = []
        for command in [direct, *wrapped]:
            if client == "python":
                results.append(asyncio.run(python_results(command, calls)))
            else:
                results.append(typescript_results(js, client, command, calls))
        first = results[0]
        assert first[0] == 0, "a server of its own marks nothing"
        for marked, tools, through in results[1:]:
            assert tools == first[1], (name, client, tools, first[1])
            assert comparable(through) == comparable(first[2]), (name, client, through, first[2])
            marks += marked
            cells += 1
            assert marked > 0 or not converts, f"{name}, {client}: no result became STC"
        print(f"{name:12} {client:7} {len(calls)} calls, the same after decoding; {[result[0] for result in results[1:]]} blocks were STC")
    return cells, marks


async def edited(command, path):
    """Reads a file, edits it by lines of what was read, and writes it, as an agent does."""
    before = path.read_text()
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:

        async def call(tool, **arguments):
            result = await client.call_tool(tool, {"path": str(path), **arguments})
            assert not getattr(result, "is_error", False) and not getattr(result, "isError", False), result
            return result.content[0].text

        read = await call("read_text_file")
        assert read == before, "the file's own bytes"
        old = "\n".join(read.splitlines()[5:12])
        await call("edit_file", edits=[{"oldText": old, "newText": old.replace("open", "shut")}])
        assert path.read_text() == before.replace(old, old.replace("open", "shut"), 1)
        await call("write_file", content=read)
        assert path.read_text() == before
    print("filesystem   a file read, edited and written through stc mcp")


def main(command, js, folder):
    js, folder = pathlib.Path(js).resolve(), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": n, "state": "open", "price": 1.0, "name": f"row {n} é"} for n in range(60)]
    (folder / "rows.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False))
    (folder / "tree").mkdir(exist_ok=True)
    for n in range(40):
        (folder / "tree" / f"{n}.txt").touch()
    usual, more = [command, "mcp"], [command, "mcp", "--format", "stc2-labelled", "--min-bytes", "16", "--skip-tools", ""]
    totals = []
    for name, server, calls in servers(js, folder):
        wrapped = [[*flags, "--", *server] for flags in (usual, more)]
        totals.append(compared(name, js, server, wrapped, calls, converts=name == "filesystem"))
    asyncio.run(edited([*usual, "--", *servers(js, folder)[0][1]], folder / "rows.json"))
    name, server, calls = servers(js, folder)[1]
    with over_http([*server[:-1], "streamableHttp"]) as url:
        totals.append(compared(f"{name} HTTP", js, server, [[*flags, "--url", url] for flags in (usual, more)], calls, converts=False))
    rows = [sys.executable, str(pathlib.Path(__file__).resolve().with_name("python_server.py"))]
    for kind in ["json", "sse"]:
        with over_http([*rows, "PORT", kind]) as url:
            wrapped = [[*flags, "--url", url] for flags in (usual, more)]
            calls = [(tool, {}) for tool in ("table", "pretty", "words", "broken", "fails")]
            totals.append(compared(f"rows {kind}", js, [*rows, "stdio"], wrapped, calls, converts=True))
    cells, marks = map(sum, zip(*totals))
    print(f"stc mcp: {cells} cells passed, {marks} blocks were STC")


if __name__ == "__main__":
    main(*sys.argv[1:])
