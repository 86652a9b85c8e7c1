"""Finds deletions of whole directories and renames of files, and demands a row for each file that has one, in the table of
tests/faults/README.md. The row says what guards them: no command empties a directory that Linebounce did not make.

Tests are left out: what they delete, they have made.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from source_tree import Finding, SourceTree, fits, is_test, line_at

TABLE = "tests/faults/README.md"
HEADING = "## What deletes or renames"
LEFT_OUT = ("models/*", "workloads/*")  # they simulate kernels, with functions of these names
# Calls in C, C++ and JavaScript, and shell commands.
CALLS = re.compile(
    r"\bremove_all\(|(?<![\w.>])(?:fs::|std::filesystem::|std::|::)?rename\(|\b(?:rmSync|renameSync)\(|\bfs\.rm\("
)
SHELL = re.compile(r"(?:^|[;&|('\"]|\s)(?:rm\s+(?:-\w*[rR]|--recursive)|mv\s)", re.MULTILINE)


def python_calls(text: str) -> Iterator[int]:
    """The lines of Python that delete a folder or rename a path: rmtree(...), and .rename(X) and .replace(X) of a path, which
    unlike a string's take one argument."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        is_of_path = name in ("rename", "replace") and isinstance(node.func, ast.Attribute) and not node.keywords
        of_os = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "os"
        if name == "rmtree" or (is_of_path and len(node.args) == (2 if of_os else 1)) or (name == "move" and "shutil" in text):
            yield node.lineno


def places(sources: SourceTree, file: str) -> Iterator[int]:
    text = sources.text(file)
    if fits(file, ("*.py",)) or text.startswith("#!/usr/bin/env python3"):
        yield from python_calls(text)
    elif fits(file, ("*.cpp", "*.hpp", "*.c", "*.h", "*.mjs", "*.ts")):
        code = re.sub(r"//[^\n]*", "", text)
        yield from (line_at(code, found.start()) for found in CALLS.finditer(code))
    elif fits(file, ("*.sh", "*.bash")) or text.startswith("#!/usr/bin/env bash"):
        code = re.sub(r"(?m)^[ \t]*#[^\n]*", "", text)
        yield from (line_at(code, found.start()) for found in SHELL.finditer(code))


def rows(sources: SourceTree) -> dict[str, int]:
    """The files that the table names, or patterns of them such as `findings/*.sh`, with their lines."""
    if TABLE not in sources:
        return {}
    text = sources.text(TABLE)
    begin = text.find(HEADING)
    section = text[begin:].split("\n## ", 1)[0] if begin >= 0 else ""
    return {found[1]: line_at(text, begin + found.start()) for found in re.finditer(r"(?m)^\| `([^`]+)`", section)}


def findings(sources: SourceTree) -> Iterator[Finding]:
    known = rows(sources)
    patterns = tuple(name for name in known if "*" in name)
    candidates = ("*.py", "*.cpp", "*.hpp", "*.c", "*.h", "*.mjs", "*.ts", "*.sh", "*.bash", "dev")
    for file in sources.names:
        is_script = PurePosixPath(file).suffix == "" and file.startswith(("tools/", "teach/", "install/", "examples/"))
        if is_test(file) or fits(file, LEFT_OUT) or not (fits(file, candidates) or is_script):
            continue
        found = sorted(places(sources, file))
        if found and file not in known and not fits(file, patterns):
            yield Finding(file, found[0], f"deletes a directory or renames a file: say in {TABLE} what guards that")
        if not found and file in known:
            yield Finding(TABLE, known[file], f"{file} deletes and renames nothing any more")
    for file, line in known.items():
        if not any(fits(name, (file,)) for name in sources.names):
            yield Finding(TABLE, line, f"there is no file {file}")
