"""Conformance to HTTP/2 (RFC 9113) and HPACK (RFC 7541): the gateway receives raw frames, right and wrong, with an HTTP/1.1 upstream.

h2.py BINARY [TEXT...]: only cases whose section or title contains a text. A table comes last: section, case, what the section
requires, what was seen. Where it permits several reactions, exactly those pass. A known difference passes as one if exactly what
is noted for it was seen; its reason is below the table. Fails if a case does, or if a known difference is gone.
"""

import argparse
import contextlib
import http.server
import json
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "h2"))

import frames  # noqa: E402, F401
import messages  # noqa: E402, F401
from bench import gateway  # noqa: E402
from cases import CASES  # noqa: E402
from client import Client  # noqa: E402

LARGE = bytes(1 << 18)


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers `ok`, the request as JSON (/echo), a large body (/large), late (/wait), with trailers (/trailers), or not at all (/hold)."""

    protocol_version = "HTTP/1.1"
    seen = set()
    stop = threading.Event()

    def handle_any(self):
        self.seen.add(self.path)
        if self.path == "/hold":
            # The body is not read.
            self.stop.wait(60)
            self.close_connection = True
            return
        length, trailers = self.read_body()
        if self.path == "/wait":
            time.sleep(0.7)
        if self.path == "/trailers":
            self.send_response(200)
            self.send_header("transfer-encoding", "chunked")
            self.send_header("trailer", "x-sum")
            self.end_headers()
            self.wfile.write(b"4\r\nbody\r\n0\r\nx-sum: 7\r\n\r\n")
            return
        headers = [(name.lower(), value) for name, value in self.headers.items()]
        said = {"length": length, "headers": headers, "trailers": trailers}
        body = {"/large": LARGE, "/echo": json.dumps(said).encode()}.get(self.path, b"ok")
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def read_body(self):
        if self.headers.get("transfer-encoding", "") != "chunked":
            return len(self.rfile.read(int(self.headers.get("content-length", 0)))), []
        length = 0
        while size := int(self.rfile.readline(), 16):
            length += len(self.rfile.read(size))
            self.rfile.readline()
        trailers = []
        while (line := self.rfile.readline().strip()):
            trailers.append([part.strip() for part in line.decode().lower().split(":", 1)])
        return length, trailers

    do_GET = do_HEAD = do_POST = do_OPTIONS = handle_any

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A connection that the gateway gave up, because a case ended before its response."""


class Tested(Client):
    """The connection of a case: a client that knows its upstream and its gateway."""

    process = None

    def seen_upstream(self, stream):
        """What /echo received."""
        body = self.reply(stream).body
        return json.loads(body) if body.startswith(b"{") else {"length": None, "headers": [], "trailers": []}

    def terminate(self):
        self.process.terminate()


def judge(case, number, port, process):
    path = f"/case/{number}"
    client = None
    try:
        client = Tested(port, path, case.how.get("first", ()), case.how.get("begin", True))
        client.process = process
        returned = case.act(client)
        seen, right = case.expects.judge(client) if hasattr(case.expects, "judge") else returned
        if right and not getattr(case.expects, "forwarded", True) and path in Upstream.seen:
            seen, right = f"{seen}, forwarded", False
        if right and client.violation:
            seen, right = f"{seen}, {client.violation}", False
        return seen, bool(right)
    except Exception as error:
        # What hyperframe and hpack reject is a fault of the gateway, too.
        return f"{type(error).__name__}: {error}", False
    finally:
        if client:
            client.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("texts", nargs="*")
    options = parser.parse_args()
    server = Server(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    to = ["--upstream", f"http://127.0.0.1:{server.server_port}", "--log", "off"]
    chosen = [case for case in CASES if not options.texts or any(text in f"{case.section} {case.title}" for text in options.texts)]
    table = []
    with contextlib.ExitStack() as stack:
        port, _, process = stack.enter_context(gateway(options.binary, to))
        for number, case in enumerate(chosen):
            if case.how.get("own"):
                with gateway(options.binary, to) as (own, _, its):
                    seen, right = judge(case, number, own, its)
            else:
                seen, right = judge(case, number, port, process)
            table.append((case, seen, right))
            print(".", end="", flush=True)
        if process.poll() is not None:
            raise SystemExit("the gateway has ended")
        Upstream.stop.set()
    report(table)


def report(table):
    """Prints the table and ends the program."""
    reasons = list(dict.fromkeys(case.known for case, _, _ in table if case.known))
    counts = dict.fromkeys(["passed", "known", "FAILED"], 0)
    print(f"\n{'section':<12} {'case':<66} {'expected':<62} {'seen':<44} result")
    for case, seen, right in table:
        result = "passed" if right else "known" if case.known and seen == case.instead else "FAILED"
        if right and case.known:
            result, seen = "FAILED", f"{seen} (no longer a known difference)"
        counts[result] += 1
        note = f" {reasons.index(case.known) + 1}" if result == "known" else ""
        print(f"{case.section:<12} {case.title:<66} {case.expects.text:<62} {seen:<44} {result}{note}")
    for number, reason in enumerate(reasons, 1):
        print(f"known {number}: {reason}")
    print(f"{len(table)} cases, {counts['passed']} passed, {counts['known']} known differences, {counts['FAILED']} failed")
    raise SystemExit(1 if counts["FAILED"] or not table else 0)


if __name__ == "__main__":
    main()
