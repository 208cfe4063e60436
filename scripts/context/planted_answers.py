#!/usr/bin/env python3
"""Made-up secrets of every rule in responses, whole and as the deltas of streams, through the plugin redact-secrets.

    planted_answers.py GATEWAY PLANTED

PLANTED is the example `planted` of stc-redact. Every text is sent by an upstream in two forms: as JSON, as JSON in UTF-16, and cut into the deltas of six
APIs. Fails if twelve bytes of a secret are in what a client makes of an answer. Without the plugin the search finds what is there.
"""

import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

GATEWAY, PLANTED = (Path(program).resolve() for program in sys.argv[1:])
# A secret counts as found if this many bytes of it are, and a text is cut after this many.
PART, STEP = 12, 9
EVENTS = {
    "chat": lambda text: {"choices": [{"index": 0, "delta": {"content": text}}]},
    "call": lambda text: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}]},
    "messages": lambda text: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    "input": lambda text: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": text}},
    "responses": lambda text: {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": text},
    "gemini": lambda text: {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]},
}
FORMS = [*EVENTS, "whole", "wide"]
ROWS = [json.loads(row) for row in subprocess.run([PLANTED], check=True, capture_output=True, text=True).stdout.splitlines()]


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # the head and the body at once

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"] or 0))
        _, _, form, number = self.path.split("/")
        text = ROWS[int(number)]["text"]
        kind = "application/json"
        if form in EVENTS:
            parts = [text[at : at + STEP] for at in range(0, len(text), STEP)]
            kind, body = "text/event-stream", "".join(f"data: {json.dumps(EVENTS[form](part))}\n\n" for part in parts).encode()
        else:
            body = json.dumps({"rows": [text]}).encode("utf-16" if form == "wide" else "utf-8")
            kind += "; charset=utf-16" if form == "wide" else ""
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def strings(value):
    """Returns all strings of a value, joined."""
    if isinstance(value, dict):
        return "".join(strings(member) for key, member in value.items() if key not in ("type", "role", "item_id"))
    if isinstance(value, list):
        return "".join(map(strings, value))
    return value if isinstance(value, str) else ""


def seen(form, body):
    """Returns the text that a client makes of an answer, with escapes in it resolved too."""
    if form in EVENTS:
        text = "".join(strings(json.loads(line[6:])) for line in body.decode().splitlines() if line.startswith("data: "))
    else:
        text = strings(json.loads(body.decode("utf-16" if form == "wide" else "utf-8")))
    shown = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), text).replace("\x1b[7m", "")
    return text + "\n" + shown


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp())
    config, errors = folder / "gateway.toml", folder / "err"
    config.write_text(
        f'listen = "127.0.0.1:0"\nupstream = "http://127.0.0.1:{server.server_port}"\n'
        '[[plugins]]\nname = "redact-secrets"\nrequired = true\ntimeout = 20\nroutes = ["/on/**"]\n'
    )
    process = subprocess.Popen([GATEWAY, "--config", config], stdout=subprocess.DEVNULL, stderr=errors.open("wb"))
    try:
        found = None
        while not found and process.poll() is None:
            time.sleep(0.05)
            found = re.search(r"listening on http://(\S+)", errors.read_text())
        connection = http.client.HTTPConnection(found[1], timeout=60)
        left, control, count = [], 0, 0
        for number, row in enumerate(ROWS):
            for route in ("on", "off"):
                for form in (FORMS[number % 8], FORMS[(number + 3) % 8]):
                    connection.request("POST", f"/{route}/{form}/{number}", b"")
                    answer = connection.getresponse()
                    body = answer.read()
                    assert answer.status == 200, (answer.status, form, row, body)
                    text = seen(form, body)
                    parts = (secret[at : at + PART] for secret in row["secrets"] for at in range(len(secret) - PART + 1))
                    is_left = any(part in text for part in parts)
                    control += is_left and route == "off"
                    count += route == "on"
                    if is_left and route == "on":
                        left.append((form, row["rule"], row["way"]))
        assert control > len(ROWS) // 2, f"the search finds secrets in {control} answers without the plugin"
        print(f"{count:,} answers with secrets in {len(FORMS)} forms: {len(left)} with a part of one {left[:8]}; without the plugin {control:,}")
        if left:
            raise SystemExit(1)
    finally:
        process.kill()
        server.shutdown()


main()
