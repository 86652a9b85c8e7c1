"""The counts in the last line of ./dev test: no failure may be lost."""

from pathlib import Path
from types import SimpleNamespace

import check
import pytest
from check import Tally, count_report

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="x" tests="4">
  <testcase classname="Bus" name="good"/>
  <testcase classname="Bus" name="bad"><failure message="no"/></testcase>
  <testcase classname="Bus" name="broken"><error message="worse"/></testcase>
  <testcase classname="Bus" name="left_out"><skipped message="why"/></testcase>
</testsuite></testsuites>
"""


def counted(tmp_path: Path, text: str | None, exit_code: int) -> Tally:
    report = tmp_path / "report.xml"
    if text is not None:
        report.write_text(text)
    tally = Tally()
    count_report(tally, "ctest dev", report, exit_code)
    return tally


def test_cases_are_counted_one_by_one(tmp_path: Path) -> None:
    tally = counted(tmp_path, REPORT, 1)
    assert (tally.passed, tally.skipped) == (1, {"why": 1})
    assert tally.failures == ["ctest dev: Bus bad", "ctest dev: Bus broken"]


@pytest.mark.parametrize("report", [None, "", REPORT[: len(REPORT) // 2]], ids=["none", "empty", "cut_off"])
def test_a_part_that_dies_without_a_whole_report_is_a_failure(tmp_path: Path, report: str | None) -> None:
    assert counted(tmp_path, report, 139).failures == ["ctest dev (exit code 139, no whole report)"]


def test_a_nearly_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    free = 100 * 2**30
    monkeypatch.setattr(check.shutil, "disk_usage", lambda _path: SimpleNamespace(free=free))
    check.warn_of_a_full_disk()
    assert capsys.readouterr().out == ""
    free = 2**30
    check.warn_of_a_full_disk()
    assert capsys.readouterr().out.startswith(f"warning: 1.0 GiB are free in {check.ROOT}; the builds need 4\n")


def test_a_part_that_fails_although_all_cases_pass_is_a_failure(tmp_path: Path) -> None:
    tally = counted(tmp_path, '<testsuite><testcase name="good"/></testsuite>', 8)
    assert tally.passed == 1
    assert tally.failures == ["ctest dev (exit code 8)"]


def last_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tally: Tally) -> tuple[int, str]:
    def fill(given: Tally, _arguments: list[str]) -> None:
        given.passed, given.failures = tally.passed, tally.failures

    monkeypatch.setattr(check, "choose", lambda _arguments: (fill, []))
    code = check.main()
    return code, capsys.readouterr().out.splitlines()[-1]


def test_the_last_line_counts_passed_and_failed_tests(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert last_line(monkeypatch, capsys, Tally(passed=3)) == (0, "3 passed, 0 failed")
    assert last_line(monkeypatch, capsys, Tally(passed=3, failures=["x"])) == (1, "3 passed, 1 failed")


def test_a_run_of_nothing_is_not_a_success(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert last_line(monkeypatch, capsys, Tally()) == (1, "0 passed, 0 failed")


def test_the_sanitizers_build_is_tested_by_its_own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[str, str]] = []
    ran: list[tuple[str, list[str], str]] = []
    monkeypatch.setattr(check, "build", lambda _tally, preset, target="all": built.append((preset, target)))
    monkeypatch.setattr(
        check,
        "run_with_report",
        lambda _tally, title, command, _option, environment: ran.append((title, command, environment.get("LINEBOUNCE", ""))),
    )
    part, arguments = check.choose(["test", "--sanitize", "pytest", "-k", "layouts"])
    part(Tally(), arguments)
    part, arguments = check.choose(["test", "--sanitize", "ctest", "-R", "Bus"])
    part(Tally(), arguments)
    part, arguments = check.choose(["test", "--sanitize", "threads", "-k", "writers"])
    part(Tally(), arguments)
    assert built == [("asan", "linebounce"), ("asan", "all"), ("tsan", "threads")]
    assert [(title, program) for title, _, program in ran] == [
        ("pytest", str(check.ROOT / "build/asan/linebounce")),
        ("ctest asan", ""),
        ("ctest tsan", ""),
        ("pytest", str(check.ROOT / "build/tsan/linebounce")),
    ]
    assert ran[0][1][-2:] == ["-k", "layouts"]
    assert ran[1][1][-2:] == ["-R", "Bus"]
    assert ran[3][1][-2:] == ["-k", "writers"]


def test_a_sanitizers_error_is_a_failure_but_its_warning_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_tally: Tally, _title: str, _command: list[str], _option: str, environment: dict[str, str]) -> None:
        reports = Path(environment["ASAN_OPTIONS"].split("log_path=")[1])
        reports.with_suffix(".1").write_text("==1==WARNING: a fiber is unwound\n")
        reports.with_suffix(".2").write_text("==2==ERROR: AddressSanitizer: heap-use-after-free\n")
        reports.with_suffix(".3").write_text("WARNING: ThreadSanitizer: data race (pid=3)\n")

    monkeypatch.setattr(check, "build", lambda *_: None)
    monkeypatch.setattr(check, "run_with_report", run)
    tally = Tally()
    check.sanitized_pytest(tally, [])
    assert tally.failures == ["sanitizer: report.2", "sanitizer: report.3"]


def test_linters_cannot_be_run_with_sanitizers() -> None:
    with pytest.raises(SystemExit, match="--sanitize"):
        check.choose(["test", "--sanitize", "lint"])


def test_a_linter_that_runs_beside_the_tests_prints_at_its_end_and_counts(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    tally = Tally()
    found = check.Beside("slow lint", ["sh", "-c", "nice; echo finding >&2; exit 3"])
    found.process.wait()
    assert capfdbinary.readouterr().out == b""
    check.count_lint(tally, found.title, found.end(tally))
    assert capfdbinary.readouterr().out == b"==> slow lint\n19\nfinding\n"
    assert (tally.passed, tally.failures) == (0, ["slow lint"])
    check.count_lint(tally, "good", check.Beside("good", ["true"]).end(tally))
    assert (tally.passed, tally.failures) == (1, ["slow lint"])
