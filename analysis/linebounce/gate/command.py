"""The command `linebounce gate`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from linebounce.commands import exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import write_file
from linebounce.gate.budget import RANGES, Budget, check_numbers, read_budget
from linebounce.gate.evidence import add_evidence
from linebounce.gate.findings import priced
from linebounce.gate.judge import Change, Comparison
from linebounce.gate.junit import junit
from linebounce.gate.measure import Gauge, NotMeasuredError, measure, once_each, opened
from linebounce.gate.recordings import Recorder, is_program, recordings_of
from linebounce.gate.sarif import sarif
from linebounce.gate.sources import Location
from linebounce.gate.text import annotations, markdown, text
from linebounce.gate.verdict import Evidence, Verdict
from linebounce.gate.work import other_computation, other_work
from linebounce.own_folder import require_own_folder
from linebounce.program import find_program
from linebounce.usage import output_file, whole_number

_EXAMPLES = """Examples:
  linebounce gate --base old/server --head new/server             records both programs three times, and compares them
  linebounce gate --base main.lbt --head mine.lbt --cpus 8,32     compares recordings: main.lbt, main-2.lbt and so on
  linebounce gate --base main.lbt --head mine.lbt --sarif gate.sarif --annotations    for code review, and ::error lines
  linebounce gate --base main.lbt --head mine.lbt --findings checker.sarif    says what a static checker's findings cost

Each recording is replayed on each machine in --orders orders of the same operations. Its threads' time is divided among the
lines, words and locks for which they wait. A cost is over budget if the 95 % interval of its rise, over recordings and orders,
is above the budget as a whole. A lock, word or object whose operations differ by more than 5 % between the recordings of one
version is not compared. Computation and misses that no other thread causes have no budget (docs/ci.md).

Exit codes: 0 within budget; 1 over budget; 2 wrong usage; 5 not measured, for example because a recording is missing, a replay
did not finish, the two versions did different amounts of work or were recorded in different ways, or the recorder did not see
the program's atomic operations."""


