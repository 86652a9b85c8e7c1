"""Linebounce's results and traces, read without its C++ part."""

from linebounce.errors import InputError, UsageError
from linebounce.records import At, FailedPoint, Manifest, Metric, OrderRow, PaperRow, Point, ShapeRow, ValueRow
from linebounce.results import Results, open  # noqa: A004

__all__ = [
    "At",
    "FailedPoint",
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
