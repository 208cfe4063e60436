#!/usr/bin/env python3
"""Made-up secrets of every rule, sent through gateways in every way, and searched for in everything that leaves or stays.

    planted.py GATEWAY PLANTED

PLANTED is the example `planted` of stc-redact. Two gateways share a Redis, log as much as they can, and write telemetry. Every text is
sent as the result and as the arguments of a call, in all APIs, through a route of every mode. Fails if twelve bytes of a secret are in
a body at the upstream, in a Redis, in the telemetry, in the logs, on a page of the admin address, or in an answer. A third gateway with
redaction off shows that the search finds what is there. Further gateways get texts in every place and wrapping of planted_places.py, through
routes and through the plugin: where redaction is required nothing of a secret goes out, where it is on what goes out is counted.
"""

import http.client
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import planted_places
import upstream
from processes import end, free_port, redis, start

GATEWAY, PLANTED = (Path(program).resolve() for program in sys.argv[1:])
# A secret counts as found if this many bytes of it are.
PART = 12
ROUTES = {
    "safe": 'mode = "safe"',
    "standard": 'mode = "standard"',
    "aggressive": 'mode = "aggressive"',
    "on": 'mode = "lossless", redact = { enabled = "on" }',
    "required": 'mode = "disabled", redact = { enabled = "required" }',
}
PAGES = ["/", "/state", "/metrics", "/healthz", "/readyz"]
SECRET = "sixteen bytes or more"


