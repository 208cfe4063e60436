"""Shared by the load and soak scripts: nginx and the gateway as processes on loopback, and the output of wrk.

Every process listens on 127.0.0.1 only and ends with its `with` block.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_for(port, process):
    """Until it listens, or has ended, or twenty seconds have gone."""
    for _ in range(400):
        if process.poll() is not None:
            raise SystemExit(f"{process.args[0]} ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"{process.args[0]} does not listen on {port}")


@contextlib.contextmanager
def running(command, ports, **more):
    process = subprocess.Popen(command, **more)
    try:
        for port in ports:
            wait_for(port, process)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def nginx(folder, name, workers, server, upstream=""):
    """nginx with one `server` block, in the foreground, as the user of this process."""
    home = pathlib.Path(folder, name)
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    temporary = "".join(f"{kind}_temp_path {home};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    (home / "nginx.conf").write_text(
        f"daemon off; worker_processes {workers}; pid {home}/pid; error_log {home}/error.log;\n"
        "events { worker_connections 4096; }\n"
        f"http {{ access_log off; {temporary} keepalive_requests 1000000000; tcp_nodelay on;\n"
        f"{upstream}\nserver {{ listen 127.0.0.1:{port}; {server} }} }}\n"
    )
    command = [NGINX, "-p", str(home), "-c", str(home / "nginx.conf")]
    with running(command, [port], stderr=subprocess.DEVNULL) as process:
        yield port, process


@contextlib.contextmanager
def gateway(binary, arguments, **more):
    """Starts the gateway; yields its traffic port, its admin port and its process."""
    traffic, admin = free_port(), free_port()
    command = [binary, "--listen", f"127.0.0.1:{traffic}", "--admin", f"127.0.0.1:{admin}", *arguments]
    more.setdefault("stderr", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.DEVNULL)
    with running(command, [traffic, admin], **more) as process:
        yield traffic, admin, process


def wrk(url, seconds, connections, headers=(), threads=2, pause=None):
    """Requests a second, p50 and p99 in microseconds, errors of any kind, and how many requests there were. `pause` is the mean time in
    milliseconds that a connection waits before a request."""
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency"]
    if pause:
        script = pathlib.Path(tempfile.gettempdir(), f"stc-pause-{pause}.lua")
        script.write_text(f"function delay() return math.random(0, {2 * pause}) end\n")
        command += ["-s", str(script)]
    for header in headers:
        command += ["-H", header]
    said = subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout
    errors = sum(int(count) for count in re.findall(r"(?:connect|read|write|timeout) (\d+)", said))
    errors += sum(int(count) for count in re.findall(r"Non-2xx or 3xx responses: (\d+)", said))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    count = int(re.search(r"(\d+) requests in", said)[1])
    return rate, microseconds(said, "50%"), microseconds(said, "99%"), errors, count


def microseconds(said, percentile):
    value, unit = re.search(re.escape(percentile) + r"\s+([\d.]+)(us|ms|s)\b", said).groups()
    return float(value) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


def fetch(url, headers=()):
    with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers)), timeout=20) as response:
        return response.headers, response.read()


def resident(pid):
    """Kilobytes of memory a process has."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise SystemExit(f"process {pid} is gone")


def busy(pid):
    """Seconds of processor time that a process and its children have used."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    spent = 0
    for one in [pid, *children]:
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        spent += int(fields[11]) + int(fields[12])
    return spent / os.sysconf("SC_CLK_TCK")


def rows(size):
    """A JSON body of about this size, as a database tool would answer."""
    cities = ["Oslo", "Lisbon", "Osaka", "Quito", "Accra"]
    out, number = ["["], 0
    length = 2
    while length < size - 120 or number == 0:
        row = f'{{"id": {number}, "name": "user {number * 7919 % 10007}", "city": "{cities[number % 5]}", "active": {"true" if number % 3 else "false"}}}'
        out.append(("" if number == 0 else ",\n ") + row)
        length += len(out[-1])
        number += 1
    return "".join(out) + "]"


def cores():
    return len(os.sched_getaffinity(0))
