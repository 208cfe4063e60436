"""An upstream in this process that answers every request with a body with `{}`, for scripts that measure the gateway."""
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def start(received=lambda body, path: None):
    """Starts the upstream, which hands each body and its path to `received`, and returns its address as HOST:PORT."""

    class Upstream(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes.
        disable_nagle_algorithm = True

        def do_POST(self):
            received(self.rfile.read(int(self.headers["content-length"])), self.path)
            self.send_response_only(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_PUT = do_PATCH = do_DELETE = do_POST

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_port}"
