"""Notes which blocks of a package run: the package is compiled with a note at the start of each block.

sys.settrace calls back for each function of every library, and for each line of the package; that took most of the time of
reading a small file.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

REACHED: set[int] = set()  # numbers of blocks
NOTE = "__reached__"


class _Notes(ast.NodeTransformer):
    """Adds a call to the start of each block of statements. The numbers of blocks go on from module to module."""

    number = 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            # Skips a conditional expression and a lambda, whose body is not a list of statements.
            if isinstance(block, list) and block:
                block.insert(_behind_docstring(node, block), self._note())
        return node

    def _note(self) -> ast.Expr:
        _Notes.number += 1
        name = ast.Name(NOTE, ast.Load())
        return ast.Expr(ast.Call(name, [ast.Constant(_Notes.number)], []))


def _behind_docstring(node: ast.AST, block: list[ast.AST]) -> int:
    """Where a block's own statements begin: docstrings and imports from __future__ must come first."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return 0
    at = 1 if isinstance(block[0], ast.Expr) and isinstance(block[0].value, ast.Constant) else 0
    while at < len(block) and isinstance(first := block[at], ast.ImportFrom) and first.module == "__future__":
        at += 1
    return at


class _Loader(SourceFileLoader):
    # never a cached file, which would lack the notes
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.fix_missing_locations(_Notes().visit(ast.parse(self.get_data(path))))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, NOTE, REACHED.add)
        super().exec_module(module)


class _Finder:
    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != self.package:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path)
        return spec


def note_blocks_of(package: str) -> None:
    """REQUIRES: the package has not been imported."""
    assert not any(_modules_of(package)), "imported too early"
    sys.meta_path.insert(0, _Finder(package))


def _modules_of(package: str) -> Iterator[str]:
    return (name for name in sys.modules if name.partition(".")[0] == package)
