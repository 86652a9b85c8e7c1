"""No circle of modules: C and C++ headers that include each other, Python and TypeScript modules that import each other.

An import inside a function or for types alone counts, too. What two modules need belongs into a third.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath

from lint_layers import included
from source_tree import Finding, SourceTree, line_at

C = ("*.c", "*.h", "*.cpp", "*.hpp")
PYTHON = ("analysis/*.py", "tools/*.py", "tests/*.py")
PYTHON_ROOTS = ("analysis", "tools", "tests/end_to_end")
SCRIPTS = ("teach/page/src/*.ts", "teach/page/src/*.svelte")
SCRIPT_IMPORT = re.compile(r"""^\s*(?:import|export)\b[^;"']*?["'](\.[^"']+)["']""", re.MULTILINE)

Graph = dict[str, dict[str, int]]  # of each file, the files that it imports, with the line that does


def scripts_imported(sources: SourceTree, file: str) -> Iterator[tuple[int, str]]:
    text = sources.text(file)
    for match in SCRIPT_IMPORT.finditer(text):
        path = normpath(f"{PurePosixPath(file).parent}/{match[1]}")
        yield from ((line_at(text, match.start(1)), path + suffix) for suffix in ("", ".ts") if path + suffix in sources)


def python_imported(sources: SourceTree, file: str) -> Iterator[tuple[int, str]]:
    """A package's own names count only if they are modules."""
    roots = (*PYTHON_ROOTS, str(PurePosixPath(file).parent))

    def module(name: str) -> str | None:
        paths = [f"{root}/{name.replace('.', '/')}{end}" for root in roots for end in (".py", "/__init__.py")]
        return next((path for path in paths if path in sources), None)

    for node in ast.walk(ast.parse(sources.text(file))):
        names: list[str | None] = []
        if isinstance(node, ast.Import):
            names = [module(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [module(f"{node.module}.{alias.name}") or module(node.module) for alias in node.names]
        yield from ((node.lineno, name) for name in names if name and isinstance(node, ast.Import | ast.ImportFrom))


def graph(sources: SourceTree) -> Graph:
    languages = [
        (included, C),
        (python_imported, PYTHON),
        (scripts_imported, SCRIPTS),
    ]
    found: Graph = {}
    for imported, patterns in languages:
        for file in sources.matching(*patterns):
            own = found.setdefault(file, {})
            for line, name in imported(sources, file):
                if name != file:
                    own.setdefault(name, line)
    return found


def without_ends(imports: Graph) -> Graph:
    """Those that import one another, or what does."""
    left = imports
    while True:
        kept = {file: {name: line for name, line in names.items() if name in left} for file, names in left.items() if names}
        if kept == left:
            return left
        left = kept


def circle(imports: Graph, start: str) -> list[str]:
    """The shortest way from a file back to it; empty where there is none."""
    came_from: dict[str, str] = {}
    reached = [start]
    for file in reached:
        for name in imports.get(file, {}):
            if name == start:
                way = [file]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if name not in came_from:
                came_from[name] = file
                reached.append(name)
    return []


def findings(sources: SourceTree) -> Iterator[Finding]:
    imports = without_ends(graph(sources))
    seen: set[frozenset[str]] = set()
    for start in imports:
        way = circle(imports, start)
        if way and frozenset(way) not in seen:
            seen.add(frozenset(way))
            yield Finding(start, imports[start][[*way, start][1]], f"a circle of imports: {' -> '.join([*way, start])}")
