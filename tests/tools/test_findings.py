"""./dev findings: what findings/ says of other tools."""

from pathlib import Path

import pytest

import findings


def test_the_readme_has_each_scripts_first_line() -> None:
    assert findings.README.read_text() == findings.readme(), "./dev findings --table writes it anew"


def test_a_script_that_fails_is_told_with_its_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "holds.sh").write_text("#!/usr/bin/env bash\n# A tool does so.\ntrue\n")
    (tmp_path / "changed.sh").write_text("#!/usr/bin/env bash\n# Another tool does so.\nexit 1\n")
    monkeypatch.setattr(findings, "FOLDER", tmp_path)
    assert findings.run([]) == 1
    out = capfd.readouterr().out
    assert "==> changed: Another tool does so" in out
    assert out.endswith("1 as described, 1 otherwise\n")
    assert findings.run(["holds"]) == 0


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert findings.run(["no_such_thing"]) == 2
    assert "no no_such_thing.sh in findings/" in capsys.readouterr().err
