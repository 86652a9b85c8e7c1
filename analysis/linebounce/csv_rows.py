"""Reads the rows of a CSV text."""

import csv
import io
from collections.abc import Iterator


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each row's cells, with the number of the row's last line. A cell may have any length, and may hold newlines if it is
    quoted. Unlike splitlines(), ends no line at unusual characters in names."""
    reader = csv.reader(io.StringIO(text, newline=""))
    while True:
        # The csv module refuses longer cells than this limit, which all readers of the process share.
        before = csv.field_size_limit(max(len(text), 1))
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        yield reader.line_num, row
