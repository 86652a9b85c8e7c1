"""Linebounce's results and traces, read without its C++ part."""

from importlib import import_module
from typing import TYPE_CHECKING

from linebounce.errors import InputError, UsageError

if TYPE_CHECKING:
    from linebounce.records import At, FailedPoint, Headline, Manifest, Metric, OrderRow, PaperRow, Point, ShapeRow, ValueRow
    from linebounce.results import Results, open  # noqa: A004

__all__ = [
    "At",
    "FailedPoint",
    "Headline",
    "InputError",
    "Manifest",
    "Metric",
    "OrderRow",
    "PaperRow",
    "Point",
    "Results",
    "ShapeRow",
    "UsageError",
    "ValueRow",
    "open",
]


def __getattr__(name: str) -> object:
    """Data frames are imported with what needs them: a command says in a line why that fails (entry.py), and starts faster."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "linebounce.results" if name in ("Results", "open") else "linebounce.records"
    found: object = getattr(import_module(module), name)
    globals()[name] = found
    return found
