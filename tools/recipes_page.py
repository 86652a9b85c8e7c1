"""Writes docs/recipes.md: common questions, each with its command and output; a test makes the page again.

Usage: .venv/bin/python tools/recipes_page.py      build/release/linebounce answers
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "recipes.md"
_COLUMNS = 100

# Which paragraphs of a run's output hold the answer.
ANSWER = (1, 2)


@dataclass(frozen=True)
class Recipe:
    question: str
    command: str
    shown: tuple[int, int] = ANSWER  # first and last paragraph
    words: str = ""


_MACHINES = "[generic_2socket_32core,epyc_7742_2socket,opteron_6172_4socket]"
RECIPES = (
    Recipe("Which lock serves 32 CPUs on two sockets?", "linebounce run two_sockets --set machine.cpus=32 -o out/locks"),
    Recipe(
        "Does that hold on other machines?",
        f"linebounce run two_sockets --set machine={_MACHINES} --set machine.cpus=[1,2,4,8,16] -o out/machines",
        words="Three machines, four locks, five numbers of CPUs: a list in `--set` is a sweep.",
    ),
    Recipe(
        "Is one lock better than another, beyond chance?",
        "linebounce ab two_sockets --set workload.lock=mcs --set workload.lock=cohort --set machine.cpus=16 -o out/ab",
        words="Both sides run with the same five seeds; the interval is that of their difference.",
    ),
    Recipe(
        "Which machine is better for this load?",
        "linebounce ab two_sockets --machine epyc_7742_2socket --machine opteron_6172_4socket --set workload.lock=ticket "
        "--set machine.cpus=32 -o out/two_machines",
    ),
    Recipe(
        "What would slower memory cost?",
        "linebounce ab two_sockets --set machine.memory.latency_ns=80 --set machine.memory.latency_ns=200 "
        "--set workload.lock=mcs --set machine.cpus=32 -o out/memory",
    ),
    Recipe(
        "From which time between two sections on does the lock no longer matter?",
        "linebounce run two_sockets --set workload.outside_cycles=[0,1000,10000] --set machine.cpus=32 -o out/outside",
    ),
    Recipe(
        "Is my lock right?",
        "linebounce check-lock programs/locks/ticket.lua",
        (0, 1),
        "The interleavings of two and three CPUs, under four memory models.",
    ),
    Recipe(
        "How does one counter of all CPUs scale?",
        "linebounce run atomic_scaling --machine generic_2socket_32core -o out/atomic",
    ),
    Recipe("Which counter is best?", "linebounce run counter_scaling --set machine.cpus=8 -o out/counters"),
    Recipe(
        "What does padding against false sharing gain?",
        "linebounce ab programs/false_sharing.lua --machine generic_2socket_32core --set machine.cpus=8 "
        "--set workload.cure=false --set workload.cure=true -o out/false_sharing",
    ),
    Recipe(
        "Are 64 bytes for each CPU's data enough where a line has 128?",
        "linebounce ab programs/false_sharing.lua --machine generic_2socket_32core --set machine.cpus=8 "
        "--set workload.apart_bytes=64 --set machine.line_bytes=64 --set machine.line_bytes=128 -o out/line_size",
        words="`machine.line_bytes` is the line size of every cache and bus; as a list, it sweeps them together.",
    ),
    Recipe(
        "MESI or MOESI?",
        "linebounce ab lock_scaling --machine p3_xeon_4way --set machine.bus.protocol=mesi_snoop "
        "--set machine.bus.protocol=moesi_snoop --set workload.lock=ticket --set machine.cpus=4 -o out/protocols",
    ),
    Recipe("Is a coherence protocol right?", "linebounce check mesi_snoop", (0, 3)),
    Recipe(
        "Why does this transfer take so long?",
        'linebounce explain out/locks --miss "remote HITM"',
        (1, 4),
        "A typical miss, stage by stage; `*` is queueing. The slow one of a hundred stands below it.",
    ),
    Recipe("Which lines miss most, and who touches them?", "linebounce lines out/locks --top 1", (1, 3)),
    Recipe(
        "What does another CPU's line cost?",
        "linebounce run core_to_core --machine epyc_7742_2socket -o out/transfers",
    ),
    Recipe("What does it cost to write a line that others have read?", "linebounce run shared_line_write -o out/shared"),
    Recipe(
        "How much rests on the contention that is assumed?",
        "linebounce ab two_sockets --set machine.contention=intel_mesh --set machine.contention=ideal "
        "--set workload.lock=ttas --set machine.cpus=16 -o out/contention",
    ),
    Recipe(
        "What has changed between two results?",
        "linebounce run two_sockets --set machine.cpus=32 --set machine.memory.latency_ns=200 -o out/slow --quiet && "
        "linebounce compare out/locks out/slow",
        (1, 2),
    ),
    Recipe("What is there about RCU?", "linebounce list experiments --search rcu", (0, 1)),
)


def page(program: Path) -> str:
    """The page's text."""
    parts = [
        "# Recipes\n\nWhich command answers your question, and what does it print? Commands run in the source tree; each "
        "takes a few seconds\nat most. `tools/recipes_page.py` makes this page; a test makes it again.\n"
    ]
    path = os.pathsep.join([str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": str(_COLUMNS), "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "programs").symlink_to(ROOT / "programs")
        for recipe in RECIPES:
            command = ["bash", "-c", recipe.command]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{recipe.command} ended with {done.returncode}: {done.stderr}")
            parts.append(_section(recipe, done.stdout))
    return "".join(parts)


def _section(recipe: Recipe, printed: str) -> str:
    first, last = recipe.shown
    shown = "\n\n".join(printed.strip("\n").split("\n\n")[first:last])
    lines = [part for line in shown.splitlines() for part in _wrapped(line)]
    command = "\n".join(_continued(each) for each in recipe.command.split(" && "))
    words = f"\n{textwrap.fill(recipe.words, 119)}\n" if recipe.words else ""
    answer = "\n".join(lines)
    return f"\n## {recipe.question}\n{words}\n```\n{command}\n```\n\n```text\n{answer}\n```\n"


def _continued(command: str) -> str:
    """Breaks a command into lines, but never between an option and its value."""
    held = re.sub(r"(--?[a-z]+) (?=[^-])", "\\1\x1f", command)
    lines = textwrap.wrap(held, 110, break_long_words=False, break_on_hyphens=False)
    return " \\\n    ".join(lines).replace("\x1f", " ")


def _wrapped(line: str) -> list[str]:
    """Breaks a line of prose: commands don't wrap prose in a pipe. Lines of tables fit as they are."""
    if len(line) <= _COLUMNS:
        return [line.rstrip()]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    PAGE.write_text(page(ROOT / "build" / "release" / "linebounce"), encoding="utf-8")
