"""Forbids cycles of modules: C and C++ files that include each other, Python and TypeScript modules that import each
other.

In C, a header and its source file are one module. Imports inside a function, and imports only for types, count as well.
To break a cycle, move what both modules need into a third.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from posixpath import normpath

from lint_layers import included
from source_tree import Finding, SourceTree, line_at

C = ("*.c", "*.h", "*.cpp", "*.hpp")
PYTHON = ("analysis/*.py", "tools/*.py", "tests/*.py", "commands/*.py", "evidence/*.py")
PYTHON_ROOTS = ("analysis", "tools", "tests/end_to_end")
SCRIPTS = ("teach/page/src/*.ts", "teach/page/src/*.svelte")
SCRIPT_IMPORT = re.compile(r"""^\s*(?:import|export)\b[^;"']*?["'](\.[^"']+)["']""", re.MULTILINE)

Place = tuple[str, int]
Graph = dict[str, dict[str, Place]]  # module -> the modules that it imports, each with the place of the import


def scripts_imported(sources: SourceTree, file: str) -> Iterator[tuple[int, str]]:
    text = sources.text(file)
    for match in SCRIPT_IMPORT.finditer(text):
        path = normpath(f"{PurePosixPath(file).parent}/{match[1]}")
        yield from ((line_at(text, match.start(1)), path + suffix) for suffix in ("", ".ts") if path + suffix in sources)


def python_imported(sources: SourceTree, file: str) -> Iterator[tuple[int, str]]:
    """The modules that a Python file imports. Other names imported from a package are not modules."""
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


def module_of(file: str) -> str:
    return file.removesuffix(".c").removesuffix(".h")


def graph(sources: SourceTree) -> Graph:
    languages: list[tuple[Callable[[SourceTree, str], Iterator[tuple[int, str]]], tuple[str, ...]]] = [
        (included, C),
        (python_imported, PYTHON),
        (scripts_imported, SCRIPTS),
    ]
    found: Graph = {}
    for imported, patterns in languages:
        for file in sources.matching(*patterns):
            module = module_of(file)
            own = found.setdefault(module, {})
            for line, name in imported(sources, file):
                if module_of(name) != module:
                    own.setdefault(module_of(name), (file, line))
    return found


def without_ends(imports: Graph) -> Graph:
    """Removes modules that import no remaining module, until there are none. Those that stay are in a cycle, or import
    one that leads into a cycle."""
    while True:
        left = {
            module: {name: place for name, place in names.items() if name in imports}
            for module, names in imports.items()
            if names
        }
        if left == imports:
            return left
        imports = left


def circle(imports: Graph, start: str) -> list[str]:
    """The shortest cycle from a module back to it; empty if there is none."""
    came_from: dict[str, str] = {}
    reached = [start]
    for module in reached:
        for name in imports.get(module, {}):
            if name == start:
                way = [module]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if name not in came_from:
                came_from[name] = module
                reached.append(name)
    return []


def findings(sources: SourceTree) -> Iterator[Finding]:
    imports = without_ends(graph(sources))
    seen: set[frozenset[str]] = set()
    for start in imports:
        way = circle(imports, start)
        if way and frozenset(way) not in seen:
            seen.add(frozenset(way))
            file, line = imports[start][[*way, start][1]]
            yield Finding(file, line, f"a circle of imports: {' -> '.join([*way, start])}")
