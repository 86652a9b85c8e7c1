"""Builds, tests and lints for ./dev: runs every part to its end, then says what passed.

check.py test                        what changes since the last pass can affect (affected.py); everything the first time
check.py test all                    everything
check.py test [PART [ARGUMENT...]]   PART: ctest, pytest or lint; arguments go to ctest or pytest
check.py test --sanitize [PART [ARGUMENT...]]   PART: ctest or pytest, with AddressSanitizer and UBSan; or threads, with
                                     ThreadSanitizer, where arguments go to pytest
check.py lint
check.py fuzz
The last line is "N passed, N failed". It counts cases of ctest and of pytest, and each linter as one; a build that fails
or a part that dies counts as failed, so that nothing is lost. Exit code 1 when anything failed or nothing ran.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import affected
from lints import LINTS
from source_tree import SourceTree

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "reports"
JOBS = str(os.cpu_count() or 2)
# More than processors: tests in browsers and terminals mostly wait. test_report_page.py takes 170 s and 52 s of a processor.
WORKERS = str(2 * (os.cpu_count() or 2))
CLANG_TIDY = "clang-tidy"

# Settings for RapidCheck. Tests run the same random cases every time; fuzzing runs new ones, and many more.
FIXED_CASES = {"RC_PARAMS": "seed=1"}
MANY_CASES = {
    "RC_PARAMS": "max_success=2000",
    "LINEBOUNCE_ALL_MUTANTS": "1",
    "LINEBOUNCE_TRACE_CASES": "10000",
    "LINEBOUNCE_FUZZ_MACHINES": "10000",
    "LINEBOUNCE_MUTATIONS": "100000",
    "LINEBOUNCE_TYPE_MUTATIONS": "100000",
}


@dataclass
class Tally:
    passed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    failures: list[str] = field(default_factory=list)
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)  # of each part: elapsed, and on all processors


def run(tally: Tally, title: str, command: list[str], environment: dict[str, str] | None = None) -> int:
    print(f"==> {title}", flush=True)
    before, busy = time.monotonic(), processor_seconds()
    done = subprocess.run(command, cwd=ROOT, env=os.environ | (environment or {}), stdin=subprocess.DEVNULL, check=False)
    tally.seconds[title] = time.monotonic() - before, processor_seconds() - busy
    return done.returncode


class Beside:
    """A command that runs at the lowest priority beside others, for the time that they leave over. What it prints waits."""

    def __init__(self, title: str, command: list[str]) -> None:
        self.title = title
        self.output = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            ["nice", "-n", "19", *command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT
        )

    def end(self, tally: Tally) -> int:
        """Waits for the command's end. The elapsed seconds begin here; those on processors are all of the command's."""
        print(f"==> {self.title}", flush=True)
        before, busy = time.monotonic(), processor_seconds()
        exit_code = self.process.wait()
        tally.seconds[self.title] = time.monotonic() - before, processor_seconds() - busy
        self.output.seek(0)
        sys.stdout.buffer.write(self.output.read())
        sys.stdout.flush()
        return exit_code


def processor_seconds() -> float:
    """Of all ended child processes and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def configure(preset: str) -> bool:
    """Configures a build; CMake's output is shown only if something is wrong."""
    command = ["cmake", "--preset", preset]
    result = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        print(result.stdout + result.stderr)
    return result.returncode == 0


def build(tally: Tally, preset: str, *targets: str) -> None:
    command = ["cmake", "--build", "--preset", preset, "--target", *(targets or ("all",))]
    if not configure(preset) or run(tally, f"build {preset}", command):
        tally.failures.append(f"build {preset}")


def count_report(tally: Tally, title: str, report: Path, exit_code: int) -> None:
    """Adds the cases of a JUnit report, and one failure if the part failed but its report has none."""
    failures: list[str] = []
    try:
        cases = list(ET.parse(report).iter("testcase"))
    except (OSError, ET.ParseError):
        tally.failures.append(f"{title} (exit code {exit_code}, no whole report)")
        return
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            failures.append(f"{title}: {case.get('classname')} {case.get('name')}")
        elif (skipped := case.find("skipped")) is not None:
            tally.skipped[skipped.get("message") or title] += 1
        else:
            tally.passed += 1
    if exit_code and not failures:
        failures.append(f"{title} (exit code {exit_code})")
    tally.failures += failures


