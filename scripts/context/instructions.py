#!/usr/bin/env python3
"""Instructions that a request costs on a route without a context, by callgrind.

    instructions.py GATEWAY [EARLIER]

EARLIER is a gateway of another commit, built in the same way: `git worktree add ../earlier COMMIT`, and there
`cargo build --release -p stc-gateway`. Fails if the gateway needs over 2 % more than it, or changes a byte of a request.
"""

import http.client
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import upstream

FEW, MANY = 50, 450


def collected(gateway, server, body, requests):
    """Returns the instructions of a gateway that serves this many requests."""
    config = Path(tempfile.mkdtemp()) / "gateway.toml"
    config.write_text(f'listen = "127.0.0.1:0"\nlog = "off"\nworkers = 1\nupstream = "{server}"\n')
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", gateway, "--config", config]
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    address = next(line for line in process.stderr if "listening on " in line).split("http://")[1].strip()
    connection = http.client.HTTPConnection(address, timeout=60)
    for _ in range(requests):
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read() == b"{}"
    connection.close()
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    process.wait()
    return int(re.search(r"Collected : (\d+)", said).group(1))


def main():
    came = set()
    address = "http://" + upstream.start(lambda body, _: came.add(body))
    text = "[" + ",".join(r"{\"id\":%d,\"state\":\"open\"}" % number for number in range(100)) + "]"
    body = f'{{"messages":[{{"role":"tool","tool_call_id":"c","content":"{text}"}}]}}'.encode()
    costs = []
    for gateway in sys.argv[1:]:
        few, many = (collected(gateway, address, body, requests) for requests in (FEW, MANY))
        costs.append((many - few) / (MANY - FEW))
        print(f"{gateway}: {costs[-1]:,.0f} instructions a request of {len(body):,} bytes, on a route without a context")
    assert came == {body}, "a byte of a request differs"
    if len(costs) > 1:
        print(f"{costs[0] / costs[1]:.4f} of the earlier one")
        assert costs[0] <= 1.02 * costs[1]


main()