# The forms of a verdict's file, by option: the form's name, and the legal endings of the file's name.
_FORMS = {
    "json": ("JSON", ".json"),
    "markdown": ("Markdown", ".md", ".markdown", ".txt"),
    "sarif": ("SARIF 2.1.0", ".sarif", ".json"),
    "junit": ("JUnit XML", ".xml"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce gate", lambda: _gate(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Say whether a change makes threads wait more for each other's cache lines and locks"
    parser = parser_of("linebounce gate", description, _EXAMPLES, usage="[OPTIONS]")
    parser.add_argument(
        "--base", metavar="OLD", type=Path, nargs="+", required=True, help="Recordings, a folder of them, or a program"
    )
    parser.add_argument(
        "--head", metavar="NEW", type=Path, nargs="+", required=True, help="The changed program, or its recordings"
    )
    parser.add_argument(
        "--budget", metavar="FILE", type=Path, help="Budgets and settings; default: ./linebounce.toml if it exists"
    )
    parser.add_argument(
        "--machine", metavar="M", action="append", help="A machine to replay on; may be repeated; default: as advise"
    )
    parser.add_argument("--cpus", metavar="N,...", type=_numbers, help="Numbers of CPUs in use; default: all of each machine")
    parser.add_argument(
        "--times", metavar="N", type=whole_number(*RANGES["times"]), help="How often to record a program; default: 3"
    )
    parser.add_argument(
        "--orders", metavar="N", type=whole_number(*RANGES["orders"]), help="Replays of each recording; default: 5"
    )
    parser.add_argument("--arguments", metavar="WORDS", help="Arguments for the programs to record")
    parser.add_argument("--findings", metavar="FILE", type=Path, action="append", default=[], help="SARIF of a static checker")
    for name, (what, *endings) in _FORMS.items():
        parser.add_argument(
            f"--{name}",
            metavar="FILE",
            type=output_file(f"a verdict as {what}", *endings),
            help=f"Write the verdict as {what}; -: to the standard output",
        )
    parser.add_argument("--annotations", action="store_true", help="Print ::error lines for each cost over budget")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="Where recordings are made; default: out/gate")
    parser.add_argument(
        "-j", "--jobs", metavar="N", type=whole_number(1), default=os.cpu_count() or 1, help="Replays to run at the same time"
    )
    return parser.parse_args(arguments)


def _numbers(words: str) -> list[int]:
    try:
        return [int(word) for word in words.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{words}" is not a list of whole numbers, such as 2,4,8') from None


def _settings(arguments: argparse.Namespace) -> Budget:
    """The budget file, and the options that override it."""
    budget = read_budget(arguments.budget)
    budget.machines = arguments.machine or budget.machines
    for key in ("cpus", "times", "orders", "arguments"):
        if getattr(arguments, key) is not None:
            setattr(budget, key, getattr(arguments, key))
    check_numbers(budget, lambda option: f"--{option}")
    return budget


def _require_program(arguments: argparse.Namespace) -> None:
    """Refuses options that say how a program is recorded if all that is given are recordings. A missing one is reported
    later, as not measured."""
    given = [*arguments.base, *arguments.head]
    if not all(path.exists() for path in given) or any(path.is_file() and is_program(path) for path in given):
        return
    for option in ("times", "arguments", "output"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option} is for programs, and --base and --head are recordings")


def _require_one_stream(arguments: argparse.Namespace) -> None:
    """Refuses two forms on the standard output, which would be neither."""
    streamed = [f"--{form}" for form in _FORMS if getattr(arguments, form) == Path("-")]
    if len(streamed) > 1:
        raise UsageError(f"{' and '.join(streamed)} cannot both be -: give all but one a file")


def _gate(arguments: argparse.Namespace) -> int:
    _require_one_stream(arguments)
    budget = _settings(arguments)
    _require_program(arguments)
    arguments.output = arguments.output or Path("out/gate")
    require_own_folder(arguments.output)
    program = find_program()
    gauge = Gauge(program, budget.machines, budget.cpus, budget.orders, arguments.jobs)
    verdict = Verdict(list(arguments.base), list(arguments.head))
    try:
        _judge(verdict, arguments, budget, gauge)
    except NotMeasuredError as error:
        verdict.not_measured.append(str(error))
    _write(verdict, arguments)
    return verdict.exit_code


def _judge(verdict: Verdict, arguments: argparse.Namespace, budget: Budget, gauge: Gauge) -> None:
    program = Path(gauge.program).with_name("linebounce-record")
    recorder = Recorder(program, arguments.output, budget.times, budget.arguments)
    sides = []
    for name in ("base", "head"):
        found = recordings_of(getattr(arguments, name), recorder, name)
        setattr(verdict, name, found)
        sides.append(opened(found))
    base, head = sides
    measure(sides, gauge)
    for side in sides:
        verdict.not_measured += [it for it in side.not_measured if it not in verdict.not_measured]
    verdict.missing += once_each([it for side in sides for it in side.missing])
    if min(len(verdict.base), len(verdict.head)) == 1:
        verdict.missing.append(
            "how recordings differ: of a version with one recording, intervals cover the replays' orders alone"
        )
    verdict.basis = head.basis
    others = (other_computation(base.computation, head.computation), other_work(base.works, head.works))
    verdict.not_measured += [other for other in others if other]
    comparison = Comparison(base, head, budget)
    verdict.not_compared = [f"{name}: {least:,} to {most:,} operations" for name, (least, most) in comparison.unlike.items()]
    verdict.changes = comparison.changes()
    add_evidence(verdict, base, head, gauge)
    for file in arguments.findings:
        verdict.priced += priced(file, head)


def _write(verdict: Verdict, arguments: argparse.Namespace) -> None:
    root = Path.cwd()
    forms: dict[str, Callable[[], bytes]] = {
        "json": lambda: json_bytes(document(verdict)),
        "markdown": lambda: markdown(verdict, root).encode(errors="backslashreplace"),
        "sarif": lambda: sarif(verdict, root, version("linebounce")),
        "junit": lambda: junit(verdict),
    }
    taken = False
    for form, make in forms.items():
        path = getattr(arguments, form)
        if path == Path("-"):
            sys.stdout.write(make().decode())
            taken = True
        elif path is not None:
            write_file(path, make())
    if not taken:
        sys.stdout.write(text(verdict, root))
    if arguments.annotations:
        sys.stdout.write(annotations(verdict, root))


def json_bytes(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def document(verdict: Verdict) -> dict[str, Any]:
    """Schema linebounce.gate/1. Numbers have four digits behind the point."""
    return {
        "schema": "linebounce.gate/1",
        "verdict": verdict.sentence,
        "exit_code": verdict.exit_code,
        "base": [str(path) for path in verdict.base],
        "head": [str(path) for path in verdict.head],
        "changes": [_change(change, verdict.evidence.get(number)) for number, change in enumerate(verdict.changes)],
        "findings": [
            {
                "tool": it.tool,
                "rule": it.rule,
                "message": it.message,
                "at": _place(it.location),
                "subject": it.subject,
                "text": it.text,
                "machines": [
                    {
                        "machine": str(of.condition),
                        "pct": round(of.head_pct, 4),
                        "low": round(of.low, 4),
                        "high": round(of.high, 4),
                    }
                    for of in it.figures
                ],
            }
            for it in verdict.priced
        ],
        "not_measured": verdict.not_measured,
        "not_compared": verdict.not_compared,
        "order": verdict.order,
        "basis": verdict.basis,
        "missing": verdict.missing,
    }


def _change(change: Change, evidence: Evidence | None) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "name": change.name,
        "verdict": change.verdict,
        "new": change.is_new,
        "layout": [it.text for it in change.layout],
        "at": _place(evidence.declared) if evidence else None,
        "functions": evidence.functions if evidence else [],
        "advice": evidence.what if evidence else "",
        "machines": [
            {
                "machine": it.condition.machine,
                "cpus": it.condition.cpus,
                "verdict": it.verdict,
                "base_pct": round(it.base_pct, 4),
                "head_pct": round(it.head_pct, 4),
                "change": round(it.change, 4),
                "low": round(it.low, 4),
                "high": round(it.high, 4),
                "change_over_pace": it.change_over_pace and [round(end, 4) for end in it.change_over_pace],
                "budget_pct": it.budget_pct,
            }
            for it in change.figures
        ],
    }


def _place(location: Location | None) -> str | None:
    return None if location is None else f"{location.path}:{location.line}"


if __name__ == "__main__":
    sys.exit(main())
