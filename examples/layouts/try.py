#!/usr/bin/env python3
"""Runs `linebounce layout` on everything in this folder, and on recorded programs of examples/, and prints what came out.

    PATH=$PWD/build/release:$PATH examples/layouts/try.py [commits] [kernel] [recordings] [-o DIR]

Exits with code 1 if fewer than eight of the ten published changes get the sign that was measured.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent

# Name, structure, measured sign: commits/README.md.
COMMITS = [
    ("file_reference", "file", 1),
    ("socket_reference", "sock_common", 1),
    ("socket_drops", "sock", 1),
    ("zone_locks", "zone", 1),
    ("group_load", "task_group", 1),
    ("mmap_lock_halves", "mm_struct", -1),
    ("mm_locks_apart", "mm_struct", 1),
    ("neighbour_reference", "neighbour", 1),
    ("dentry_lock", "dentry", 1),
    ("queue_state", "Qdisc", 1),
]
KERNEL = ["netns_ipv4", "net_device", "inet_connection_sock", "tcp_sock"]
# Program, structure.
RECORDINGS = [
    ("published/file_reference.c", "file"),
    ("published/socket_drops.c", "socket"),
    ("published/memory_locks.c", "space"),
    ("published/device_reference.c", "device"),
    ("published/work_lists.c", "work"),
    ("advice/ring_indices.c", "ring"),
]


def run(*arguments: str | Path) -> dict:
    done = subprocess.run(["linebounce", "layout", *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"linebounce layout {' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)


def gain_text(gain: dict) -> str:
    return f"{gain['gain_pct']:+.1f} % ({gain['low_pct']:.1f} to {gain['high_pct']:.1f})"


def commits(out: Path) -> int:
    """The sign of each published change, on the usual machines; and what the search makes of the layout before."""
    right = 0
    print(
        "| change | measured | " + " | ".join(("two sockets", "eight sockets", "sign", "search, of the layout before")) + " |"
    )
    for name, structure, sign in COMMITS:
        layouts, table = HERE / "commits" / f"{name}.toml", HERE / "commits" / f"{name}.rst"
        place = [f"{layouts}:{structure}_before", f"{layouts}:{structure}_after"]
        diff = run("diff", *place, "--accesses", table, "-o", out / name / "diff")
        gains = diff["gains"]
        signs = {1 if g["low_pct"] > 0 else -1 if g["high_pct"] < 0 else 0 for g in gains}
        agrees = sign in signs and -sign not in signs
        right += agrees
        found = run("optimise", f"{structure}_before", "--pahole", layouts, "--accesses", table, "-o", out / name / "optimise")
        best = ", ".join(gain_text(g) for g in found["confirmed"]) if found["best"] else "nothing better"
        cells = [name, "+" if sign > 0 else "-", *(gain_text(g) for g in gains), "right" if agrees else "wrong", best]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"{right} of {len(COMMITS)} signs are right")
    return right


def optimised(label: str, seconds: float, found: dict) -> None:
    gains = [gain_text(g) for g in found["confirmed"]] if found["best"] else ["nothing better", ""]
    chosen = next((t for t in found["tried"] if t["name"] == found["best"]), None)
    size = f"{found['size_bytes']} -> {chosen['size_bytes']}" if chosen else str(found["size_bytes"])
    cells = [label, str(len(found["touched"])), size, *gains, f"{seconds:.0f} s"]
    print("| " + " | ".join(cells) + " |", flush=True)


def kernel(out: Path) -> None:
    for name in KERNEL:
        begin = time.monotonic()
        found = run("optimise", name, "--accesses", HERE / "kernel" / f"{name}.rst", "-o", out / name)
        optimised(name, time.monotonic() - begin, found)


def recordings(out: Path) -> None:
    for source, structure in RECORDINGS:
        program = out / Path(source).stem
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run(["linebounce-cc", "-O2", "-g", "-pthread", EXAMPLES / source, "-o", program], check=True)
        subprocess.run(["linebounce-record", "-o", f"{program}.lbt", "--", program], check=True, capture_output=True)
        begin = time.monotonic()
        found = run("optimise", structure, "--accesses", f"{program}.lbt", "-o", out / f"{program.name}_layout")
        optimised(f"{program.name}: {structure}", time.monotonic() - begin, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["commits", "kernel", "recordings"])
    parser.add_argument("-o", "--output", type=Path, default=Path("out/layouts"))
    arguments = parser.parse_args()
    right = len(COMMITS)
    if "commits" in arguments.what:
        right = commits(arguments.output / "commits")
    if "kernel" in arguments.what:
        kernel(arguments.output / "kernel")
    if "recordings" in arguments.what:
        recordings(arguments.output / "recordings")
    sys.exit(0 if right >= 8 else 1)


if __name__ == "__main__":
    main()
