"""Which linters run on which files: LINTS, in the order in which they run."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

LAYERED = ("models", "workloads", "sim", "trace", "record")

# In order of (name, command). A command is made when it runs, from the files that are there then.
Lint = tuple[str, Callable[[], list[str]]]


def sources(*patterns: str) -> list[str]:
    """The files that git tracks or would track, by git's patterns, sorted."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(name for name in listed if (ROOT / name).exists())


def cpp_sources() -> list[str]:
    return sources("*.cpp", "*.hpp")


def shell_scripts() -> list[str]:
    return ["dev", ".ci/run", *sources("*.sh", "*.bash")]


def tool(name: str) -> list[str]:
    return [PYTHON, f"tools/{name}.py"]


def ruff(*arguments: str) -> list[str]:
    return [str(Path(PYTHON).parent / "ruff"), *arguments]


LINTS: list[Lint] = [
    ("clang-format", lambda: ["clang-format", "--dry-run", "-Werror", *cpp_sources()]),
    ("shellcheck", lambda: ["shellcheck", *shell_scripts()]),
    ("ruff check", lambda: ruff("check", ".")),
    ("ruff format", lambda: ruff("format", "--check", ".")),
    ("mypy", lambda: [PYTHON, "-m", "mypy"]),
    ("evaluation order", lambda: [*tool("lint_evaluation_order"), *cpp_sources()]),
    (
        "same results everywhere",
        lambda: [*tool("lint_reproducible"), *sources("models/*pp", "workloads/*pp", "sim/*pp")],
    ),
    ("protocols are data", lambda: [*tool("lint_protocol_names"), *sources("models/*pp", "workloads/*pp", "sim/*pp")]),
    ("layers", lambda: [*tool("lint_layers"), *sources(*(f"{layer}/*.[ch]*" for layer in LAYERED))]),
    ("kinds of rows", lambda: [*tool("lint_row_kinds"), *sources("configs/machines/*.toml", "configs/experiments/*.toml")]),
    ("papers' figures", lambda: tool("lint_papers")),
    (
        "predictions before results",
        lambda: [
            *tool("lint_validation"),
            *sources("configs/machines/*.toml", "configs/experiments/*.toml", "configs/experiments/validation/records/*.json"),
        ],
    ),
    ("prose", lambda: [*tool("lint_prose"), *sources("*.md", "*.hpp", "*.cpp", "*.h", "*.c", "*.py", "*.toml", "dev")]),
    ("clang-tidy", lambda: [*tool("clang_tidy"), "build/clang", "build/dev"]),
]
