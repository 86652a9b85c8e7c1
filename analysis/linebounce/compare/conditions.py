"""What `--fail-on` understands.

    METRIC > +5%      it rose by more than 5 %
    METRIC < -5%      it fell by more than 5 %
    METRIC > +2       it rose by more than 2, in its own unit
    METRIC > 20       it is above 20, whatever it was

A number with a sign is a change, one without is a value; `<` and `>` go with each of them.
"""

import math
import re
from dataclasses import dataclass
from typing import Literal

from linebounce.errors import UsageError

_FORMS = "METRIC > +5% (a change in percent), METRIC > +2 (a change in its unit), METRIC > 20 (a value); < as well as >"
_CONDITION = re.compile(
    r"\s*(?P<metric>[^\s<>=]+)\s*(?P<relation>[<>])\s*(?P<sign>[+-]?)(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<percent>%?)\s*"
)


@dataclass(frozen=True)
class Condition:
    """A condition that makes the comparison fail."""

    text: str
    metric: str
    relation: Literal["<", ">"]
    of: Literal["percent", "difference", "value"]
    limit: float

    def holds(self, base: float, changed: float) -> bool:
        """Whether the change from `base` to `changed` meets the condition. A rise from 0 exceeds every percentage."""
        found = {"percent": change_pct(base, changed), "difference": changed - base, "value": changed}[self.of]
        return found > self.limit if self.relation == ">" else found < self.limit


def change_pct(base: float, changed: float) -> float:
    """The change in percent of the base; infinite if the base is 0 and the value has changed."""
    if base == changed:
        return 0.0
    return 100 * (changed - base) / abs(base) if base else math.copysign(math.inf, changed)


def parse_condition(text: str) -> Condition:
    """Raises UsageError, which names the legal forms."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(f"--fail-on {text}: not a condition; legal: {_FORMS}")
    if found["percent"] and not found["sign"]:
        raise UsageError(
            f"--fail-on {text}: a percentage is a change and needs its sign, +{found['number']}% or -{found['number']}%; "
            f"without % it is a value, for metrics in % too"
        )
    limit = float(found["sign"] + found["number"])
    of: Literal["percent", "difference", "value"] = "value"
    if found["sign"]:
        of = "percent" if found["percent"] else "difference"
    relation: Literal["<", ">"] = ">" if found["relation"] == ">" else "<"
    return Condition(text.strip(), found["metric"], relation, of, limit)
