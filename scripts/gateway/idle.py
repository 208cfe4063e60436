"""Ten thousand idle connections and one active one: its requests are answered, and idle connections need little memory.

Half of the idle connections have sent nothing; half have received one response and stay open.
"""

import argparse
import pathlib
import resource
import socket
import statistics
import tempfile
import time

from bench import fetch, gateway, nginx, resident, rows

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("--connections", type=int, default=10_000)
options = parser.parse_args()

_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
assert hard == resource.RLIM_INFINITY or hard > options.connections + 100, f"only {hard} files: raise `ulimit -Hn`"
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder).chmod(0o755)
    pathlib.Path(folder, "4k.json").write_text(rows(4 << 10))
    config = pathlib.Path(folder, "gateway.toml")
    with nginx(folder, "upstream", 1, f"root {folder}; types {{ application/json json; }}") as (upstream, _):
        config.write_text(f'upstream = "http://127.0.0.1:{upstream}"\n[limits]\nconnections = {options.connections + 100}\nconnections_per_client = {options.connections + 100}\n[timeouts]\nrequest = 300\n')
        with gateway(options.binary, ["--config", str(config), "--log", "off"]) as (traffic, admin, process):
            url = f"http://127.0.0.1:{traffic}/4k.json"
            body = fetch(url)[1]
            before = resident(process.pid)
            idle = []
            for number in range(options.connections):
                sock = socket.create_connection(("127.0.0.1", traffic), 20)
                if number % 2:
                    sock.sendall(b"GET /4k.json HTTP/1.1\r\nhost: h\r\n\r\n")
                    came = b""
                    while not came.endswith(body):
                        came += sock.recv(1 << 16)
                idle.append(sock)
            open_now = int(fetch(f"http://127.0.0.1:{admin}/metrics")[1].decode().split("\nstc_connections ")[1].split()[0])
            times = []
            for _ in range(200):
                began = time.perf_counter()
                assert fetch(url)[1] == body
                times.append((time.perf_counter() - began) * 1e3)
            after = resident(process.pid)
            each = (after - before) / options.connections
            print(f"{open_now} idle connections: {each:.1f} KB each; a request beside them takes {statistics.median(times):.1f} ms, at the most {max(times):.1f} ms")
            assert open_now >= options.connections, "all of them are open"
            assert each < 32, "an idle connection costs less than 32 KB"
            # Every one of them still works.
            for sock in idle[:: max(1, options.connections // 100)]:
                sock.sendall(b"GET /4k.json HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
                came = b""
                while chunk := sock.recv(1 << 16):
                    came += chunk
                assert came.endswith(body)
