"""LINTS: the linters in the order in which they run, each with the files that it examines."""

import sys
from collections.abc import Callable
from pathlib import Path

from source_tree import ROOT, git_files

PYTHON = sys.executable

# Pairs of a name and a function that returns the command, called when the lint runs, so that it sees the files as they are
# then.
Lint = tuple[str, Callable[[], list[str]]]


def ruff(*arguments: str) -> list[str]:
    return [str(Path(PYTHON).parent / "ruff"), *arguments]


LINTS: list[Lint] = [
    ("clang-format", lambda: ["clang-format", "--dry-run", "-Werror", *git_files(ROOT, "*.cpp", "*.hpp")]),
    ("shellcheck", lambda: ["shellcheck", "dev", ".ci/run", *git_files(ROOT, "*.sh", "*.bash")]),
    ("ruff check", lambda: ruff("check", ".")),
    ("ruff format", lambda: ruff("format", "--check", ".")),
    ("mypy", lambda: [PYTHON, "-m", "mypy"]),
    ("the project's rules", lambda: [PYTHON, "tools/lint.py"]),
    ("clang-tidy", lambda: [PYTHON, "tools/clang_tidy.py", "build/clang", "build/dev"]),
]
