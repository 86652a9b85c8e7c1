"""Packs lines.csv for the cache-line explorer: all rows, stored as columns of small integers that index lists of names."""

from typing import Any

import polars as pl

from linebounce.frames import RESOURCES

# Columns of names. Each name is stored once in a list, and rows have its index.
_NAMES = ("structure", "object", "field", "function", "access", "source")
# The columns that identify a line in the explorer's list.
_LINE = ("point", "structure", "object", "line")


def pack(lines: pl.DataFrame) -> dict[str, Any]:
    """Returns `names`; `lines` with the index of each line's first row; and `rows`. Rows of a line are adjacent, and
    ordered by offset."""
    ordered = lines.sort(*_LINE, "offset", "field", maintain_order=True)
    names: dict[str, list[str]] = {}
    for column in _NAMES:
        values = ordered[column].unique().sort()
        names[column] = values.to_list()
        ordered = ordered.with_columns(pl.col(column).replace_strict(values, pl.int_range(len(values), eager=True)))
    numbered = ordered.with_row_index("first")
    starts = numbered.filter(pl.struct(_LINE).rle_id().diff().fill_null(1) > 0)
    waits = [f"queueing_{resource}_ns_mean" for resource in RESOURCES]
    columns = ("offset", "field", "function", "access", "home", "source", "count", "remote_pct", "latency_ns_mean")
    rows = ordered.select(*columns, *waits)
    return {
        "names": names,
        "resources": list(RESOURCES),
        "lines": starts.select(*_LINE, "first").to_dict(as_series=False),
        "rows": rows.to_dict(as_series=False),
    }
