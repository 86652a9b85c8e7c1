"""Fixtures: the program, its builds, and a results directory that is checked against the contract whenever a test makes one."""

import os
from pathlib import Path

import pytest
from program import ROOT, Program


@pytest.fixture(scope="session")
def executable() -> Path:
    path = Path(os.environ.get("LINEBOUNCE", ROOT / "build" / "release" / "linebounce"))
    if not path.exists():
        pytest.fail(f"{path} does not exist: run ./dev build, or name another program in LINEBOUNCE")
    return path


@pytest.fixture
def linebounce(executable: Path, tmp_path: Path) -> Program:
    """The program, run in a fresh directory."""
    return Program(executable, tmp_path)


@pytest.fixture(scope="session")
def session_linebounce(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """For runs that several tests look at."""
    return Program(executable, tmp_path_factory.mktemp("shared"))
