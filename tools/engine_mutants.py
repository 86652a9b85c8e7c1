#!/usr/bin/env python3
"""Mutation testing of the engine: engine_mutants.py [-n 200] [--seed 1] [--clone DIR] [--more "pytest ..."]

Changes one place of models/**/*.cpp at a time, in a clone, and asks whether the tests notice: an operator, a constant by
one, a condition negated, a statement dropped, two arguments swapped. What nobody notices is printed as a diff, and to be
looked at: a gap in the tests, or a change that alters nothing.
"""

import argparse
import difflib
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = "build/dev"
BUILD_SECONDS, TEST_SECONDS = 600, 600
STATEMENT = (
    r"^ +(?!return|const |auto |case |using |throw|static|break|continue|if|for|else)"
    r"[\w.>\-\[\]()+]+(\([^{}]*\)| [-+]?= [^{}]*|\+\+);$"
)
CALL = r"(?<=[\w>])\(([\w.]+), ([\w.]+)\)"
# Only whole words and operators between blanks, which is how clang-format writes them: no templates, no references.
CHANGES: list[tuple[str, str, str]] = [
    *(("operator", rf" {re.escape(old)} ", f" {new} ") for old, new in [
        ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("+", "-"), ("-", "+"),
        ("&&", "||"), ("||", "&&"), ("+=", "-="), ("-=", "+="),
    ]),
    ("constant", r"(?<=[ (\[{])(\d+)(?=[;,) \]}])", "+1"),
    ("condition", r"(?<=\bif \()(?!const |auto |std::)([^;{}]*)(?=\) )", "not"),
    ("statement", STATEMENT, "drop"),
    ("arguments", CALL, "swap"),
]  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    file: str
    kind: str
    before: str
    after: str

    def diff(self) -> str:
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), self.file, self.file, n=2, lineterm="")
        return "\n".join(lines)


def is_code(line: str) -> bool:
    return bool(line.strip()) and not re.match(r"\s*(//|#|\*)", line) and '"' not in line


def _new_text(new: str, found: re.Match[str]) -> str:
    if new == "+1":
        return str(int(found[1]) + 1)
    if new == "not":
        return f"!({found[1]})"
    if new == "drop":
        return ";"
    if new == "swap":
        return f"({found[2]}, {found[1]})"
    return new


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Every change of every line."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if not is_code(line):
            continue
        for kind, pattern, new in CHANGES:
            for found in re.finditer(pattern, line.rstrip("\n")):
                changed = line[: found.start()] + _new_text(new, found) + line[found.end() :]
                if changed != line:
                    yield Mutant(file, kind, text, "".join([*lines[:number], changed, *lines[number + 1 :]]))


def chosen(root: Path, number: int, seed: int) -> list[Mutant]:
    """The same for the same sources and seed."""
    every = [
        mutant
        for path in sorted((root / "models").rglob("*.cpp"))
        for mutant in mutants_of(str(path.relative_to(root)), path.read_text(encoding="utf-8"))
    ]
    return random.Random(seed).sample(every, min(number, len(every)))


def run(command: list[str], folder: Path, seconds: float | None) -> bool:
    """A test that doesn't end has noticed something."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def folder_tests(file: str) -> str:
    """The tests of a source's own folder, or of the one above: models/core/core.cpp has test_models_core."""
    folder = next(each for each in Path(file).parents if any((ROOT / "tests" / each).glob("*.cpp")))
    return "test_" + "_".join(folder.parts)


def build(clone: Path, targets: list[str], seconds: float | None) -> bool:
    return run(["ninja", "-C", BUILD, *targets], clone, seconds)


def notices(clone: Path, ladder: list[tuple[str, list[str], list[str]]]) -> str:
    """By what it is noticed: "does not compile", a rung of the ladder, or "" by nothing."""
    for name, targets, command in ladder:
        if not build(clone, targets, BUILD_SECONDS):
            return "does not compile"
        if not run(command, clone, TEST_SECONDS):
            return name
    return ""


def ladder_of(mutant: Mutant, more: list[str]) -> list[tuple[str, list[str], list[str]]]:
    """The quickest first: what is built for a rung, and what is run."""
    tests = folder_tests(mutant.file)
    ctest = ["ctest", "--test-dir", BUILD, "--stop-on-failure", "-j2", "--timeout", "150", "-R"]
    rungs = [(tests, [tests], [*ctest, rf"^{tests}\."])]
    others = ["test_models_machine", "test_models_core", "test_models_bus", "test_models_node"]
    rungs += [(other, [other], [*ctest, rf"^{other}\."]) for other in others if other != tests]
    program = f"{BUILD}/linebounce"
    for machine in ("p4_xeon_ht_2way", "numaq_16way"):
        check = [program, "check", "--random", "60000", "--machine", machine, "-j", "2", "--shrink-seconds", "0"]
        rungs.append((f"check --random {machine}", ["linebounce"], check))
    return [*rungs, *((command, ["linebounce"], command.split()) for command in more)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, metavar="N", help="how many mutants; default: 200")
    parser.add_argument("--seed", type=int, default=1, help="which ones; default: 1")
    parser.add_argument("--clone", type=Path, default=Path("/tmp/linebounce-mutants"), help="where they are built")
    parser.add_argument("--minutes", type=float, default=600, help="begin no mutant after so many")
    parser.add_argument("--more", action="append", default=[], metavar="COMMAND", help="a slower test, at the end; repeatable")
    arguments = parser.parse_args()
    clone = arguments.clone
    if not clone.exists():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "fetch", "-q", str(ROOT), head], cwd=clone, check=True)
    subprocess.run(["git", "checkout", "-q", "--force", head], cwd=clone, check=True)
    subprocess.run(["cmake", "--preset", "dev"], cwd=clone, check=True, stdout=subprocess.DEVNULL)
    begun = time.monotonic()
    survivors: list[Mutant] = []
    noticed = 0
    mutants = chosen(clone, arguments.n, arguments.seed)
    rungs = {name: (name, targets, command) for m in mutants for name, targets, command in ladder_of(m, arguments.more)}
    build(clone, sorted({target for _, targets, _ in rungs.values() for target in targets}), None)
    if failing := notices(clone, list(rungs.values())):
        sys.exit(f"without a mutation: {failing}")
    dropped = 0
    for mutant in mutants:
        if time.monotonic() - begun > 60 * arguments.minutes:
            break
        path = clone / mutant.file
        path.write_text(mutant.after, encoding="utf-8")
        try:
            by = notices(clone, ladder_of(mutant, arguments.more))
        finally:
            path.write_text(mutant.before, encoding="utf-8")
        if by == "does not compile":
            dropped += 1
            print(f"{mutant.file} {mutant.kind}: {by}", flush=True)
            continue
        noticed += bool(by)
        survivors += [] if by else [mutant]
        print(f"{mutant.file} {mutant.kind}: {by or 'SURVIVES'}", flush=True)
        if not by:
            print(mutant.diff(), flush=True)
    print(f"{noticed} of {noticed + len(survivors)} noticed, {dropped} did not compile, {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
