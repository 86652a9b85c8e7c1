"""Demands that a folder's README names each of its source files, so that a newcomer finds it by its subject.

A file is named by its name, by its header's or source's, by `STEM.*`, or by a pattern such as `describe_*.cpp`. A folder
without a README is described in the one above.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath

from source_tree import Finding, SourceTree, is_test

FOLDERS = ("models", "workloads", "sim", "forms", "litmus", "types", "trace", "record", "commands", "evidence")
NAMED = re.compile(r"`([\w*./+-]+)`")


def readme_of(sources: SourceTree, folder: PurePosixPath) -> PurePosixPath | None:
    return next((above for above in (folder, folder.parent) if f"{above}/README.md" in sources), None)


def names(readme: str, path: PurePosixPath) -> bool:
    """Whether the text names a file; `path` is relative to its folder."""
    module = {str(path.with_suffix("")), path.stem}
    return any(fnmatch(stem, re.sub(r"\.[\w*]+$", "", named)) for named in NAMED.findall(readme) for stem in module)


def findings(sources: SourceTree) -> Iterator[Finding]:
    for file in sources.matching("*.cpp", "*.hpp", "*.c", "*.h"):
        path = PurePosixPath(file)
        if path.parts[0] not in FOLDERS or is_test(file):
            continue
        folder = readme_of(sources, path.parent)
        if folder is None:
            yield Finding(file, 1, f"neither {path.parent} nor the folder above has a README.md")
        elif not names(sources.text(f"{folder}/README.md"), path.relative_to(folder)):
            yield Finding(file, 1, f"{folder}/README.md has no row for it")
