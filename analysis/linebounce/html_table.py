"""Makes short HTML tables for notebooks."""

from collections.abc import Sequence
from html import escape

Row = Sequence[str]


def html_table(heads: Row, rows: Sequence[Row], most: int | None = None) -> str:
    """Cells are shown as text. The table has the first `most` rows, and says how many more there are."""
    shown = list(rows[:most])
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in shown)
    more = f"<tr><td colspan='{len(heads)}'>… {len(rows) - len(shown)} more</td></tr>" if len(rows) > len(shown) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"
