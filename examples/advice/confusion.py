#!/usr/bin/env python3
"""Asks `linebounce advise` about twenty small programs whose answers are known: ten have a cure, ten none worth making.

confusion.py [-b BUILD] [-o OUTPUT] [--times N] [--verify] [PROGRAM...]

Each program's head states the right answer: `expect: layout NAME` (a structure, or the function that allocates) or `expect:
lock NAME`, where the first change advised must be one of NAME's layout or of the lock NAME. `expect: bottleneck NAME` (or
several, with `or` between them) is of a program without a cure: no change may be advised, and what most of the threads' time
goes to must be NAME: a word, an object, a lock, or `computation`.
--times: records each program N times; it is right if it is right each time. --verify: also applies the known cure in the
source (-DCURED), and looks whether fewer lines move from cache to cache, and what is advised then. Exit code 1: fewer than
nine of ten cures are found, a program without a cure is advised to change, or a known cure cures nothing.
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from reproduce import ROOT, Tools  # noqa: E402

FOUND_AT_LEAST = 0.9  # share of the programs with a cure
LOCK_CHANGE = re.compile(r"replace the lock (\S+)")
WIDTH = 58


@dataclass
class Program:
    source: Path
    kind: str  # layout, lock, count or bottleneck
    subject: str
    flags: list[str]

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def has_cure(self) -> bool:
        return self.kind != "bottleneck"


@dataclass
class Answer:
    """The advised changes, best first, and the first one's gain on each machine in percent of throughput; also where most of
    the threads' time goes on the first machine."""

    changes: list[str]
    gains: list[float]
    bottleneck: str = ""


@dataclass
class Cured:
    """A program with its known cure beside the one without."""

    transfers_before: float
    transfers_after: float
    gain_pct: float
    answer: Answer

    @property
    def helps(self) -> bool:
        return self.transfers_after < self.transfers_before and self.gain_pct > 0


def read_program(source: Path) -> Program:
    text = source.read_text(encoding="utf-8")
    expected = re.search(r"^// expect: (layout|lock|count|bottleneck) (\S+(?: or \S+)*)$", text, re.MULTILINE)
    if expected is None:
        sys.exit(
            f"confusion.py: {source}: its head has no line `// expect: KIND NAME`; KIND: layout, lock, count or bottleneck"
        )
    flags = re.search(r"^// flags: (.+)$", text, re.MULTILINE)
    return Program(source, expected[1], expected[2], flags[1].split() if flags else [])


def programs(folder: Path = HERE) -> dict[str, Program]:
    """The programs, those with a cure first."""
    found = [read_program(source) for source in sorted(folder.glob("*.c*"))]
    return {program.name: program for program in sorted(found, key=lambda program: not program.has_cure)}


def record(tools: Tools, program: Program, *flags: str) -> Path:
    name = program.name + "".join(flag.replace("-D", "_").replace("=", "_").lower() for flag in flags)
    return tools.record(str(program.source.relative_to(HERE.parent)), name, *program.flags, *flags)


def advice(tools: Tools, trace: Path) -> Answer:
    directory = tools.output / "advise" / trace.stem
    page = json.loads(tools.run("linebounce", "advise", trace, "-o", directory, "--json"))
    gains = [gain["change_pct"] for change in page["changes"][:1] for gain in change["gains"]]
    bottleneck = page["time"][0]["bottleneck"]
    name = "computation" if bottleneck["class"] == "compute" else bottleneck["name"]
    return Answer([change["what"] for change in page["changes"]], gains, name)


def concerns(program: Program, change: str) -> bool:
    """Whether a change concerns what the program is known to lose time with."""
    lock = LOCK_CHANGE.match(change)
    if lock is not None:
        return program.kind == "lock" and lock[1] == program.subject
    return program.kind in ("layout", "count") and re.search(rf"\b{re.escape(program.subject)}\b", change) is not None


def is_right(program: Program, answer: Answer) -> bool:
    if not program.has_cure:
        return not answer.changes and answer.bottleneck in program.subject.split(" or ")
    return bool(answer.changes) and concerns(program, answer.changes[0])


def as_replayed(tools: Tools, program: Program, trace: Path) -> Path:
    """After advice(): the trace to replay. The program's own lock must have become a lock in it; otherwise its waits would
    be as long as in the recording."""
    with_locks = tools.output / "advise" / trace.stem / "locks" / "with_word_locks.lbt"
    return with_locks if program.kind == "lock" else trace


