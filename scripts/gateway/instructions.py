"""Instructions of the gateway for one forwarded request, counted by valgrind: a number that other load on the machine does not change.

instructions.py BINARY [--size KB] [--header LINE]. Two runs on one connection, with 500 and 1500 requests; the difference is what a
request costs, without the start and the end of the program. The kernel's share is not counted. Needs valgrind and nginx.
"""

import argparse
import pathlib
import re
import signal
import socket
import subprocess
import tempfile

from bench import free_port, nginx, rows, running

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("--size", type=int, default=1, help="kilobytes of the body")
parser.add_argument("--header", action="append", default=[], help="a line for each request, as 'Accept-Encoding: stc'")
parser.add_argument("--keep", help="a file for the profile of the longer run, for callgrind_annotate")
options = parser.parse_args()


def ask(port, count):
    """Sends requests one after another on one connection."""
    lines = "".join(f"{line}\r\n" for line in options.header)
    request = f"GET /rows.json HTTP/1.1\r\nhost: h\r\naccept: */*\r\n{lines}\r\n".encode()
    with socket.create_connection(("127.0.0.1", port), 60) as sock, sock.makefile("rb") as answers:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            sock.sendall(request)
            assert answers.readline().split()[1] == b"200"
            length = 0
            while (line := answers.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answers.read(length)


def instructions(folder, upstream, count):
    port, profile = free_port(), pathlib.Path(folder, f"{count}.profile")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", options.binary, "--listen", f"127.0.0.1:{port}",
               "--upstream", f"http://127.0.0.1:{upstream}", "--log", "off", "--workers", "1"]
    with running(command, [port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        ask(port, count)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    text = profile.read_text()
    if options.keep and count > 1000:
        pathlib.Path(options.keep).write_text(text)
    return int(re.findall(r"^(?:summary|totals): (\d+)", text, re.M)[-1])


with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder).chmod(0o755)
    pathlib.Path(folder, "rows.json").write_text(rows(options.size << 10))
    with nginx(folder, "upstream", 1, f"root {folder}; types {{ application/json json; }}") as (upstream, _):
        few, many = (instructions(folder, upstream, count) for count in (500, 1500))
        print(f"{(many - few) / 1000:.0f} instructions for a request of {options.size} KB")
