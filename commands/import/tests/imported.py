"""What the tests of `import` share: a file imported, and the accesses of a trace."""

from pathlib import Path

from linebounce.trace import Trace
from program import Program


def imported(linebounce: Program, name: str, text: str, *options: str) -> str:
    linebounce.file(name, text)
    result = linebounce("import", name, *options)
    assert result.code == 0, result.stderr
    return result.stdout


def accesses(path: Path) -> list[tuple[str, list[tuple[str, int]]]]:
    """Returns each stream's name and its operations with their arguments."""
    with Trace(path) as trace:
        return [
            (stream.name, [(operation.kind.name.lower(), operation.argument) for operation in trace.operations(number)])
            for number, stream in enumerate(trace.symbols.streams)
        ]
