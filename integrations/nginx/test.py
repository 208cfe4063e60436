"""nginx with Lua and libstc, for real: test.py STC VENV PREFIX WORK

STC is the command, VENV a virtual environment with the MCP SDK, PREFIX where libstc is installed, WORK an empty folder. The
configuration is stc.conf, with other addresses. Whole bodies come from a second nginx with the corpus as files, MCP messages from an
official server, as JSON and as events. Every body and every text has to be the command line's, byte for byte.
"""

import contextlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import api  # noqa: E402
import bodies  # noqa: E402
import host  # noqa: E402

MODULES = "\n".join(f"load_module /usr/lib/nginx/modules/{name};" for name in ["ndk_http_module.so", "ngx_http_lua_module.so"])
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "document", "arguments": {"name": "issues.json"}}})


def configured(work, prefix, front, back):
    """stc.conf with the addresses and paths of this test, and beside it the same without STC, for the cost."""
    conf = (HERE / "stc.conf").read_text()
    for before, after in [
        ("/etc/nginx/lua", str(HERE)),
        ("/usr/local/lib/libstc.so", f"{prefix}/lib/libstc.so"),
        ("server 127.0.0.1:8081", f"server 127.0.0.1:{back}"),
        ("listen 127.0.0.1:8080", f"listen 127.0.0.1:{front}"),
    ]:
        assert conf.count(before) == 1, before
        conf = conf.replace(before, after)
    proxied = 'proxy_pass http://api/; proxy_http_version 1.1; proxy_set_header Connection "";'
    plain = f"    location /plain/ {{ {proxied} }}\n"
    conf = conf.rstrip().removesuffix("}") + plain + "}\n"
    return api.configuration(work, conf, MODULES)


CLIENT = """
import asyncio, json, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

async def main(url, names):
    out = {}
    headers = {"X-Prefer-Format": "stc2"}
    async with streamablehttp_client(url, headers=headers) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            out["tools"] = sorted(tool.name for tool in (await session.list_tools()).tools)
            for tool, name in names:
                answer = await session.call_tool(tool, {"name": name})
                blocks = [(block.type, getattr(block, "text", ""), block.meta) for block in answer.content]
                out[f"{tool} {name}"] = [blocks, answer.isError]
    json.dump(out, sys.stdout)

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
"""


def called(venv, port, names):
    """What an official client gets."""
    command = [venv / "bin/python", "-c", CLIENT, f"http://127.0.0.1:{port}/mcp", json.dumps(names)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the client failed: {done.stderr[-3000:]}")
    return json.loads(done.stdout)


def messages(cells, stc, venv, server, front):
    """An official client, directly and through nginx."""
    documents = host.documents()
    names = [["document", name] for name in documents] + [[tool, "issues.json"] for tool in ("several", "fails")]
    direct, through = called(venv, server, names), called(venv, front, names)
    cells.check(direct["tools"] == through["tools"], "the list of tools stays")
    changed = 0
    for name, document in documents.items():
        (before,), (after,) = direct[f"document {name}"][0], through[f"document {name}"][0]
        if after[2] is None:
            cells.check(after == before, f"{name}: changed without a mark")
            continue
        changed += 1
        expected = host.encoded(stc, document).decode()
        cells.check(after == ["text", expected, {"io.stoa/stc": {"format": "stc2"}}], f"{name}: other bytes than the command line")
    cells.check(changed > len(documents) // 2, f"only {changed} texts changed")
    cells.check(through["fails issues.json"] == direct["fails issues.json"], "errors stay")
    kinds = [block[0] for block in through["several issues.json"][0]]
    cells.check(kinds == ["text", "image", "text"] and through["several issues.json"][0][2][1] == "words", "blocks keep their order")


def raw_messages(cells, stc, front):
    """Messages as bytes: only the text and its mark differ."""
    issues = host.documents()["issues.json"]
    block = lambda text: json.dumps(text, ensure_ascii=False)  # noqa: E731
    mark = ',"_meta":{"io.stoa/stc":{"format":"stc2"}}'
    before, after = block(issues.decode()), block(host.encoded(stc, issues).decode()) + mark
    expected = api.message(issues).decode().replace(before, after).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    status, got, body = host.get(front, "/mcp", "POST", CALL, headers)
    cells.check((status, body) == (200, expected), f"a message: {status} {body[:200]}")
    cells.check("x-prefer-format" in got["vary"].lower(), f"{got}")
    status, _, body = host.get(front, "/mcp", "POST", CALL, {**headers, "X-Prefer-Format": "json"})
    cells.check((status, body) == (200, api.message(issues)), "json is a refusal")


def main(stc, venv, prefix, work):
    work, venv = pathlib.Path(work).resolve(), pathlib.Path(venv).absolute()
    counted = host.Cells("nginx", [work / "front.log"])
    with contextlib.ExitStack() as started:
        back = started.enter_context(api.served(work))
        raw_answers(started, counted, stc, prefix, work)
        for kind in ([], ["events"]):
            mcp_server(started, counted, stc, venv, prefix, work, kind)
        front = host.free_port()
        process = started.enter_context(api.nginx(work, "front", configured(work, prefix, front, back), front, "/issues.json"))
        bodies.check(counted, stc, front)
        raw_messages(counted, stc, front)
        json_headers = {"Content-Type": "application/json"}
        ways = [
            host.Way("plain proxy", front, "/plain/issues.json"),
            host.Way("not opted in", front, "/issues.json"),
            host.Way("stc2", front, "/issues.json", {"X-Prefer-Format": "stc2"}),
            host.Way("MCP, plain proxy", front, "/plain/mcp", json_headers, CALL),
            host.Way("MCP, stc2", front, "/mcp", json_headers, CALL),
        ]
        measured = host.costs(ways, work, [process.pid] * len(ways))
    host.report("nginx + Lua", counted.passed, "issues.json", measured)


def raw_answers(started, cells, stc, prefix, work):
    """nginx before an API of unusual answers."""
    upstream, front = started.enter_context(api.raw()), host.free_port()
    with api.nginx(work, "front-raw", configured(work, prefix, front, upstream), front, "/lower"):
        bodies.raw(cells, stc, front)
        for path in ("/cut", "/cut-json", "/cut-chunks"):
            status, headers, _ = bodies.preferred(front, path)
            cells.check(status == 502 and "content-encoding" not in headers, f"{path}: {status} {headers}")
        # The same answers at the address for MCP, whose filters see their headers.
        vary = ", ".join(value.lower() for name, value in bodies.all_headers(front, "/mcp") if name == "vary")
        cells.check(vary == "accept, origin, cookie, x-prefer-format", f"/mcp: Vary is {vary}")


def mcp_server(started, cells, stc, venv, prefix, work, kind):
    """An official server with nginx before it, and an official client."""
    server, front = host.free_port(), host.free_port()
    command = [venv / "bin/python", HERE.parent / "mcp_server.py", server, host.CORPUS, *kind]
    name = "".join(["mcp", *kind])
    started.enter_context(host.program(command, work / f"{name}.log", server, "/mcp"))
    text = configured(work, prefix, front, server)
    with api.nginx(work, f"front-{name}", text, front, "/"):
        messages(cells, stc, venv, server, front)


if __name__ == "__main__":
    main(*sys.argv[1:])
