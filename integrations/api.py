"""APIs for the tests of proxies: nginx with the corpus as files, and what a proxy has to leave alone; and a server of raw answers."""

import contextlib
import json
import os
import pathlib
import shutil
import socketserver
import threading

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


def head(*lines, status="200 OK"):
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "connection: close", "", ""]).encode()


def raw_answer(method, path):
    """An answer that no nginx would write: header names in lower case, headers in several lines, a body that ends too early."""
    body = host.documents()["issues.json"]
    kind, length = "content-type: application/json", f"content-length: {len(body)}"
    if path == "/method":
        body = json.dumps({"rows": [{"method": method}] * 60}).encode()
        return head(kind, f"content-length: {len(body)}") + body
    answers = {
        "/lower": head(kind, length, 'etag: "1"') + body,
        "/lower-no-transform": head(kind, length, "cache-control: private, No-Transform") + body,
        # The coding is a name only: a proxy does not look inside.
        "/lower-encoded": head(kind, length, "content-encoding: x-coding") + body,
        "/repeated": head(kind, length, "vary: accept", "Vary: origin", "set-cookie: a=1", "Set-Cookie: b=2", "vary: cookie") + body,
        "/repeated-no-transform": head(kind, length, "Cache-Control: private", "Cache-Control: no-transform") + body,
        "/cut": head(kind, length) + body[:-100],
        "/mcp": head(kind, f"content-length: {len(message(body))}", "vary: accept", "Vary: origin", "vary: cookie") + message(body),
        # What arrives is complete JSON. Only the framing shows that it is not all of the body.
        "/cut-json": head(kind, f"content-length: {len(body) + 1}") + body,
        "/cut-chunks": head(kind, "transfer-encoding: chunked") + f"{len(body):x}\r\n".encode() + body + b"\r\n",
    }
    return answers.get(path) or head("content-length: 0", status="404 Not Found")


class Raw(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline().decode("latin-1").split()
        while self.rfile.readline().strip():
            pass
        if len(words) == 3:
            self.wfile.write(raw_answer(words[0], words[1]))


@contextlib.contextmanager
def raw():
    """Runs the server of raw answers until the end of the block; yields its port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Raw) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
