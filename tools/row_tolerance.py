"""Checks the tolerance of every shipped [[paper]] row against the rule in configs/experiments/README.md.

The tolerance of a figure is a tenth of the figure, or half a unit of its last printed digit if that is more. A figure
that is counted one by one must be met exactly (half a unit). A published difference of 0 has a tenth of the largest
figure published of the metric. A row that a parameter was fitted to may have a narrower tolerance, which guards the
fit.
"""

import math
import re
from collections.abc import Iterator

from row_history import allowance
from rows import RowFiles, Table, kind_of, rows_of
from source_tree import Finding

TENTH = 0.1
ID_AND_BODY = re.compile(r'^id\s*=\s*"([^"]+)"(.*?)(?=^\[|\Z)', re.MULTILINE | re.DOTALL)
VALUE = re.compile(r"^value\s*=\s*([-+0-9._]+)", re.MULTILINE)


def printed_values(text: str) -> dict[str, str]:
    """Maps the id of each row with a value to the value's digits as they are in the file."""
    found = ((row[1], VALUE.search(row[2])) for row in ID_AND_BODY.finditer(text))
    return {row_id: value[1].replace("_", "") for row_id, value in found if value}


def half_a_unit(digits: str) -> float:
    """Half a unit of the last digit that is printed. In a whole number, that is the digit of ones, even if it is 0."""
    return 0.5 * 10.0 ** -len(digits.partition(".")[2])


def tolerance_of(digits: str) -> float:
    """The tolerance as a fraction of the figure, rounded up to whole percent."""
    return max(TENTH, math.ceil(100 * half_a_unit(digits) / abs(float(digits)) - 1e-9) / 100)


def ruled(row: Table, digits: str, of_its_metric: list[float]) -> Table:
    """The tolerance that the rule gives a row."""
    is_counted = row.get("tolerance_abs") == half_a_unit(digits) and "." not in digits
    if is_counted:
        return {"tolerance_abs": row["tolerance_abs"]}
    if float(digits) == 0:
        return {"tolerance_abs": float(f"{max(map(abs, of_its_metric)) * TENTH:.6g}")}
    return {"tolerance": tolerance_of(digits)}


def tolerance_findings(files: RowFiles) -> Iterator[Finding]:
    for file, experiment in files.experiments.items():
        rows = rows_of(experiment)
        printed = printed_values(files.sources.text(file))
        for row_id, digits in printed.items():
            row = rows[row_id]
            given = {key: float(row[key]) for key in ("tolerance", "tolerance_abs") if key in row}
            others = [
                other["value"] for other in rows.values() if "value" in other and other.get("metric") == row.get("metric")
            ]
            rule = ruled(row, digits, others)
            guards_a_fit = (
                kind_of(row) == "calibrated" and given and allowance(row) <= allowance({"value": row["value"], **rule})
            )
            if given != rule and not guards_a_fit and not (kind_of(row) == "input" and not given):
                said = ", ".join(f"{key} = {value:g}" for key, value in rule.items())
                yield files.finding_of_row(file, row_id, f"{row_id}: its tolerance is off the rule, which gives {said}")
