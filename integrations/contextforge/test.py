"""STC in IBM ContextForge, for real: test.py STC VENV WORK

STC is the command, VENV a virtual environment with ContextForge and stc-codec, WORK an empty folder with ContextForge's own TOON
plugin as plugins/toon_encoder. An MCP server has the corpus as results of a tool; an official client calls it through three gateways:
without a plugin, with STC (plugins.yaml as it is), with TOON. Every text has to be the command line's, byte for byte.
"""

import contextlib
import json
import os
import pathlib
import secrets
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402

KEY = secrets.token_urlsafe(48)
MARK = {"io.stoa/stc": {"format": "stc2"}}


def environment(work, name, plugins):
    """The settings of one gateway: a database of its own, authentication by a token, an upstream on this machine."""
    return {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{work}/{name}.db",
        "JWT_SECRET_KEY": KEY,
        "AUTH_ENCRYPTION_SECRET": KEY[::-1],
        "PLATFORM_ADMIN_EMAIL": "admin@example.com",
        "PLATFORM_ADMIN_PASSWORD": KEY[:24] + "aA1!",
        "MCPGATEWAY_UI_ENABLED": "false",
        "MCPGATEWAY_ADMIN_API_ENABLED": "false",
        "SSRF_ALLOW_LOCALHOST": "true",
        "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
        "LOG_LEVEL": "ERROR",
        "OBSERVABILITY_ENABLED": "false",
        "PLUGINS_ENABLED": "true" if plugins else "false",
        "PLUGINS_CONFIG_FILE": str(plugins or ""),
    }


def token(venv, settings):
    command = [venv / "bin/python", "-m", "mcpgateway.utils.create_jwt_token", "--username", "admin@example.com", "--exp", "600", "--admin"]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stdout.split()[-1]


@contextlib.contextmanager
def gateway(venv, work, name, plugins, upstream):
    """A gateway with the server at the port `upstream` registered; yields its port, its process and the headers of a client."""
    port, settings = host.free_port(), environment(work, name, plugins)
    command = [venv / "bin/mcpgateway", "--host", "127.0.0.1", "--port", str(port), "--no-access-log"]
    with host.program(command, work / f"{name}.log", port, "/health", 300, env=settings, cwd=work) as process:
        headers = {"Authorization": f"Bearer {token(venv, settings)}", "Content-Type": "application/json", "Accept": "application/json"}
        body = json.dumps({"name": "corpus", "url": f"http://127.0.0.1:{upstream}/mcp", "transport": "STREAMABLEHTTP"})
        status, _, answer = host.get(port, "/gateways", "POST", body, headers)
        if status not in (200, 201):
            sys.exit(f"{name}: the server was not registered: {status} {answer[:2000]}")
        yield port, process, headers


def call(tool, name):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": f"corpus-{tool}", "arguments": {"name": name}}})


def result(at, tool, name):
    port, _, headers = at
    status, _, answer = host.get(port, "/rpc", "POST", call(tool, name), headers)
    message = json.loads(answer)
    if status != 200 or "result" not in message:
        sys.exit(f"{tool} {name}: {status} {answer[:2000]}")
    return message["result"]


def cells(cells, stc, plain, with_stc, documents):
    for name, document in documents.items():
        text, expected = document.decode(), host.encoded(stc, document)
        (before,) = result(plain, "document", name)["content"]
        cells.check(before["text"] == text and not before.get("_meta"), f"{name}: changed without the plugin: {before['text'][:200]!r}")
        (block,) = result(with_stc, "document", name)["content"]
        if block.get("_meta"):
            cells.check(block["text"].encode() == expected and block["_meta"] == MARK, f"{name}: {block['_meta']}, other bytes than the command line")
            cells.check(len(expected) < len(document), f"{name}: not shorter")
        else:
            cells.check(block["text"] == text, f"{name}: changed without a mark")
            cells.check(expected is None or len(document) < 128 or len(expected) >= len(document) or fewer(stc, document, expected), f"{name}: stays")
    name = "issues.json"
    expected = host.encoded(stc, documents[name]).decode()
    blocks = result(with_stc, "several", name)["content"]
    cells.check([block["type"] for block in blocks] == ["text", "image", "text"], "blocks keep their order")
    cells.check((blocks[0]["text"], blocks[1]["data"], blocks[2]["text"]) == (expected, "AAAA", "words"), "only the text that is JSON changes")
    failed = result(with_stc, "fails", name)
    cells.check(failed["isError"] and documents[name].decode()[:100] in failed["content"][0]["text"], "errors stay")
    cells.check(result(with_stc, "excluded", name)["content"][0]["text"] == documents[name].decode(), "excluded tools stay")


