"""The addresses at which a sweep listens, and what another machine can do with them. A second network namespace acts as
the other machine in the same network."""

import contextlib
import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# What the other machine can do with a port: nothing, or run code. It tries with Dask's own client, once without keys and once
# with keys that the client makes for itself.
_CALLER = """
import contextlib, json, logging, socket, sys
from distributed import Client, Security
logging.disable(logging.CRITICAL)
found = []
for host, port in json.loads(sys.argv[1]):
    try:
        socket.create_connection((host, port), timeout=3).close()
    except OSError:
        found.append("closed")
        continue
    found.append("refuses")
    for protocol, keys in (("tcp", {}), ("tls", {"security": Security.temporary()})):
        with contextlib.suppress(OSError), Client(f"{protocol}://{host}:{port}", timeout=2, **keys) as client:
            found[-1] = "runs code for anybody"
print(json.dumps(found))
"""


def listening(word: str) -> set[tuple[str, int]]:
    """The addresses and ports at which processes with this word in their environment listen."""
    said = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    found = set()
    for line in said.splitlines():
        address, _, port = line.split()[3].rpartition(":")
        if any(_has(number, word) for number in re.findall(r"pid=(\d+)", line)):
            found.add((address.strip("[]").partition("%")[0].replace("*", "0.0.0.0"), int(port)))
    return found


def _has(process: str, word: str) -> bool:
    with contextlib.suppress(OSError):
        return word.encode() in Path(f"/proc/{process}/environ").read_bytes()
    return False


def is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def missing() -> str:
    """Returns why this machine can't have a second network namespace; an empty text if it can."""
    if shutil.which("ip") is None or shutil.which("ss") is None:
        return "iproute2 is not installed"
    name = f"lb{os.getpid()}t"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode != 0:
        return "network namespaces can't be made here"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return ""


@dataclass(frozen=True)
class OtherMachine:
    """A network namespace that is connected to this one."""

    name: str
    here: str  # this machine's address, as the other machine sees it

    def tries(self, sockets: Sequence[tuple[str, int]]) -> list[str]:
        """What the other machine can do with each address and port at which this machine listens."""
        # On the other machine, loopback is that machine itself. So a listener on this machine's loopback is tried at this
        # machine's network address.
        at = [
            (self.here if is_loopback(address) or address in ("0.0.0.0", "::") else address, port) for address, port in sockets
        ]
        command = ["ip", "netns", "exec", self.name, sys.executable, "-c", _CALLER, json.dumps(at)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found: list[str] = json.loads(done.stdout)
        return found


@contextlib.contextmanager
def other_machine() -> Iterator[OtherMachine]:
    """Yields a second network namespace, and deletes it with its virtual cable at the end."""
    number = os.getpid()
    name, cable = f"lb{number}", f"lbc{number}"
    network = f"10.213.{number % 256}"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    ip("netns", "add", name)
    try:
        ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"{network}.1/30", "dev", cable)
        ip("link", "set", cable, "up")
        ip("-n", name, "addr", "add", f"{network}.2/30", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "route", "add", "default", "via", f"{network}.1")
        yield OtherMachine(name, f"{network}.1")
    finally:
        ip("netns", "delete", name)
