"""Makes pages of the site from the program's own output: its commands, parameters, workloads and names."""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# A machine with every optional part, whose description therefore has every parameter. Links are named by the nodes that they
# join.
EVERY_PART = """
name  = "every_part"
cpus  = 2
nodes = 2
cpu       = { clock_mhz = 1000 }
cache     = { NAME = { size_kib = 16, ways = 4, line_bytes = 64, hit_latency_cycles = 3 } }
bus       = { protocol = "mesi_snoop", clock_mhz = 1000, width_bytes = 8 }
memory    = { latency_ns = 100 }
node      = { protocol = "mesi_node" }
directory = { protocol = "mesi_directory" }
footprint = { tlb_entries = 64, code_cache_kib = 16 }
network   = { topology = "links", link = { 0_1 = { latency_ns = 100 } } }
"""

# For each type, a value that is illegal for every parameter. When the program refuses it, the message lists what is legal.
IMPOSSIBLE = {int: "-999999999999999", float: "-999999999999999", str: "?"}

Document = dict[str, Any]

KINDS = ("machines", "protocols", "locks", "counters", "experiments", "layouts")
PAGES_OF = ("machines", "protocols")

PARAMETERS = """\
---
search:
  boost: 2
---

# Machine parameters

What a machine file may have, and `--set machine.PART.PARAMETER=VALUE` changes for one run. Where no default is shown, a
machine that has the part states the value. `NAME` stands for a cache's name, `0_1` for the two nodes that a link joins.
[How to write a machine file](machine-files.md); [what each shipped machine has, and why](catalogue.md#machines).
"""


