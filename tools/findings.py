"""Runs the scripts of findings/, and writes the table in their README.

findings.py [NAME...]     runs them, or all; the last line is "N as described, N otherwise", the exit code 1 if one is otherwise
findings.py --table       writes findings/README.md's table anew from the scripts' first lines
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "findings"
README = FOLDER / "README.md"
TABLE_HEAD = "| script | finding |\n|---|---|\n"


def headline(script: Path) -> str:
    """The finding in a sentence: the line below the interpreter's."""
    line = script.read_text().splitlines()[1]
    return line.removeprefix("# ").removesuffix(".")


def readme() -> str:
    """What README.md should hold: its text as it is, and a row for each script."""
    text = README.read_text().partition(TABLE_HEAD)[0]
    rows = [f"| `{script.name}` | {headline(script)} |\n" for script in sorted(FOLDER.glob("*.sh"))]
    return text + TABLE_HEAD + "".join(rows)


def run(names: list[str]) -> int:
    scripts = [FOLDER / f"{name.removesuffix('.sh')}.sh" for name in names] or sorted(FOLDER.glob("*.sh"))
    if missing := [script.name for script in scripts if not script.exists()]:
        print(f"./dev findings: no {missing[0]} in findings/", file=sys.stderr)
        return 2
    otherwise = 0
    for script in scripts:
        print(f"==> {script.stem}: {headline(script)}", flush=True)
        otherwise += subprocess.run(["bash", script], stdin=subprocess.DEVNULL, check=False).returncode != 0
    print(f"{len(scripts) - otherwise} as described, {otherwise} otherwise")
    return 1 if otherwise else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--table"]:
        README.write_text(readme())
    else:
        sys.exit(run(arguments))
