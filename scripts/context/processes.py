"""Processes of the scripts that measure sessions: started here, and all ended by `end`."""

import signal
import socket
import subprocess
import time

STARTED = []


def start(command, **more):
    process = subprocess.Popen(command, **more)
    STARTED.append(process)
    return process


def end():
    for process in STARTED:
        process.send_signal(signal.SIGCONT)  # one that was stopped
        process.kill()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def redis(port):
    """Starts a Redis without a disk, and waits until it answers."""
    process = start(["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL)
    for _ in range(200):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
                one.sendall(b"PING\r\n")
                if one.recv(64) == b"+PONG\r\n":
                    return process
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit("redis-server does not answer")