class Program:
    """The linebounce program: $LINEBOUNCE, or build/release/linebounce."""

    def __init__(self) -> None:
        self.path = Path(os.environ.get("LINEBOUNCE", ROOT / "build" / "release" / "linebounce"))
        if not self.path.exists():
            sys.exit(f"{self.path} does not exist: ./dev build makes it")

    def run(self, *arguments: str, name: str = "linebounce") -> subprocess.CompletedProcess[str]:
        # Python commands are found beside the program, otherwise beside this Python.
        path = os.pathsep.join([str(self.path.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        command = [str(self.path.with_name(name)), *arguments]
        environment = os.environ | {"COLUMNS": "100", "PATH": path, "NO_COLOR": "1"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def says(self, *arguments: str, name: str = "linebounce") -> str:
        """The output of a command that must succeed."""
        done = self.run(*arguments, name=name)
        if done.returncode:
            sys.exit(f"{name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.says(*arguments, "--json"))

    @cached_property
    def help(self) -> dict[str, str]:
        """Maps the words of every command to the output of its --help."""
        found = {"linebounce": self.says("--help")}
        waiting: list[tuple[str, ...]] = [("linebounce", name) for name in subcommands(found["linebounce"])]
        scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
        python = [script.replace("linebounce-trace-", "linebounce-trace ").replace("-", " ", 1) for script in scripts]
        waiting += [tuple(script.split(" ")) for script in python]
        while waiting:
            words = waiting.pop(0)
            text = self.says(*words[1:], "--help")
            found[" ".join(words)] = text
            waiting += [(*words, name) for name in subcommands(text)]
        return dict(sorted(found.items())) | {
            name: self.says("--help", name=name) for name in ("linebounce-record", "linebounce-probe")
        }


def subcommands(help_text: str) -> list[str]:
    """The subcommands in a help text. The text lists them in groups by purpose."""
    if "SUBCOMMAND" in help_text.partition("\n\n")[0]:
        section = help_text.partition("\nExamples:")[0]
        return re.findall(r"^  ([a-z][a-z-]*)(?=  )", section, re.MULTILINE)
    found = re.search(r"^Subcommands:\n(.*?)(\n\n|\Z)", help_text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^  ([a-z][a-z-]*)", found[1], re.MULTILINE) if found else []


def cell(value: object) -> str:
    """A table's cell. Escapes characters that mean something to Markdown, except in code."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return re.sub(r"(`[^`]*`)|([|<*_\[\]])", lambda match: match[1] or f"\\{match[2]}", text)


def table(*columns: str, rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def number(value: object) -> str:
    """A number in its usual form: 16777216, 0.5, 1e+12."""
    return f"{value:.15g}" if isinstance(value, float) else cell(value)


def options_page(program: Program) -> str:
    parts = ["# Commands and options\n\nWhat each command prints with `--help`. [By task](commands.md)\n"]
    parts += [f"\n## {name}\n\n```text\n{text.strip()}\n```\n" for name, text in program.help.items()]
    return "".join(parts)


def legal_values(program: Program, machine: Path, parameter: Document) -> str:
    """The legal values of a parameter, from the message with which the program refuses an impossible value."""
    path, value = parameter["path"], parameter["value"]
    if isinstance(value, bool):
        return "true, false"
    if path.endswith(".protocol"):
        return "[protocols](protocols/index.md)"
    impossible = f"{path}={IMPOSSIBLE[type(value)]}"
    refusal = program.run("run", "core_to_core", "--plan", "--machine", str(machine), "--set", impossible).stderr
    # A text parameter without a fixed list of words takes values that depend on the machine.
    stated = re.search(r"known: (.*)" if isinstance(value, str) else r"legal: (.*)", refusal)
    return cell(stated[1].removesuffix(f" {parameter['unit']}")) if stated else ""


def shipped_values(machines: list[Document]) -> dict[str, set[Any]]:
    """The different values of each parameter in the shipped machines."""
    found: dict[str, set[Any]] = {}
    for parameter in itertools.chain(*(machine["parameters"] for machine in machines)):
        path = re.sub(r"(?<=machine\.cache\.)\w+", "NAME", parameter["path"])
        found.setdefault(path, set()).add(parameter["value"])
    return found


def span(values: set[Any]) -> str:
    """ "MINIMUM to MAXIMUM" for numbers, otherwise all words."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return " to ".join(number(end) for end in sorted({min(values), max(values)})) if values else ""
    return ", ".join(sorted(cell(value) for value in values if value != ""))


def parameters_page(program: Program, machines: list[Document]) -> str:
    """Every parameter of machines, a table for each part."""
    shipped = shipped_values(machines)

    def row(parameter: Document) -> tuple[str, ...]:
        name = parameter["path"].rpartition(".")[2]
        default = "" if parameter["given"] else number(parameter["value"])
        legal = legal_values(program, machine, parameter)
        in_machines = span(shipped.get(parameter["path"], set()))
        return f"`{name}`", cell(parameter["meaning"]), parameter["unit"], legal, default, in_machines

    parts = [PARAMETERS]
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(folder) / "every_part.toml"
        machine.write_text(EVERY_PART)
        parameters = program.json("describe", "machine", str(machine))["parameters"]
        for part, members in itertools.groupby(parameters, key=lambda parameter: parameter["path"].rpartition(".")[0]):
            columns = ("parameter", "meaning", "unit", "legal", "default", "in shipped machines")
            parts.append(f"\n## {part}\n\n{table(*columns, rows=[row(parameter) for parameter in members])}")
    return "".join(parts)


def machine_page(program: Program, machine: Document) -> str:
    name = machine["name"]
    drawing = program.says("describe", "machine", name).split("\n", 1)[1].split("\n  parameter ")[0].strip("\n")
    rows = [
        (
            f"`{parameter['path'].removeprefix('machine.')}`",
            " ".join([number(parameter["value"]), parameter["unit"]]),
            "" if parameter["given"] else "default",
            cell(parameter["source"]),
        )
        for parameter in machine["parameters"]
    ]
    parameters = table("parameter", "value", "", "source", rows=rows)
    # Excludes machines from the search, so that a search for a parameter finds its meaning first, not a dozen machines with
    # it.
    return (
        f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n{cell(machine['title'])}\n\n"
        f"```text\n{textwrap.dedent(drawing)}\n```\n\n[What each parameter means](../parameters.md)\n\n{parameters}"
    )


def workloads_page(program: Program) -> str:
    """Every workload with its parameters."""

    def legal(parameter: Document) -> str:
        if "choices" in parameter:
            return ", ".join(map(cell, parameter["choices"]))
        if isinstance(parameter["default"], bool):
            return "true, false"
        return f"{number(parameter['minimum'])} to {number(parameter['maximum'])}" if "minimum" in parameter else ""

    parts = ["# Workloads\n\nWhat `[workload]` of an experiment may have; `--set workload.NAME=VALUE` sets it for a run.\n"]
    for listed in program.json("list", "workloads"):
        workload = program.json("describe", "workload", listed["name"])
        rows = [
            (f"`{parameter['name']}`", cell(parameter["meaning"]), number(parameter["default"]), legal(parameter))
            for parameter in workload["parameters"]
        ]
        parameters = table("parameter", "meaning", "default", "legal", rows=rows) if rows else "It has no parameters.\n"
        parts.append(f"\n## {workload['name']}\n\n{cell(workload['title'])}.\n\n{parameters}")
    return "".join(parts)


def catalogue_page(program: Program) -> str:
    """The names of each kind of thing. Machines and protocols also have pages of their own, and locks have traits."""
    parts = ["# What there is\n\nAs `linebounce list KIND` prints it. [Workloads](workloads.md) have a page of their own.\n"]
    for kind in KINDS:
        traits = ("first_come_first_served", "sleeps", "readers") if kind == "locks" else ()
        rows = [
            (
                f"[`{entry['name']}`]({kind}/{entry['name']}.md)" if kind in PAGES_OF else f"`{entry['name']}`",
                cell(entry["title"]),
                *("yes" if entry[trait] is True else cell(entry[trait] or "") for trait in traits),
            )
            for entry in program.json("list", kind)
        ]
        columns = ("name", "title", *(trait.replace("_", " ") for trait in traits))
        parts.append(f"\n## {kind.capitalize()}\n\n{table(*columns, rows=rows)}")
    return "".join(parts)


def pages(program: Program) -> dict[str, str]:
    """All generated pages by their path in the site."""
    machines = [program.json("describe", "machine", entry["name"]) for entry in program.json("list", "machines")]
    return {
        "catalogue.md": catalogue_page(program),
        "options.md": options_page(program),
        "parameters.md": parameters_page(program, machines),
        "workloads.md": workloads_page(program),
    } | {f"machines/{machine['name']}.md": machine_page(program, machine) for machine in machines}
