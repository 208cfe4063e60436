"""What the gateway sends to a collector, read by OpenTelemetry's own definitions of the messages.

    traces.py GATEWAY

Starts a collector, an upstream and the gateway, sends three requests, and parses every export as ExportTraceServiceRequest with
google.protobuf.json_format, which rejects unknown fields and wrong types.
"""

import base64
import http.server
import json
import subprocess
import sys
import tempfile
import threading
import urllib.request

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

ROWS = json.dumps([{"id": number, "name": f"row {number}", "state": "open"} for number in range(20)]).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every request with rows; a POST to /v1/traces is an export."""

    protocol_version = "HTTP/1.1"
    exports = []

    def do_GET(self):
        self.answer(ROWS)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        assert self.path == "/v1/traces" and self.headers["content-type"] == "application/json", self.path
        self.exports.append(body)
        self.answer(b"{}")

    def answer(self, body):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def parsed(export):
    """Parses an export. OTLP's JSON has hexadecimal ids where protobuf's has base64: the one difference."""
    document = json.loads(export)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name, length in [("traceId", 16), ("spanId", 8), ("parentSpanId", 8)]:
                    if name in span:
                        identifier = bytes.fromhex(span[name])
                        assert len(identifier) == length and any(identifier), span[name]
                        span[name] = base64.b64encode(identifier).decode()
    return json_format.Parse(json.dumps(document), ExportTraceServiceRequest())


def main(gateway):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write(f'upstream = "{address}"\nlog = "off"\n[traces]\nendpoint = "{address}"\nservice_name = "edge"\n')
        config.flush()
        running = subprocess.Popen(
            [gateway, "--config", config.name, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True
        )
        proxy = next(line for line in running.stderr if "listening on" in line).split()[-1]
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        for headers in [{}, {"accept-encoding": "stc"}, {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}]:
            urllib.request.urlopen(urllib.request.Request(f"{proxy}/rows?x=1", headers=headers)).read()
        # Spans that wait are sent when the program ends.
        running.terminate()
        assert running.wait(20) == 0
    resources = [resource for export in Handler.exports for resource in parsed(export).resource_spans]
    names = {attribute.key: attribute.value.string_value for attribute in resources[0].resource.attributes}
    assert names["service.name"] == "edge", names
    spans = [span for resource in resources for scope in resource.scope_spans for span in scope.spans]
    by_id = {span.span_id: span for span in spans}
    servers = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
    clients = [span for span in spans if span.kind == Span.SPAN_KIND_CLIENT]
    assert (len(servers), len(clients), len(by_id)) == (3, 3, 6), spans
    for span in clients:
        parent = by_id[span.parent_span_id]
        assert parent.kind == Span.SPAN_KIND_SERVER and parent.trace_id == span.trace_id
        assert parent.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
    assert sum(span.trace_id == bytes.fromhex(trace) for span in spans) == 2
    saved = [a.value.int_value for span in servers for a in span.attributes if a.key == "stc.bytes_saved"]
    assert len(saved) == 1 and saved[0] > 0, saved
    print(f"{len(Handler.exports)} exports, {len(spans)} spans in {len({span.trace_id for span in spans})} traces: accepted")


main(sys.argv[1])
