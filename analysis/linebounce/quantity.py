"""Formats figures for readers: three digits, and a unit that fits them.

sim/answer/quantity.cpp has the same rules; tests/analysis/quantities.csv tests both.
"""

_TIMES = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))
_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_PREFIXES = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"))
_LARGEST_PLAIN = 1e4
_SMALLEST = 0.01  # two decimals would show a smaller value as 0.00
_LARGEST = 1e9


def quantity(value: float, unit: str = "") -> str:
    """Such as `2.73 M/s`, `11.1 µs`, `97.7 %`, `45.0`."""
    if unit in _NANOSECONDS:
        factor, shown = _step(value * _NANOSECONDS[unit], _TIMES)
        return f"{_digits(value * _NANOSECONDS[unit] / factor)} {shown}"
    shown = "/s" if unit == "1/s" else shown_unit(unit)
    if unit == "%" or abs(value) < _LARGEST_PLAIN:
        return f"{_digits(value)} {shown}".rstrip()
    factor, prefix = _step(value, _PREFIXES)
    between = "" if unit == "1/s" else " "
    return f"{_digits(value / factor)} {prefix}{between}{shown}".rstrip()


def shown_unit(unit: str) -> str:
    """`µs` for `us`."""
    return f"{unit[:-2]}µs" if unit == "us" or unit.endswith("/us") else unit


def _step(size: float, steps: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """The largest unit that leaves at least one digit before the decimal point."""
    return [step for step in steps if abs(size) >= 0.9995 * step[0]][-1] if abs(size) >= 0.9995 else steps[0]


def _digits(value: float) -> str:
    size = abs(value)
    if 0 < size < _SMALLEST:
        return f"{value:.2g}"
    if size >= _LARGEST:
        return f"{value:.3g}"
    decimals = 0 if size == 0 or size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{value:.{decimals}f}"
