"""LINTS: which linters run on which files, in order."""

import sys
from collections.abc import Callable
from pathlib import Path

from source_tree import ROOT, git_files

PYTHON = sys.executable

# Tuples (name, command). The command is made when the lint runs, from the files that exist then.
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
