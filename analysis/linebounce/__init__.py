"""Reads Linebounce's results and traces in pure Python, without the C++ part."""

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
    """Imports polars, and our modules that need it, on first use. Commands start faster, and entry.py can report a
    failed import in one line."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "linebounce.results" if name in ("Results", "open") else "linebounce.records"
    found: object = getattr(import_module(module), name)
    globals()[name] = found
    return found
