#!/usr/bin/env python3
"""Starts a redis-server with three I/O threads on a Unix socket, sends it the same commands each time, and stops it.

redis_load.py [--requests N] SERVER [ARGUMENT...]      SERVER: `redis-server`, or `linebounce-record ... -- redis-server`

Twelve clients send pipelines of 25 commands at a time: with fewer than two for each I/O thread, redis does without them.
Prints a checksum over all replies, and how many were counted by all clients together.
"""

import argparse
import hashlib
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLIENTS = 12
PIPELINE = 25  # commands


def command(*words: str) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)


def connect(path: Path, server: subprocess.Popen[bytes]) -> socket.socket:
    for _ in range(600):
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(str(path))
        except OSError:
            client.close()
            if server.poll() is not None:
                sys.exit(f"redis_load.py: the server has ended with {server.returncode}")
            time.sleep(0.02)
        else:
            return client
    sys.exit("redis_load.py: the server does not answer")


def pipeline(client: int, turn: int) -> bytes:
    commands = []
    for i in range(PIPELINE):
        key = f"key:{client}:{(turn * PIPELINE + i) * 7 % 60}"
        commands.append(command("SET", key, f"{turn}:{i}" * 4) if i % 5 == 0 else command("GET", key))
    return b"".join(commands) + command("INCR", f"turns:{client}") + command("ECHO", "end of pipeline")


def replies(client: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\r\nend of pipeline\r\n"):
        part = client.recv(1 << 16)
        if not part:
            sys.exit("redis_load.py: the server has closed a connection")
        received += part
    return received


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=3600)
    parser.add_argument("server", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "socket"
        settings = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", folder, "--loglevel", "warning"]
        settings += ["--io-threads", "3", "--io-threads-do-reads", "yes"]
        server = subprocess.Popen([*options.server, *settings], stdout=subprocess.DEVNULL)
        try:
            clients = [connect(path, server) for _ in range(CLIENTS)]
            answers = [hashlib.sha256() for _ in clients]
            for turn in range(options.requests // (CLIENTS * PIPELINE)):
                for number, client in enumerate(clients):
                    client.sendall(pipeline(number, turn))
                for client, answer in zip(clients, answers, strict=True):
                    answer.update(replies(client))
            clients[0].sendall(command("DBSIZE") + command("ECHO", "end of pipeline"))
            size = replies(clients[0]).split(b"\r\n")[0].decode()
            clients[0].sendall(command("SHUTDOWN", "NOSAVE"))
            server.wait(60)
        finally:
            server.kill()
    print(hashlib.sha256("".join(answer.hexdigest() for answer in answers).encode()).hexdigest()[:16], "keys", size)
    return server.returncode


if __name__ == "__main__":
    sys.exit(main())
