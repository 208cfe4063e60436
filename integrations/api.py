"""An API for the tests of proxies: nginx with the corpus as files, and what a proxy has to leave alone."""

import contextlib
import json
import os
import pathlib
import shutil

import host

# A body of 60 objects with the status 500.
ERROR = '{"error":[' + ", ".join(['{"a":1}'] * 60) + "]}"


def folder(work):
    """Writes the files of the API and returns their folder."""
    files = pathlib.Path(work) / "api"
    files.mkdir(parents=True)
    for name, document in host.documents().items():
        (files / name).write_bytes(document)
    issues = host.documents()["issues.json"]
    (files / "page.html").write_bytes(issues)
    (files / "broken.json").write_bytes(issues[:-5])
    (files / "no-transform.json").write_bytes(issues)
    (files / "message.json").write_bytes(message(issues))
    (files / "message.events").write_bytes(b"event: message\ndata: " + message(issues) + b"\n\n")
    # nginx gives its rights away when it is started as root; the files stay readable.
    for path in (pathlib.Path(work), files):
        path.chmod(0o755)
    return files


def message(document):
    """An MCP server's answer to the request with the id 1: a document as the text of a result."""
    result = {"content": [{"type": "text", "text": document.decode()}], "isError": False}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}, ensure_ascii=False, separators=(",", ":")).encode()


def configuration(work, http, modules=""):
    """A configuration of nginx with these servers."""
    paths = " ".join(f"{kind}_temp_path {work}/tmp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""{modules}
worker_processes 1;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    {paths}
{http}
}}
"""


@contextlib.contextmanager
def nginx(work, name, text, port, path):
    """Runs nginx with a configuration until the end of the block."""
    work = pathlib.Path(work)
    (work / "tmp").mkdir(exist_ok=True)
    (work / "tmp").chmod(0o777)
    (work / f"{name}.conf").write_text(f"pid {work}/{name}.pid;\n" + text)
    found = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    user = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
    command = [found or "nginx", "-p", work, "-c", work / f"{name}.conf", "-g", user]
    with host.program(command, work / f"{name}.log", port, path) as process:
        yield process


@contextlib.contextmanager
def served(work):
    """Runs the API until the end of the block; yields its port. POST to /mcp and /events returns a message."""
    port, files = host.free_port(), folder(work)
    http = f"""
    server {{
        listen 127.0.0.1:{port};
        root {files};
        default_type application/json;
        types {{ text/html html; application/json json; text/event-stream events; }}
        location = /error {{ return 500 '{ERROR}'; }}
        location = /no-transform.json {{ add_header Cache-Control no-transform; }}
        location = /mcp {{ error_page 404 405 =200 /message.json; }}
        location = /events {{ error_page 404 405 =200 /message.events; }}
    }}"""
    with nginx(work, "api", configuration(work, http), port, "/issues.json"):
        yield port
