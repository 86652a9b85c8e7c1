#!/usr/bin/env python3
"""Runs `linebounce layout` on everything in this folder, and on recorded programs of examples/, and prints what came out.

    PATH=$PWD/build/release:$PATH examples/layouts/try.py [commits] [kernel] [recordings] [--write] [-o DIR]

--write puts the tables into docs/layouts.md. Times are processor time of the whole command, replays included. The drawings
are in DIR/*/*.txt. Exits with code 1 if fewer than eight of the ten published changes get the sign that was measured.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent
PAGE = EXAMPLES.parent / "docs" / "layouts.md"
FEWEST_RIGHT = 8
AS_FACTOR_ABOVE = 200  # percent: as the command itself


@dataclass(frozen=True)
class Commit:
    name: str
    structure: str
    published: str  # commits/README.md
    sign: int = 1


COMMITS = [
    Commit("file_reference", "file", "+20.9 % with 128 threads, +1.3 % with 16"),
    Commit("socket_reference", "sock_common", "+43 %"),
    Commit("socket_drops", "sock", "about +20 %"),
    Commit("zone_locks", "zone", "+1.0 % elapsed, -10.7 % system time"),
    Commit("group_load", "task_group", "a function's share from 5.04 to 3.92 %"),
    Commit("mmap_lock_halves", "mm_struct", "-9.2 %", -1),
    Commit("mm_locks_apart", "mm_struct", "+3.6 %"),
    Commit("neighbour_reference", "neighbour", "+9.0 %"),
    Commit("dentry_lock", "dentry", "+55 %"),
    Commit("queue_state", "Qdisc", "no figure, a gain"),
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


@dataclass
class Answer:
    json: dict[str, Any]
    cpu_s: float


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ask(out: Path, *arguments: str | Path) -> Answer:
    """The answer of `linebounce layout`, which is kept in OUT.json, and the drawing in OUT.txt."""
    before = children_s()
    command = ["linebounce", "layout", *map(str, arguments), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    out.with_suffix(".txt").write_text(done.stdout, encoding="utf-8")
    page = out / ("layout.json" if arguments[0] == "optimise" else "layout_diff.json")
    return Answer(json.loads(page.read_text(encoding="utf-8")), children_s() - before)


def gain_text(gain: dict[str, Any]) -> str:
    middle, low, high = gain["gain_pct"], gain["low_pct"], gain["high_pct"]
    if middle > AS_FACTOR_ABOVE:
        return f"{1 + middle / 100:.1f} times as fast ({1 + low / 100:.1f} to {1 + high / 100:.1f})"
    return f"{middle:+.1f} % ({low:.1f} to {high:.1f})"


def misses_text(gain: dict[str, Any]) -> str:
    return f"{gain['misses_before']:,} → {gain['misses_after']:,}"


def sign_of(gains: list[dict[str, Any]]) -> int:
    """1 if some machine gains and none loses, -1 the other way round."""
    signs = {1 if gain["low_pct"] > 0 else -1 if gain["high_pct"] < 0 else 0 for gain in gains} - {0}
    return signs.pop() if len(signs) == 1 else 0


def best_text(found: dict[str, Any]) -> str:
    return ", ".join(f"{it['gain_pct']:+.0f} %" for it in found["confirmed"]) if found["best"] else "nothing better"


def table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def commits(out: Path) -> str:
    """The sign of each published change, and what the search makes of the layout before."""
    rows, right = [], 0
    for it in COMMITS:
        layouts, accesses = HERE / "commits" / f"{it.name}.toml", HERE / "commits" / f"{it.name}.rst"
        place = [f"{layouts}:{it.structure}_{when}" for when in ("before", "after")]
        gains = ask(out / f"{it.name}_diff", "diff", *place, "--accesses", accesses).json["gains"]
        agrees = sign_of(gains) == it.sign
        right += agrees
        found = ask(out / it.name, "optimise", f"{it.structure}_before", "--pahole", layouts, "--accesses", accesses)
        mark = "" if agrees else " (wrong sign)"
        figures = [gain_text(gain) for gain in gains]
        rows.append([f"`{it.name}`{mark}", it.published, *figures, misses_text(gains[0]), best_text(found.json)])
        print(*rows[-1], sep="; ", flush=True)
    print(f"{right} of {len(COMMITS)} signs are right")
    titles = ["change", "published", "two sockets", "eight sockets", "misses, two sockets", "search, of the layout before"]
    return table(titles, rows) + f"\n{right} of {len(COMMITS)} signs are right.\n"


def optimised(label: str, answer: Answer) -> list[str]:
    found = answer.json
    gains = [gain_text(gain) for gain in found["confirmed"]] if found["best"] else ["nothing better", ""]
    chosen = next((tried for tried in found["tried"] if tried["name"] == found["best"]), None)
    size = f"{found['size_bytes']} → {chosen['size_bytes']}" if chosen else str(found["size_bytes"])
    misses = misses_text(found["confirmed"][0]) if found["best"] else ""
    row = [label, str(len(found["touched"])), size, *gains, misses, f"{answer.cpu_s:.1f} s"]
    print(*row, sep="; ", flush=True)
    return row


STRUCTURE_TITLES = ["structure", "touched", "bytes", "two sockets", "eight sockets", "misses, two sockets", "time"]


def kernel(out: Path) -> str:
    rows = []
    for name in KERNEL:
        rows.append(optimised(f"`{name}`", ask(out / name, "optimise", name, "--accesses", HERE / "kernel" / f"{name}.rst")))
    return table(STRUCTURE_TITLES, rows)


def recordings(out: Path) -> str:
    rows = []
    for source, structure in RECORDINGS:
        program = out / Path(source).stem
        subprocess.run(["linebounce-cc", "-O2", "-g", "-pthread", EXAMPLES / source, "-o", program], check=True)
        trace = program.with_suffix(".lbt")
        subprocess.run(["linebounce-record", "-o", trace, "--", program], check=True, capture_output=True)
        answer = ask(out / f"{program.name}_layout", "optimise", structure, "--accesses", trace)
        rows.append(optimised(f"`{structure}` of `{source}`", answer))
    return table(STRUCTURE_TITLES, rows)


PARTS: dict[str, Callable[[Path], str]] = {"commits": commits, "kernel": kernel, "recordings": recordings}


def write_into_page(part: str, text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {part}: written by examples/layouts/try.py -->\n", "<!-- end -->"
    if begin not in page:
        sys.exit(f"{PAGE} has no place for {part}")
    page = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{text}\n{end}", page, count=1, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; default: all")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/layouts.md")
    parser.add_argument("-o", "--output", type=Path, default=Path("out/layouts"))
    arguments = parser.parse_args()
    if unknown := set(arguments.what) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: known: {', '.join(PARTS)}")
    enough = True
    for part, run in PARTS.items():
        if arguments.what and part not in arguments.what:
            continue
        out = arguments.output / part
        out.mkdir(parents=True, exist_ok=True)
        text = run(out)
        if arguments.write:
            write_into_page(part, text)
        if part == "commits":
            enough = int(text.rsplit("\n\n", 1)[1].split()[0]) >= FEWEST_RIGHT
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