def fewer(stc, document, expected):
    """Whether the estimate says that the document has no more tokens than its STC."""
    import stc as package

    return package.estimate_tokens(expected) > package.estimate_tokens(document)


CLIENT = """
import asyncio, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
import stc.mcp

async def main(url, token):
    async with streamablehttp_client(url, headers={"Authorization": "Bearer " + token}) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            wrapped = stc.mcp.DecodingSession(session)
            raw = await session.call_tool("corpus-document", {"name": "issues.json"})
            back = await wrapped.call_tool("corpus-document", {"name": "issues.json"})
            assert raw.content[0].meta == {"io.stoa/stc": {"format": "stc2"}}, raw
            assert back.content[0].meta is None, back
            sys.stdout.write(back.content[0].text)

asyncio.run(main(*sys.argv[1:]))
"""


def official_client(cells, stc, venv, at, documents):
    port, _, headers = at
    arguments = [f"http://127.0.0.1:{port}/mcp/", headers["Authorization"].removeprefix("Bearer ")]
    done = subprocess.run([venv / "bin/python", "-c", CLIENT, *arguments], capture_output=True, text=True)
    minified = host.encoded(stc, documents["issues.json"], "json").decode()
    cells.check(done.returncode == 0 and done.stdout == minified, f"the official client: {done.stdout[:300]} {done.stderr[-2000:]}")


def toon_plugins(work):
    path = work / "toon.yaml"
    text = (HERE / "plugins.yaml").read_text().replace("stc.contextforge.Plugin", "plugins.toon_encoder.toon_encoder.ToonEncoderPlugin")
    path.write_text(text[: text.index("    config:")])
    return path


def main(stc, venv, work):
    work, venv = pathlib.Path(work).resolve(), pathlib.Path(venv).absolute()
    documents, upstream = host.documents(), host.free_port()
    server = [venv / "bin/python", HERE.parent / "mcp_server.py", upstream, host.CORPUS]
    started = contextlib.ExitStack()
    with started:
        started.enter_context(host.program(server, work / "server.log", upstream, "/mcp"))
        ways = {"plain": None, "stc": HERE / "plugins.yaml", "toon": toon_plugins(work)}
        gateways = {name: started.enter_context(gateway(venv, work, name, plugins, upstream)) for name, plugins in ways.items()}
        counted = host.Cells("contextforge", [work / "stc.log"])
        cells(counted, stc, gateways["plain"], gateways["stc"], documents)
        official_client(counted, stc, venv, gateways["stc"], documents)
        (block,) = result(gateways["toon"], "document", "users.json")["content"]
        counted.check(block["text"] != documents["users.json"].decode(), "the TOON plugin is at work, so that it can be compared")
        loads = [
            host.Way(name, port, "/rpc", headers, call("document", "users.json")) for name, (port, _, headers) in gateways.items()
        ]
        measured = host.costs(loads, work, [process.pid for _, process, _ in gateways.values()], host.SLOW)
    host.report("ContextForge", counted.passed, "tools/call of users.json", measured)
    subprocess.run([venv / "bin/python", HERE / "compare.py", stc, work, *host.CORPUS.glob("*.json")], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
