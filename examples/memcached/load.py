#!/usr/bin/env python3
"""Runs memcached under a load that is the same each time, and ends it.

load.py [-c CLIENTS] [-n REQUESTS of each] COMMAND...

COMMAND is memcached, or what runs it: linebounce-record -o FILE -- memcached. Each client stores its share of the keys, then
asks: nine of ten requests are a get, one a set, and few keys are asked for often. Clients send requests by the dozen, as those
do that keep a connection open for many users.
"""

import argparse
import getpass
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEYS = 1000
AT_ONCE = 12
VALUE_BYTES = 100


def set_request(key: int) -> bytes:
    return b"set key%d 0 0 %d\r\n%s\r\n" % (key, VALUE_BYTES, bytes([97 + key % 26]) * VALUE_BYTES)


def get_request(key: int) -> bytes:
    return b"get key%d\r\n" % key


def requests_of(client: int, clients: int, count: int) -> list[bytes]:
    generator = random.Random(client)
    requests = [set_request(key) for key in range(client, KEYS, clients)]
    for _ in range(count):
        key = int(KEYS * generator.random() ** 3)
        requests.append(set_request(key) if generator.random() < 0.1 else get_request(key))
    return requests


def connected(path: Path, server: subprocess.Popen) -> socket.socket:
    """Waits until memcached has made its socket and listens."""
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
        else:
            return connection
        if server.poll() is not None:
            sys.exit(f"load.py: memcached ended with exit code {server.returncode} before it could be asked")
        time.sleep(0.01)


class Client:
    def __init__(self, connection: socket.socket, requests: list[bytes]) -> None:
        self.requests = requests
        self.socket = connection
        self.answers = self.socket.makefile("rb")

    def send(self) -> int:
        """Sends the next dozen requests, or fewer at the end. Returns their number."""
        now, self.requests = self.requests[:AT_ONCE], self.requests[AT_ONCE:]
        self.socket.sendall(b"".join(now))
        return len(now)

    def receive(self, answers: int) -> None:
        while answers:
            line = self.answers.readline()
            if line.startswith(b"VALUE"):
                self.answers.read(VALUE_BYTES + 2)
            elif line in (b"END\r\n", b"STORED\r\n"):
                answers -= 1
            else:
                sys.exit(f"load.py: memcached answers {line!r}")


def serve(clients: list[Client]) -> None:
    while any(client.requests for client in clients):
        sent = [client.send() for client in clients]
        for client, answers in zip(clients, sent, strict=True):
            client.receive(answers)


def stop(path: Path, server: subprocess.Popen) -> int:
    """Ends memcached as at an orderly restart: its threads end, and it waits for them."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"shutdown graceful\r\n")
        return server.wait(timeout=60)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-c", "--clients", type=int, default=4)
    parser.add_argument("-n", "--requests", type=int, default=500)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "memcached"
        # One thread a client. The threads that would run only when it is time for their work are switched off.
        settings = ["-s", str(path), "-t", str(options.clients), "-m", "64", "-A", "-u", getpass.getuser(), "-o", "no_modern"]
        with subprocess.Popen([*options.command, *settings], stdin=subprocess.DEVNULL) as server:
            try:
                each = range(options.clients)
                serve([Client(connected(path, server), requests_of(i, options.clients, options.requests)) for i in each])
                return stop(path, server)
            finally:
                if server.poll() is None:
                    server.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