def run_with_report(tally: Tally, title: str, command: list[str], option: str, environment: dict[str, str]) -> None:
    report = REPORTS / f"{title.replace(' ', '_')}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    exit_code = run(tally, title, [*command, option, str(report)], environment)
    count_report(tally, title, report, exit_code)


def ctest(tally: Tally, preset: str, arguments: list[str], environment: dict[str, str]) -> None:
    command = ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "--no-tests=error", "-j", JOBS]
    run_with_report(tally, f"ctest {preset}", [*command, *arguments], "--output-junit", environment)


def pytest(tally: Tally, arguments: list[str], environment: dict[str, str] | None = None) -> None:
    # Runs all tests of a file in one process, because they share fixtures. conftest.py says which files come first.
    side_by_side = ["-n", WORKERS, "--dist", "loadfile", "--no-loadscope-reorder"]
    run_with_report(
        tally, "pytest", [sys.executable, "-m", "pytest", "-q", *side_by_side, *arguments], "--junitxml", environment or {}
    )


def count_lint(tally: Tally, name: str, exit_code: int) -> None:
    if exit_code:
        tally.failures.append(name)
    else:
        tally.passed += 1


def lint(tally: Tally, without: str = "") -> None:
    for name, command in LINTS:
        if name != without:
            count_lint(tally, name, run(tally, name, command()))


def warn_of_a_full_disk() -> None:
    """Warns if a disk is nearly full. Otherwise each test would fail in its own way."""
    for use, place, gib in (("the builds", ROOT, 4), ("the tests' files", Path(tempfile.gettempdir()), 3)):
        if (free := shutil.disk_usage(place).free / 2**30) < gib:
            print(f"warning: {free:.1f} GiB are free in {place}; {use} need {gib}", flush=True)


def build_all(tally: Tally) -> None:
    build(tally, "release", "program")
    build(tally, "clang", "program")
    build(tally, "dev")


def only_ctest(tally: Tally, arguments: list[str]) -> None:
    build(tally, "dev")
    ctest(tally, "dev", arguments, FIXED_CASES)


def only_pytest(tally: Tally, arguments: list[str]) -> None:
    build(tally, "release", "program")
    pytest(tally, arguments)


def only_lint(tally: Tally, _arguments: list[str]) -> None:
    # Builds this preset first: clang-tidy needs its compile commands, and its list of files that each unit includes.
    build(tally, "clang", "program")
    build(tally, "dev")
    lint(tally)


def everything(tally: Tally, _arguments: list[str]) -> None:
    warn_of_a_full_disk()
    build_all(tally)
    ctest(tally, "dev", [], FIXED_CASES)
    # Tests leave a sixth of the processors' time over (tests/README.md).
    tidy = Beside(CLANG_TIDY, dict(LINTS)[CLANG_TIDY]())
    pytest(tally, [])
    lint(tally, without=CLANG_TIDY)
    count_lint(tally, CLANG_TIDY, tidy.end(tally))


def what_changed(tally: Tally, _arguments: list[str]) -> None:
    changed = affected.changed_since_tested()
    if changed is None:
        everything(tally, [])
        return
    found = affected.affected(SourceTree.of_git(), changed)
    if found.everything:
        print(f"==> {found.everything} has changed, which can affect everything", flush=True)
        everything(tally, [])
        return
    print(f"==> {len(changed)} files have changed since the last pass; ./dev test all runs everything", flush=True)
    if found.files or found.programs:
        build(tally, "release", "program")
    if found.programs:
        build(tally, "dev", *sorted(found.programs))
        ctest(tally, "dev", ["-R", rf"^({'|'.join(sorted(found.programs))})\."], FIXED_CASES)
    if found.files:
        pytest(tally, sorted(found.files))
    lint(tally, without=CLANG_TIDY)  # it needs every unit compiled; ./dev lint runs it


def fuzz(tally: Tally, arguments: list[str]) -> None:
    build_all(tally)
    build(tally, "asan")
    build(tally, "fuzzer", "fuzz_readers")
    ctest(tally, "dev", [], MANY_CASES)
    ctest(tally, "asan", [], FIXED_CASES)
    sanitized_threads(tally, [])
    pytest(tally, ["-m", "thorough", *arguments])


PARTS: dict[str, Callable[[Tally, list[str]], None]] = {
    "ctest": only_ctest,
    "pytest": only_pytest,
    "lint": only_lint,
}