class Gateway:
    def __init__(self, name, folder, model, port, database, routes):
        self.telemetry, self.out, self.errors = (folder / f"{name}.{kind}" for kind in ("jsonl", "out", "err"))
        config = folder / f"{name}.toml"
        refused = f"http://127.0.0.1:{free_port()}"
        tables = "".join(f'[[routes]]\npath = "/{path}"\nupstream = "{model}"\ncontext = {{ {own} }}\n' for path, own in routes.items())
        config.write_text(
            'listen = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\nlog = "json"\nlog_level = "trace"\n'
            f'{tables}[[routes]]\npath = "/refused"\nupstream = "{refused}"\ncontext = {{ mode = "safe" }}\n'
            '[[routes]]\npath = "/compress"\ncompress = true\ncontext = { mode = "standard" }\n'
            f'[context]\nmin_bytes = 16\n[context.telemetry]\nfile = "{self.telemetry}"\nqueue = 100000\n'
            f'[context.store]\nredis = "redis://127.0.0.1:{port}/{database}"\nsecret_env = "STC_STORE_SECRET"\ntimeout = 2\n'
        )
        environment = {**os.environ, "STC_STORE_SECRET": SECRET}
        process = start([GATEWAY, "--config", config], stdout=self.out.open("wb"), stderr=self.errors.open("wb"), env=environment)
        found = wait(lambda: dict(re.findall(r"(listening|admin)\b.* on http://(\S+)", self.errors.read_text())), 2, process)
        self.admin = found["admin"]
        self.connection = http.client.HTTPConnection(found["listening"], timeout=30)

    def post(self, path, body, session, credential=""):
        headers = {"content-type": "application/json", "x-stc-session": session, "authorization": f"Bearer {credential}"}
        self.connection.request("POST", path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, f"{answer.headers}\n".encode() + answer.read()

    def pages(self):
        admin = http.client.HTTPConnection(self.admin, timeout=30)
        for page in PAGES:
            admin.request("GET", page)
            answer = admin.getresponse()
            assert answer.status == 200, page
            yield answer.read()


def wait(check, least, process):
    """Returns what `check` returns when it is long enough."""
    for _ in range(600):
        found = check()
        if len(found) >= least:
            return found
        assert process.poll() is None, "the gateway ended"
        time.sleep(0.05)
    raise SystemExit(f"expected {least}, found {len(found)}")


def values(port, database):
    """Returns all names and values of a Redis."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        replies = connection.makefile("rb")

        def command(*words):
            words = [word if isinstance(word, bytes) else word.encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            return reply()

        def reply():
            line = replies.readline()
            assert line[:1] in b"+$*", line
            if line[:1] == b"$":
                return replies.read(int(line[1:]) + 2)[:-2]
            return [reply() for _ in range(int(line[1:]))] if line[:1] == b"*" else line

        command("SELECT", str(database))
        return [text for name in command("KEYS", "*") for text in (name, command("GET", name))]


def requests(text):
    """Returns the path and the body of a request of each API, with the text as the result and as the arguments of a call."""
    given = {"command": text}
    string = json.dumps(given)
    call = {"id": "c", "type": "function", "function": {"name": "env", "arguments": string}}
    chat = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": text}]
    items = [{"type": "function_call", "call_id": "c", "name": "env", "arguments": string}, {"type": "function_call_output", "call_id": "c", "output": text}]
    blocks = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "env", "input": given}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": [{"type": "text", "text": text}]}]},
    ]
    parts = [
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "env", "args": given}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "env", "response": {"rows": [text], "output": text}}}]},
    ]
    turns = [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "env", "input": given}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": text}, {"json": {"rows": [text]}}]}}]},
    ]
    own = [{"role": "assistant", "tool_calls": [{"function": {"name": "read_file", "arguments": given}}]}, {"role": "tool", "tool_name": "read_file", "content": text}]
    return [
        ("v1/chat/completions", {"messages": chat}),
        ("v1/responses", {"input": items}),
        ("v1/messages", {"messages": blocks}),
        ("v1beta/models/m:generateContent", {"contents": parts}),
        ("model/m/converse", {"messages": turns}),
        ("api/chat", {"messages": own}),
    ]


def parts_of(secrets):
    return {secret[at : at + PART] for secret in secrets for at in range(len(secret) - PART + 1)}


def found_in(texts, parts):
    """Returns which parts are in the texts, with escapes resolved and without changes of colour too."""
    whole = b"\n".join(texts).decode("utf-8", "replace")
    shown = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), whole).replace("\x1b[7m", "")
    return {text[at : at + PART] for text in (whole, shown) for at in range(len(text) - PART + 1)} & parts


def repeated(text):
    """Returns a text in which a dictionary would have what is repeated."""
    return "".join(f"{'frost lark pine quay dusk'.split()[at * at % 5]} {at} uses {text} and goes on\n" for at in range(30))


def drive(gateways, planted, credential):
    """Sends every text through every route of the first gateway, and through one of the second. Returns the answers."""
    answers, sent = [], 0
    for number, row in enumerate(planted):
        text = repeated(row["text"]) if number % 9 == 0 else row["text"]
        path, body = requests(text)[number % 6]
        body = json.dumps(body, ensure_ascii=bool(number % 2)).encode()
        for route in ROUTES:
            status, answer = gateways[0].post(f"/{route}/{path}", body, f"s{number}", credential)
            assert status == 200, (status, route, answer, row)
            answers.append(answer)
            sent += 1
        # What the first kept is taken from the Redis.
        route = list(ROUTES)[number % len(ROUTES)]
        status, answer = gateways[1].post(f"/{route}/{path}", body, f"s{number}", credential)
        assert status == 200, (status, answer)
        answers.append(answer)
        sent += 1
        if number % 50 == 0:
            # Requests that fail: at the upstream, because they are not read, because they are ambiguous.
            for status, route, wrong in [
                (502, "refused", body),
                (502, "required", body[:-1]),
                (502, "required", body.replace(b"{", b'{"messages":[],"input":[],"contents":[],', 1)),
                (400, "safe", body.replace(b"{", b'{"_stc":{"mode":"best"},', 1)),
            ]:
                got, answer = gateways[0].post(f"/{route}/{path}", wrong, "s", credential)
                assert got == status, (got, status, route, answer)
                answers.append(answer)
        if path == "v1/chat/completions":
            status, answer = gateways[0].post("/compress", body, "s", credential)
            assert status == 200, answer
            answers.append(answer)
    return answers, sent


def everywhere(folder, planted):
    """Sends texts in every place and wrapping, through routes and through the plugin."""
    received = []
    model = f'upstream = "http://{upstream.start(lambda body, path: received.append(body))}"\n'
    senders = {}
    for when in ("required", "on"):
        table = f'{{ mode = "safe", redact = {{ enabled = "{when}" }} }}'
        for name, config in (
            (f"route, {when}", f'[[routes]]\npath = "/"\n{model}context = {table}\n'),
            (f"plugin, {when}", f'{model}[[plugins]]\nname = "context"\nrequired = true\nsettings = {table}\n'),
        ):
            path, errors = folder / f"{name}.toml", folder / f"{name}.err"
            path.write_text(f'listen = "127.0.0.1:0"\n{config}')
            process = start([GATEWAY, "--config", path], stdout=subprocess.DEVNULL, stderr=errors.open("wb"))
            found = wait(lambda: re.findall(r"listening on http://(\S+)", errors.read_text()), 1, process)
            senders[name] = sender(http.client.HTTPConnection(found[0], timeout=30))
    counts = planted_places.drive(senders, itertools.cycle(planted), received, found_in, parts_of)
    for name, (clean, refused, counted) in counts.items():
        print(f"every place, {name:16}: {clean:,} sent without a secret, {refused:,} refused, {counted:,} sent and counted")
        assert clean > 100 and (refused if "required" in name else counted) > 100


def sender(connection):
    def send(method, path, headers, data):
        # Of a request that is refused the body is not read: its connection closes.
        connection.close()
        connection.request(method, f"/{path}", data, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers.get("x-stc-context", "")

    return send


def main():
    received = {}  # the bodies of each route
    model = upstream.start(lambda body, path: received.setdefault(path.split("/")[1], []).append(body))
    url, port, folder = f"http://{model}", free_port(), Path(tempfile.mkdtemp())
    redis(port)
    rows = subprocess.run([PLANTED], check=True, capture_output=True, text=True).stdout.splitlines()
    planted = [json.loads(row) for row in rows]
    parts = parts_of(secret for row in planted for secret in row["secrets"])
    rules, ways = {row["rule"] for row in planted}, Counter(row["way"] for row in planted)
    print(f"{len(planted):,} texts with secrets of {len(rules)} rules in {len(ways)} ways")
    assert len(planted) >= 1000

    everywhere(folder, planted)
    control = Gateway("off", folder, url, port, 1, {"off": 'mode = "aggressive", redact = { enabled = "off" }'})
    for number, row in enumerate(planted[:200]):
        path, body = requests(row["text"])[number % 6]
        control.post(f"/off/{path}", json.dumps(body).encode(), f"s{number}")
    time.sleep(1)
    for place, texts in (("bodies", received.pop("off")), ("Redis", values(port, 1))):
        count = len(found_in(texts, parts))
        assert count > 100, f"the search finds {count} parts of secrets in the {place} of a gateway that leaves them there"
        print(f"redaction off: {count:,} parts of secrets found in {place}, as it should be")

    credential = "credential-of-the-client-4711"
    gateways = [Gateway(name, folder, url, port, 0, ROUTES) for name in ("one", "two")]
    answers, sent = drive(gateways, planted, credential)
    time.sleep(2)  # values, events and lines are written by threads of their own
    bodies = list(itertools.chain.from_iterable(received.values()))
    assert len(bodies) == sent, (len(bodies), sent)
    stored = values(port, 0)
    metrics = list(itertools.chain.from_iterable(gateway.pages() for gateway in gateways))
    telemetry = [gateway.telemetry.read_bytes() for gateway in gateways]
    logs = [file.read_bytes() for gateway in gateways for file in (gateway.out, gateway.errors)]
    # Of a search in nothing, nothing is learned.
    counted = set(re.findall(rb'stc_context_redactions_total\{rule="([a-z0-9-]+)"\} [1-9]', b"".join(metrics)))
    assert {rule.encode() for rule in rules} <= counted, "a rule has found nothing"
    reused = b"".join(telemetry).count(b'"memo_reused":true')
    lines = {place: b"".join(texts).count(b"\n") for place, texts in (("telemetry", telemetry), ("logs", logs))}
    assert len(stored) > len(planted) and reused > 500 and lines["telemetry"] > sent and lines["logs"] > sent, (len(stored), reused, lines)

    failed = False
    clients = parts_of([credential])
    for place, texts in (("bodies", bodies), ("Redis", stored), ("telemetry", telemetry), ("logs", logs), ("admin pages", metrics), ("answers", answers)):
        found = found_in(texts, parts if place == "bodies" else parts | clients)
        failed |= bool(found)
        print(f"{place:12} {sum(map(len, texts)):12,} bytes: {len(found)} parts of secrets {sorted(found)[:5] if found else ''}")
    if failed:
        raise SystemExit(f"a secret is left; what was written is in {folder}")
    print(f"{sent:,} requests through {len(ROUTES)} routes, {reused:,} texts from the store: nothing of a secret in any of them")


try:
    main()
finally:
    end()
