#!/usr/bin/env python3
"""Mutation testing of the engine: engine_mutants.py [-n 200] [--seed 1] [--clone DIR] [--more "pytest ..."]

Changes one place of models/**/*.cpp at a time, in a clone, and asks whether the tests notice. A change is another
operator, a constant that differs by one, a negated condition, a dropped statement, or two swapped arguments. A change
that nobody notices is printed as a diff, for a person to look at: it is a gap in the tests, or alters nothing.

The clone's build is the dev preset's, but compiles each file of models/ by itself. A mutant that compiles to the same
code is not counted. If a program is the same as without the mutation, its tests are not run.
"""

import argparse
import difflib
import hashlib
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = "build/dev"
ONE_BY_ONE = "cmake_language(DEFER CALL set_target_properties lb_coherence lb_checker lb_models PROPERTIES UNITY_BUILD OFF)"
# Limits for each process, of tests and compilers alike. An endless loop is stopped by processor time, because wall time
# depends on what else the computer does. A loop that allocates is stopped by memory.
LIMITED = ["prlimit", "--cpu=60", f"--data={8 << 30}", "--core=0", "--"]
STATEMENT = (
    r"^ +(?!return|const |auto |case |using |throw|static|break|continue|if|for|else)"
    r"[\w.>\-\[\]()+]+(\([^{}]*\)| [-+]?= [^{}]*|\+\+);$"
)
NOT_COMPILED, SAME_CODE = "does not compile", "the same code"
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
    """Every possible mutation of every line."""
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
    """Draws mutations. The same sources and seed give the same ones."""
    every = [
        mutant
        for path in sorted((root / "models").rglob("*.cpp"))
        for mutant in mutants_of(str(path.relative_to(root)), path.read_text(encoding="utf-8"))
    ]
    return random.Random(seed).sample(every, min(number, len(every)))


def run(command: list[str], folder: Path) -> bool:
    return subprocess.run([*LIMITED, *command], cwd=folder, capture_output=True, check=False).returncode == 0


def folder_tests(file: str) -> str:
    """The test program for a source file: that of its folder, or of the nearest folder above that has one.
    models/core/core.cpp has test_models_core."""
    folder = next(each for each in Path(file).parents if any((ROOT / "tests" / each).glob("*.cpp")))
    return "test_" + "_".join(folder.parts)


@dataclass(frozen=True)
class Rung:
    name: str
    target: str
    command: list[str]


