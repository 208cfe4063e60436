#!/usr/bin/env python3
"""A hop that forwards every request and writes its raw body to a file.

    hop.py UPSTREAM FOLDER [counts] [CERTIFICATE.pem]

With `counts`, requests for a number of tokens are answered here, with a quarter of the body's bytes: aimock has no such path.
With a certificate and its key in one file, clients speak TLS to it.
Prints the port that it listens on. FOLDER gets NUMBER.body with the bytes of each request's body, undone from chunks and
otherwise as they came, and NUMBER.head with its method, path and headers. Responses pass as they stream.
"""

import http.client
import itertools
import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

UPSTREAM = urlsplit(sys.argv[1])
FOLDER = Path(sys.argv[2])
COUNTS = ("/messages/count_tokens", "/responses/input_tokens", ":countTokens") if "counts" in sys.argv else ()
NUMBERS = itertools.count()
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "content-length"}


class Hop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        whole = b""
        while length := int(self.rfile.readline().split(b";")[0], 16):
            whole += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def forward(self):
        body = self.body()
        number = next(NUMBERS)
        # The body first: a reader that finds the head can read the body.
        (FOLDER / f"{number:05}.body").write_bytes(body)
        (FOLDER / f"{number:05}.head").write_text(f"{self.command} {self.path}\n{self.headers}")
        if self.path.partition("?")[0].endswith(COUNTS):
            return self.count(len(body) // 4)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        upstream = http.client.HTTPConnection(UPSTREAM.hostname, UPSTREAM.port, timeout=60)
        upstream.request(self.command, self.path, body=body if body else None, headers=headers)
        response = upstream.getresponse()
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while chunk := response.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        upstream.close()

    def count(self, tokens):
        answer = json.dumps({"object": "response.input_tokens", "input_tokens": tokens, "totalTokens": tokens}).encode()
        self.send_response_only(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = forward

    def log_message(self, *_):
        pass


FOLDER.mkdir(parents=True, exist_ok=True)
server = ThreadingHTTPServer(("127.0.0.1", 0), Hop)
for certificate in [word for word in sys.argv[3:] if word.endswith(".pem")]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
