"""Demands that a folder's README names each of its source files, so that a newcomer finds it by its subject, and each
protocol, machine and other file that is added without code.

A file is named by its name, by its header's or source's, by `STEM.*`, or by a pattern such as `describe_*.cpp`. A folder
without a README is described in the one above. A room of commands/ is named `NAME/` in the README there, and a page of docs/
is linked.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath

from source_tree import Finding, SourceTree, is_test

FOLDERS = ("models", "workloads", "sim", "forms", "litmus", "types", "trace", "record", "commands", "evidence")
# Files without code of which each is a thing to choose, and the lints.
THINGS = (
    "models/protocols/*.md",
    "programs/*.lua",
    "litmus/models/*.model",
    "configs/machines/*.toml",
    "configs/counters/*.txt",
    "tools/lint_*.py",
)
NAMED = re.compile(r"`([\w*./+-]+)`")


def readme_of(sources: SourceTree, folder: PurePosixPath) -> PurePosixPath | None:
    return next((above for above in (folder, folder.parent) if f"{above}/README.md" in sources), None)


def names(readme: str, path: PurePosixPath) -> bool:
    """Whether the text names a file; `path` is relative to its folder."""
    module = {str(path.with_suffix("")), path.stem}
    return any(fnmatch(stem, re.sub(r"\.[\w*]+$", "", named)) for named in NAMED.findall(readme) for stem in module)


def files(sources: SourceTree) -> Iterator[str]:
    for file in sources.matching("*.cpp", "*.hpp", "*.c", "*.h"):
        if file.split("/")[0] in FOLDERS and not is_test(file):
            yield file
    for file in sources.matching(*THINGS):
        if not file.endswith("/README.md"):
            yield file


def text_of(sources: SourceTree, name: str) -> str:
    return sources.text(name) if name in sources else ""


def rooms_without_row(sources: SourceTree) -> Iterator[Finding]:
    readme = "commands/README.md"
    for room in sorted({name.split("/")[1] for name in sources.matching("commands/*/*")}):
        if f"`{room}/`" not in text_of(sources, readme):
            first = sources.matching(f"commands/{room}/*")[0]
            yield Finding(first, 1, f"{readme} has no row for `{room}/`")


def pages_without_row(sources: SourceTree) -> Iterator[Finding]:
    for page in sources.matching("docs/*.md"):
        path = PurePosixPath(page)
        is_page = str(path.parent) == "docs" and path.name != "README.md"
        if is_page and f"]({path.name}" not in text_of(sources, "docs/README.md"):
            yield Finding(page, 1, "docs/README.md has no row for it")


def findings(sources: SourceTree) -> Iterator[Finding]:
    for file in files(sources):
        path = PurePosixPath(file)
        folder = readme_of(sources, path.parent)
        if folder is None:
            yield Finding(file, 1, f"neither {path.parent} nor the folder above has a README.md")
        elif not names(sources.text(f"{folder}/README.md"), path.relative_to(folder)):
            yield Finding(file, 1, f"{folder}/README.md has no row for it")
    yield from rooms_without_row(sources)
    yield from pages_without_row(sources)