class Clone:
    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder, self.jobs = folder, jobs
        self._unchanged: dict[str, str] = {}  # digests of object files and programs built without a mutation

    def configure(self) -> None:
        if not self.folder.exists():
            subprocess.run(["git", "clone", "-q", str(ROOT), str(self.folder)], check=True)
        git = ["git", "-C", str(self.folder)]
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run([*git, "fetch", "-q", str(ROOT), head], check=True)
        subprocess.run([*git, "checkout", "-q", "--force", head], check=True)
        (self.folder / "build").mkdir(exist_ok=True)
        setting = self.folder / "build/one_by_one.cmake"
        setting.write_text(ONE_BY_ONE, encoding="utf-8")
        configure = ["cmake", "--preset", "dev", f"-DCMAKE_PROJECT_INCLUDE={setting}"]
        subprocess.run(configure, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def build(self, *targets: str) -> bool:
        return run(["ninja", "-C", BUILD, f"-j{self.jobs}", *targets], self.folder)

    def object_of(self, file: str) -> str:
        """The object file's path below the build directory."""
        build = self.folder / BUILD
        return str(next(build.glob(f"CMakeFiles/*/{file}.o")).relative_to(build))

    def _digest(self, built: str) -> str:
        return hashlib.sha256((self.folder / BUILD / built).read_bytes()).hexdigest()

    def remember(self, *built: str) -> None:
        self._unchanged |= {each: self._digest(each) for each in built}

    def is_unchanged(self, built: str) -> bool:
        return self._unchanged.get(built) == self._digest(built)

    def ladder(self, file: str, more: list[str]) -> list[Rung]:
        """The ctest command for a mutant, with the quickest tests first."""
        ctest = ["ctest", "--test-dir", BUILD, "--stop-on-failure", f"-j{self.jobs}", "-R"]
        tests = [folder_tests(file), "test_models_machine", "test_models_core", "test_models_bus", "test_models_node"]
        rungs = [Rung(each, each, [*ctest, rf"^{each}\."]) for each in dict.fromkeys(tests)]
        for machine in ("p4_xeon_ht_2way", "numaq_16way"):
            check = ["check", "--random", "60000", "--machine", machine, "-j", str(self.jobs), "--shrink-seconds", "0"]
            rungs.append(Rung(f"check --random {machine}", "linebounce", [f"{BUILD}/linebounce", *check]))
        # The models that Linebounce writes for Murphi's checkers are also tests: their numbers of states are known.
        if "/checker/" in file:
            pytest = [
                sys.executable,
                "-m",
                "pytest",
                "-qx",
                "-k",
                "model_checker",
                "commands/check/tests/test_check_protocols.py",
            ]
            program = self.folder.resolve() / BUILD / "linebounce"
            rungs.append(Rung("rumur", "linebounce", ["env", f"LINEBOUNCE={program}", *pytest]))
        return [*rungs, *(Rung(command, "linebounce", command.split()) for command in more)]

    def noticed_by(self, mutant: Mutant, more: list[str]) -> str:
        """The test that failed first, or the compiler. Empty if nothing noticed the mutant."""
        compiled = self.object_of(mutant.file)
        if not self.build(compiled):
            return NOT_COMPILED
        if self.is_unchanged(compiled):
            return SAME_CODE
        for rung in self.ladder(mutant.file, more):
            if not self.build(rung.target):
                return NOT_COMPILED
            if not self.is_unchanged(rung.target) and not run(rung.command, self.folder):
                return rung.name
        return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, metavar="N", help="how many mutants; default: 200")
    parser.add_argument("--seed", type=int, default=1, help="which ones; default: 1")
    parser.add_argument("--clone", type=Path, default=Path("/tmp/linebounce-mutants"), help="where they are built")
    parser.add_argument("--minutes", type=float, default=600, help="begin no mutant after so many")
    parser.add_argument("--more", action="append", default=[], metavar="COMMAND", help="a slower test, at the end; repeatable")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="how many of them have been tried before")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes at a time; default: 2")
    arguments = parser.parse_args()
    clone = Clone(arguments.clone, arguments.jobs)
    clone.configure()
    mutants = chosen(clone.folder, arguments.n, arguments.seed)[arguments.skip :]
    rungs = {rung.name: rung for mutant in mutants for rung in clone.ladder(mutant.file, arguments.more)}
    targets = sorted({rung.target for rung in rungs.values()})
    clone.build(*targets)
    if failing := [rung.name for rung in rungs.values() if not run(rung.command, clone.folder)]:
        sys.exit(f"without a mutation: {', '.join(failing)}")
    clone.remember(*targets, *{clone.object_of(mutant.file) for mutant in mutants})
    begun = time.monotonic()
    by: Counter[str] = Counter()
    for number, mutant in enumerate(mutants, arguments.skip + 1):
        if time.monotonic() - begun > 60 * arguments.minutes:
            break
        path = clone.folder / mutant.file
        path.write_text(mutant.after, encoding="utf-8")
        try:
            notice = clone.noticed_by(mutant, arguments.more)
        finally:
            path.write_text(mutant.before, encoding="utf-8")
        by[notice] += 1
        print(f"{number} {mutant.file} {mutant.kind}: {notice or 'SURVIVES'}", flush=True)
        if not notice:
            print(mutant.diff(), flush=True)
    not_compiled, same = by[NOT_COMPILED], by[SAME_CODE]
    tried = by.total() - not_compiled - same
    print(f"{tried - by['']} of {tried} noticed, {not_compiled} did not compile, {same} were the same code, "
          f"{time.monotonic() - begun:.0f} s")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
