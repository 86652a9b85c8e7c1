"""Reads the project's files for the lints. Each file is read, tokenised and parsed once."""

import json
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import cpp_tokens

ROOT = Path(__file__).resolve().parent.parent


class Finding(NamedTuple):
    """An error with its place. Errors sort by place."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def room_of(file: str) -> str | None:
    """The room of a file: commands/NAME, forms, litmus or evidence; none for what is in no room."""
    parts = file.split("/")
    if parts[0] == "commands":
        return "/".join(parts[:2]) if len(parts) > 2 and parts[1] != "common" else None
    return parts[0] if parts[0] in ("forms", "litmus", "evidence") else None


def is_test(name: str) -> bool:
    """Whether a file belongs to the tests: those below tests/, and those of a room in its own tests/."""
    return "tests" in name.split("/")[:-1]


def git_files(root: Path, *patterns: str) -> list[str]:
    """The files that git tracks, or would track after `git add`, sorted. `patterns`: git's patterns."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *patterns]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(name for name in listed if (root / name).exists())


class SourceTree:
    """Files by their paths from the root, with "/" between folders."""

    def __init__(self, names: Iterable[str], read: Callable[[str], str], root: Path = ROOT) -> None:
        self.names = sorted(names)
        self.root = root  # for git's history
        self._known = frozenset(self.names)
        self.text = cache(read)
        self.tokens = cache(lambda name: cpp_tokens.tokens(self.text(name)))
        self.toml: Callable[[str], dict[str, Any]] = cache(lambda name: tomllib.loads(self.text(name)))
        self.json: Callable[[str], Any] = cache(lambda name: json.loads(self.text(name)))

    @classmethod
    def of_git(cls, root: Path = ROOT) -> "SourceTree":
        return cls(git_files(root), lambda name: (root / name).read_text(encoding="utf-8"), root)

    @classmethod
    def of(cls, texts: Mapping[str, str], root: Path = ROOT) -> "SourceTree":
        return cls(texts, texts.__getitem__, root)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def matching(self, *patterns: str) -> list[str]:
        """The files that match one of the patterns. As in git's patterns, a star also matches slashes."""
        return [name for name in self.names if fits(name, patterns)]

    def line_of(self, name: str, needle: str) -> int:
        """The number of the first line with that text; 1 if there is none, or no such file."""
        text = self.text(name) if name in self else ""
        return line_at(text, max(text.find(needle), 0))


def fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
