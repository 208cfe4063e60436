"""A provider of models for the test: answers Chat Completions, Responses and Messages, and keeps the last request of each path."""

import http.server
import json
import threading

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
ANSWERS = {
    "/v1/chat/completions": {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
    },
    "/v1/responses": {
        "id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "parallel_tool_calls": False,
        "tool_choice": "auto", "tools": [], "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        "output": [{
            "id": "o", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        }],
    },
    "/v1/messages": {
        "id": "a", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None,
        "content": [{"type": "text", "text": "done"}], "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


class Provider(http.server.ThreadingHTTPServer):
    """A provider on a free port; `received` has the last request of each path, parsed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.received = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.split("?")[0]
        self.server.received[path] = body
        answer = json.dumps(ANSWERS[path]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass
