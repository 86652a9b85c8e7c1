"""What a change may cost, and on which machines that is measured: read from linebounce.toml, overridden by options."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linebounce.errors import UsageError, malformed, meant
from linebounce.files import read_config

# Rules, each with a sentence about what it finds, in the order of reports.
RULES = {
    "false-sharing": "A line is falsely shared: threads use different bytes of it, and at least one of them writes",
    "contended-word": "Several threads write one word",
    "slower-lock": "Taking and releasing a lock takes longer",
    "communication": "Threads wait for data that one thread writes",
    "crosses-line": "A field crosses a line's end, or a structure takes more lines",
    "all-sharing": "Sharing as a whole costs more, wherever it is",
}
# In percent of the base's thread time. Smaller changes are not worth a reviewer's time, and most of them come from chance in
# how threads interleave.
DEFAULT_PCT = 2.0
RANGES = {"times": (1, 1000), "orders": (2, 100), "cpus": (1, 1024)}
_KEYS = {"machines": list, "cpus": list, "times": int, "orders": int, "arguments": str, "budget": dict, "allow": list}


@dataclass
class Allowance:
    """A budget for one name under one rule: a known cost, with its reason."""

    rule: str
    name: str
    pct: float
    why: str = ""


@dataclass
class Budget:
    """The gate's settings. Percentages are of the base's thread time."""

    machines: list[str] = field(default_factory=list)  # empty: those that advise takes for the recordings' threads
    cpus: list[int] = field(default_factory=list)  # numbers of CPUs to measure with; empty: all CPUs of each machine
    times: int = 3  # recordings of a program
    orders: int = 5  # replays of a recording
    arguments: str = ""  # command-line arguments of a program that the gate records
    pct: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RULES, DEFAULT_PCT))
    allowed: list[Allowance] = field(default_factory=list)

    def of(self, rule: str, name: str) -> float:
        """The budget for this name under this rule."""
        own = [each.pct for each in self.allowed if (each.rule, each.name) == (rule, name)]
        return own[-1] if own else self.pct[rule]


def read_budget(path: Path | None) -> Budget:
    """The budget in this file; without a file, in ./linebounce.toml if that exists, otherwise the defaults. Raises
    UsageError, which names the file, the key and the legal values."""
    place = path or Path("linebounce.toml")
    if path is None and not place.exists():
        return Budget()
    text = ""
    try:
        text = read_config(place).decode()
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{place}: {malformed('TOML', text, error)}") from None
    source = _Source(place, text)
    for key in document:
        if key != "gate":
            raise UsageError(
                f"{source.at(key)}: unknown key; all keys of the gate are below [gate], its budget in [gate.budget]"
            )
    table = document.get("gate", {})
    if not isinstance(table, dict):
        raise UsageError(f"{source.at('gate')} is to be a table, [gate]")
    return _budget_from(source, table)


@dataclass
class _Source:
    path: Path
    text: str

    def at(self, key: str) -> str:
        """The key behind its file and line, as far as that is found: "linebounce.toml:3: gate.times"."""
        lines = self.text.splitlines()
        line = 0
        for part in key.split("."):
            name, _, row = part.partition("[")
            sets = re.compile(rf"(^|[\s.{{,\[\"']){re.escape(name)}[\"']?\s*[=\].]")
            found = [number for number in range(line, len(lines)) if sets.search(lines[number].partition("#")[0])]
            if (number := int(row.rstrip("]") or 0)) >= len(found):
                return f"{self.path}: {key}"  # a key that is spelled with escapes, for example
            line = found[number]
        return f"{self.path}:{line + 1}: {key}"


def _budget_from(source: _Source, table: Mapping[str, Any]) -> Budget:
    for key, value in table.items():
        _require_known(source, f"gate.{key}", key, _KEYS)
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise UsageError(f"{source.at(f'gate.{key}')} is to be {_KEYS[key].__name__}, not {value!r}")
    budget = Budget(**{key: value for key, value in table.items() if key not in ("budget", "allow")})
    for rule, pct in table.get("budget", {}).items():
        _require_known(source, f"gate.budget.{rule}", rule, RULES)
        budget.pct[rule] = _percentage(source, f"gate.budget.{rule}", pct)
    for number, row in enumerate(table.get("allow", ())):
        budget.allowed.append(_allowance_from(source, f"gate.allow[{number}]", row))
    check_numbers(budget, lambda key: source.at(f"gate.{key}"))
    return budget


def _allowance_from(source: _Source, key: str, row: Any) -> Allowance:
    if not isinstance(row, dict) or not {"rule", "name", "pct"} <= row.keys() <= {"rule", "name", "pct", "why"}:
        raise UsageError(f"{source.at(key)} is to have rule, name and pct, and may say why")
    _require_known(source, f"{key}.rule", str(row["rule"]), RULES)
    return Allowance(row["rule"], str(row["name"]), _percentage(source, f"{key}.pct", row["pct"]), str(row.get("why", "")))


def check_numbers(budget: Budget, at: Callable[[str], str]) -> None:
    """Raises UsageError for numbers that can't be used."""
    numbers = [("times", budget.times), ("orders", budget.orders), *(("cpus", count) for count in budget.cpus)]
    for key, value in numbers:
        least, most = RANGES[key]
        if not isinstance(value, int) or not least <= value <= most:
            raise UsageError(f"{at(key)}: {value} is out of range; legal: {least} to {most}")
    if not all(isinstance(machine, str) for machine in budget.machines):
        raise UsageError(f"{at('machines')} is to be a list of names or files, not {budget.machines!r}")


def _require_known(source: _Source, path: str, key: str, known: Mapping[str, Any]) -> None:
    if key not in known:
        raise UsageError(f"{source.at(path)}: unknown key; {meant(key, sorted(known))}")


def _percentage(source: _Source, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1000:
        raise UsageError(f"{source.at(key)} is to be 0 to 1000, in percent of the base's thread time, not {value!r}")
    return float(value)
