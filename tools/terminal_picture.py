"""Draws a command's output on a colour terminal as an SVG, for README.md.

Usage: .venv/bin/python tools/terminal_picture.py docs/pictures/operation_costs.svg build/release/linebounce run operation_costs
"""

import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 100


def terminal_output(command: list[str]) -> str:
    """The command's output on a pseudo-terminal."""
    chunks: list[bytes] = []

    def keep(descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        chunks.append(data)
        return data

    os.environ |= {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    if pty.spawn(command, keep) != 0:
        sys.exit(f"{' '.join(command)} failed")
    text = b"".join(chunks).decode().replace("\r\n", "\n")
    # Drops progress lines, which the program overwrites: of a line, only what follows the last carriage return stays visible.
    return "\n".join(line.rsplit("\r", 1)[-1] for line in text.split("\n"))


def without_downloads(svg: str) -> str:
    """Replaces the downloaded font by the reader's own monospaced font."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"<!-- Generated.*?-->", "", svg)


def main() -> None:
    """Runs the given command and writes its picture."""
    target, command = Path(sys.argv[1]), sys.argv[2:]
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(terminal_output(command)))
        svg = without_downloads(console.export_svg(title=" ".join([Path(command[0]).name, *command[1:]])))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
