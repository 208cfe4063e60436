#!/usr/bin/env python3
"""Real clients with tool results in their requests, direct and through the gateway.

    matrix.py WORK GATEWAY [smoke]

    direct    client -> hop -> aimock
    through   client -> hop -> gateway -> hop -> aimock

The two hops around the gateway write raw bodies. Every byte outside the texts of tool results must be the same on both sides,
every changed text must decode to what came (by the reference decoder in Python), the answers must be those of the direct
run, a number of tokens must be that of the shorter request, and an option that cannot be followed must raise the client's own error for status 400, naming the field.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import bodies
import conversation

HERE = Path(__file__).resolve().parent
WORK, GATEWAY = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SMOKE = sys.argv[3:] == ["smoke"]
STARTED = []
# The error of a client and the field in its message, where they are not those of most.
ERRORS = {
    "node ai": ("AI_APICallError", "X-STC-Mode"),
    "python google-genai": ("ClientError", "_stc.mode"),
    "python boto3": ("ValidationException", "X-STC-Mode"),
    "python ollama": ("ResponseError", "X-STC-Mode"),
}


def start(*command, ready, env=None):
    """Starts a process; returns what `ready` finds in one of its lines."""
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})}
    )
    STARTED.append(process)
    for line in process.stdout:
        if (found := ready(line)) is not None:
            # The pipe must not fill up.
            subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
            return process, found
    raise SystemExit(f"{command[0]} ended before it was ready")


def hop(upstream, folder, *more):
    _, port = start(sys.executable, HERE / "hop.py", upstream, folder, *more, ready=lambda line: int(line))
    scheme = "https" if any(str(word).endswith(".pem") for word in more) else "http"
    return f"{scheme}://127.0.0.1:{port}"


def certificate():
    """Makes a certificate for 127.0.0.1, its key in the same file."""
    file = WORK / "hop.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, "-keyout", file, "-out", f"{file}.crt"]
    subprocess.run([str(word) for word in made], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    os.environ["AWS_CA_BUNDLE"] = f"{file}.crt"
    return file


def gateway(upstream, more=""):
    folder = Path(tempfile.mkdtemp())
    config = folder / "gateway.toml"
    config.write_text(f'listen = "127.0.0.1:0"\nlog = "off"\n[[routes]]\npath = "/"\nupstream = "{upstream}"\ncontext = true\n{more}')
    address = lambda line: line.split("listening on ")[1].strip() if "listening on " in line else None
    return start(GATEWAY, "--config", config, ready=address)


def aimock():
    file = WORK / "fixtures.json"
    file.write_text(json.dumps(conversation.fixtures()))
    port = free_port()
    cli = WORK / "js/node_modules/@copilotkit/aimock/dist/cli.js"
    process = subprocess.Popen(["node", cli, "--port", str(port), "--fixtures", file, "--strict", "--log-level", "silent"])
    STARTED.append(process)
    url = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            urllib.request.urlopen(f"{url}/health", timeout=1)
            return url
        except OSError:
            time.sleep(0.05)
    raise SystemExit("aimock does not answer")


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def recorded(folder):
    return [(path.with_suffix(".head").read_text(), path.read_bytes()) for path in sorted(folder.glob("*.body"))]


def client(name, url):
    language, which = name.split(" ")
    if language == "python":
        command = [WORK / "venv/bin/python", HERE / "python_client.py", which, url]
    else:
        command = ["node", WORK / "js/node_client.mjs", which, url, WORK / "conversation.json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def run(name, model):
    """Runs a client direct and through; returns a line for the table."""
    folder = Path(tempfile.mkdtemp())
    # boto3 sends a bearer token over TLS only.
    tls = [certificate()] if name == "python boto3" else []
    direct = client(name, hop(model, folder / "direct", "counts", *tls))
    _, address = gateway(hop(model, folder / "after", "counts"))
    through = client(name, hop(address, folder / "before", *tls))
    assert through["answers"] == direct["answers"], (name, direct["answers"], through["answers"])
    assert all(conversation.ANSWER == answer for answer in through["answers"].values()), (name, through["answers"])
    expected, field = ERRORS.get(name, ("BadRequestError", "_stc.mode"))
    apis = {what.split(" ")[0] for what in through["answers"]}
    assert apis == set(through["refused"]), (name, through["refused"])
    for kind, message in through["refused"].values():
        assert kind == expected and field in message, (name, kind, message)
    assert not direct["refused"] or field != "X-STC-Mode", "without a gateway the header means nothing"
    # A refused request reaches the first hop only.
    before, after = recorded(folder / "before"), recorded(folder / "after")
    passed = [(head, body) for head, body in before if b'"_stc"' not in body and "x-stc-mode" not in head.lower()]
    assert len(passed) == len(after) and len(before) == len(passed) + len(apis), (name, len(before), len(after))
    texts = 0
    for (head, came), (_, went) in zip(passed, after):
        changed = bodies.compare(came, went)
        assert not changed or "AWS4-HMAC-SHA256" not in head, (name, "a signed request changed")
        texts += changed
    assert texts >= sum("signed" not in what for what in through["answers"]), (name, "no text changed", texts)
    saved = sum(len(came) - len(went) for (_, came), (_, went) in zip(passed, after))
    counted = counts(name, direct["counts"], through["counts"], after)
    return f"{name:18} {len(through['answers']):8} {len(after):9} {texts:7} {saved:12,} {counted:>6}  {', '.join(sorted(through['refused']))}: {expected}"


def counts(name, direct, through, after):
    """Checks that a number of tokens is that of the request as it will be sent; returns how many numbers there were."""
    assert set(direct) == set(through), (name, direct, through)
    values = lambda body: [value for _, _, value in bodies.texts(body)[1]]
    path = lambda head: head.split()[1].partition("?")[0]
    sent = {path(head).split("/", 2)[2]: values(body) for head, body in after}
    for what in direct:
        assert 0 < through[what] < direct[what], (name, what, direct, through)
        of = what.replace(":countTokens", ":generateContent") if ":" in what else what.split("/")[0]
        assert sent[what] == sent[of], (name, what, "other texts are counted than sent")
    return len(direct)


def turns(model):
    """Twenty turns of an agent that resends everything: each request is a prefix of the next, up to the end of its messages."""
    import http.client

    folder = Path(tempfile.mkdtemp())
    after = hop(model, folder / "after")
    process, first = gateway(after)
    _, second = gateway(after)
    page = lambda turn: json.dumps([{**row, "page": turn} for row in conversation.ROWS[: 8 + turn]])
    for path, make in [("/v1/chat/completions", conversation.chat), ("/v1/messages", conversation.messages), ("/v1/responses", conversation.responses)]:
        key = "input" if path.endswith("responses") else "messages"
        before = len(recorded(folder / "after"))
        for turn in range(20):
            if turn == 7:
                process.terminate()
                process.wait()
                process, first = gateway(after)
            address = second if turn in (11, 12, 16) else first
            body = json.dumps({"model": "gpt-4o", "max_tokens": 9, key: make(turn + 1, page)}, ensure_ascii=False)
            connection = http.client.HTTPConnection(address.removeprefix("http://"))
            connection.request("POST", path, body.encode(), {"content-type": "application/json"})
            assert connection.getresponse().status == 200, path
        sent = [body for _, body in recorded(folder / "after")][before:]
        assert len(sent) == 20
        for one, next_one in zip(sent, sent[1:]):
            text, end = bodies.end_of_rows(one)
            assert next_one.decode().startswith(text[:end]), f"{path}: a request is no prefix of the next"
        print(f"{path}: twenty turns, each a prefix of the next; restarted before turn 8, a second gateway in turns 12, 13 and 17")


def main():
    (WORK / "conversation.json").write_text(
        json.dumps(
            {
                "question": conversation.QUESTION,
                "text": conversation.TEXT,
                "chat": conversation.chat(),
                "messages": conversation.messages(),
                "responses": conversation.responses(),
            }
        )
    )
    model = aimock()
    names = ["python openai", "python anthropic"]
    if not SMOKE:
        names += ["python agents", "node openai", "node anthropic", "node ai"]
        names += ["python google-genai", "python boto3", "python ollama"]
    print(f"{'client':18} {'answers':>8} {'requests':>9} {'texts':>7} {'bytes saved':>12} {'counts':>6}  refused option")
    for name in names:
        print(run(name, model), flush=True)
    turns(model)


if __name__ == "__main__":
    try:
        main()
    finally:
        for process in STARTED:
            process.kill()