def sanitized_ctest(tally: Tally, arguments: list[str]) -> None:
    build(tally, "asan")
    ctest(tally, "asan", arguments, FIXED_CASES)


def pytest_of(tally: Tally, preset: str, variable: str, options: str, arguments: list[str]) -> None:
    """Runs the tests with a program built with sanitizers, except tests marked to be left out. Sanitizers report to
    files: they also warn about unwound fibers, and many tests expect nothing on standard error. An error in a report
    counts as a failure whatever the tests say."""
    with tempfile.TemporaryDirectory(prefix="linebounce_sanitizer_") as folder:
        program = str(ROOT / f"build/{preset}/linebounce")
        chosen = ["-m", "not thorough and not uninstrumented", *arguments]
        pytest(tally, chosen, {"LINEBOUNCE": program, variable: f"{options}log_path={folder}/report"})
        for report in sorted(Path(folder).iterdir()):
            text = report.read_text(errors="replace")
            if any(mark in text for mark in ("ERROR:", "runtime error:", "WARNING: ThreadSanitizer:")):
                print(text)
                tally.failures.append(f"sanitizer: {report.name}")


def sanitized_pytest(tally: Tally, arguments: list[str]) -> None:
    """Lets a crash stay a crash; by default the sanitizer turns it into a report."""
    build(tally, "asan", "linebounce")
    pytest_of(tally, "asan", "ASAN_OPTIONS", "handle_segv=0:", ["tests/end_to_end", "commands", "evidence", *arguments])


# Tests of commands that use threads. Recording packs its trace in a thread; other commands write a file in a thread and wait
# for signals.
THREADED = [
    "tests/end_to_end/test_two_writers.py",
    "tests/record/test_record_endings.py",
    "commands/trace/tests/test_interrupted_traces.py",
]


def sanitized_threads(tally: Tally, arguments: list[str]) -> None:
    """Runs whatever uses threads with ThreadSanitizer: the library's simulations, the recorder's ring buffers, and
    THREADED."""
    build(tally, "tsan", "threads")
    ctest(tally, "tsan", ["-R", "^test_(library_promises|record)"], FIXED_CASES)
    pytest_of(tally, "tsan", "TSAN_OPTIONS", "", [*THREADED, *arguments])


def sanitized(tally: Tally, _arguments: list[str]) -> None:
    sanitized_ctest(tally, [])
    sanitized_pytest(tally, [])
    sanitized_threads(tally, [])


SANITIZED_PARTS: dict[str, Callable[[Tally, list[str]], None]] = {
    "ctest": sanitized_ctest,
    "pytest": sanitized_pytest,
    "threads": sanitized_threads,
}


def choose(arguments: list[str]) -> tuple[Callable[[Tally, list[str]], None], list[str]]:
    match arguments:
        case ["test", *which] if which in ([], ["all"]):
            return everything if which else what_changed, []
        case ["test", "--sanitize"]:
            return sanitized, []
        case ["test", "--sanitize", part, *rest] if part in SANITIZED_PARTS:
            return SANITIZED_PARTS[part], rest
        case ["test", part, *rest] if part in PARTS:
            return PARTS[part], rest
        case ["lint"]:
            return only_lint, []
        case ["fuzz", *rest]:
            return fuzz, rest
    usage = (
        f"./dev test [all|{'|'.join(PARTS)} [ARGUMENT...]], ./dev test --sanitize [{'|'.join(SANITIZED_PARTS)} [ARGUMENT...]]"
    )
    raise SystemExit(f"usage: {usage}, ./dev lint, ./dev fuzz [PYTEST ARGUMENT...]")


def main() -> int:
    what, arguments = choose(sys.argv[1:])
    tally = Tally()
    before = affected.state()
    what(tally, arguments)
    if what in (everything, what_changed) and not tally.failures:
        affected.remember(before)
    if tally.failures:
        print("\nFailed:\n" + "\n".join(f"  {failure}" for failure in tally.failures))
    for reason, count in tally.skipped.most_common():
        print(f"{count} skipped: {reason}")
    times = (f"{title} {elapsed:.0f} ({busy:.0f})" for title, (elapsed, busy) in tally.seconds.items())
    print("seconds (of processor time): " + ", ".join(times))
    print(f"{tally.passed} passed, {len(tally.failures)} failed", flush=True)
    return 1 if tally.failures or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
