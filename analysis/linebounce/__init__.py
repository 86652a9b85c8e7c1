"""Linebounce's results and traces, read without its C++ part."""

from linebounce.errors import InputError, UsageError
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