def gain_of(tools: Tools, program: Program, trace: Path, flag: str) -> float:
    """By how many percent the program is faster, in a new recording, with the change in its source."""
    before, after = (tools.replay(as_replayed(tools, program, each)) for each in (trace, record_and_ask(tools, program, flag)))
    return 100 * (before.us / after.us - 1)


def record_and_ask(tools: Tools, program: Program, flag: str) -> Path:
    trace = record(tools, program, flag)
    if program.kind == "lock":
        advice(tools, trace)  # also makes the trace in which the program's own lock has become a lock
    return trace


def cured(tools: Tools, program: Program, trace: Path) -> Cured:
    trace_cured = record(tools, program, "-DCURED")
    answer = advice(tools, trace_cured)
    before, after = (tools.replay(as_replayed(tools, program, each)) for each in (trace, trace_cured))
    return Cured(before.transfers, after.transfers, 100 * (before.us / after.us - 1), answer)


def shortened(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def print_answers(program: Program, answers: list[Answer]) -> None:
    expected = f"{program.kind} {program.subject}".strip()
    for number, answer in enumerate(answers):
        head = (program.name, expected) if number == 0 else ("", "")
        advised = shortened(answer.changes[0] if answer.changes else f"nothing; most time: {answer.bottleneck}")
        more = f" +{len(answer.changes) - 1}" if len(answer.changes) > 1 else ""
        gains = " / ".join(f"{gain:+.1f} %" for gain in answer.gains)
        verdict = "right" if is_right(program, answer) else "WRONG"
        print(f"  {head[0]:<18}{head[1]:<36}{advised + more:<{WIDTH + 4}}{gains:<36}{verdict}", flush=True)


def print_cured(program: Program, found: Cured) -> None:
    again = [change for change in found.answer.changes if concerns(program, change)]
    still = f"; still advised: {shortened(again[0])}" if again else ""
    print(
        f"  {'':<18}{'-DCURED':<36}transfers of lines {found.transfers_before:.0f} → {found.transfers_after:.0f}, "
        f"throughput {found.gain_pct:+.1f} %{'' if found.helps else '  CURES NOTHING'}{still}",
        flush=True,
    )


def print_matrix(right: dict[str, bool], answered: dict[str, list[Answer]], chosen: list[Program]) -> None:
    print(f"\n  {'':<14}{'the cure':>12}{'another':>12}{'nothing':>12}   advised, of all recordings")
    for has_cure, row in ((True, "a cure"), (False, "none")):
        counts = [0, 0, 0]
        for program in chosen:
            if program.has_cure != has_cure:
                continue
            for answer in answered[program.name]:
                counts[2 if not answer.changes else 0 if is_right(program, answer) else 1] += 1
        print(f"  {row:<14}" + "".join(f"{count:>12}" for count in counts))
    print(f"\n  right each time: {sum(right.values())} of {len(right)} programs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "advice")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("programs", metavar="PROGRAM", nargs="*")
    options = parser.parse_args()
    known = programs()
    if unknown := set(options.programs) - known.keys():
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    tools = Tools(options.build, options.output, untimed=True)
    chosen = [known[name] for name in options.programs or known]
    answered: dict[str, list[Answer]] = {}
    right: dict[str, bool] = {}
    cures_nothing: list[str] = []
    print(f"  {'program':<18}{'expected':<36}{'advised':<{WIDTH + 4}}gain")
    for program in chosen:
        answers = []
        for _ in range(options.times):
            trace = record(tools, program)
            answers.append(advice(tools, trace))
        answered[program.name] = answers
        right[program.name] = all(is_right(program, answer) for answer in answers)
        print_answers(program, answers)
        if options.verify and program.has_cure:
            found = cured(tools, program, trace)
            print_cured(program, found)
            if not found.helps:
                cures_nothing.append(program.name)
    print_matrix(right, answered, chosen)
    with_cure = [right[program.name] for program in chosen if program.has_cure]
    others = [right[program.name] for program in chosen if not program.has_cure]
    enough = sum(with_cure) >= FOUND_AT_LEAST * len(with_cure)
    return 0 if enough and all(others) and not cures_nothing else 1


if __name__ == "__main__":
    sys.exit(main())
