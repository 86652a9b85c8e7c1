"""Student's t distribution. scipy has it too, but takes a second to load."""

import math
from functools import cache


def student_t_95(degrees_of_freedom: int) -> float:
    """The two-sided 95 % quantile. REQUIRES: degrees_of_freedom >= 1."""
    return student_t(degrees_of_freedom, 0.95)


@cache
def student_t(degrees_of_freedom: int, confidence: float) -> float:
    """The two-sided quantile. REQUIRES: degrees_of_freedom >= 1, 0 < confidence < 1."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # enough halvings to reach neighbouring floating-point numbers
        middle = (low + high) / 2
        low, high = (middle, high) if _share_within(middle, degrees_of_freedom) < confidence else (low, middle)
    return math.sqrt(degrees_of_freedom) * math.tan(high)


def _share_within(angle: float, degrees_of_freedom: int) -> float:
    """The probability of a value between -t and t, for t = sqrt(degrees_of_freedom) * tan(angle): Abramowitz and
    Stegun, 26.7.3 and 26.7.4."""
    odd = degrees_of_freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1 + odd, degrees_of_freedom, 2):
        total += term
        term *= math.cos(angle) ** 2 * k / (k + 1)
    share = math.sin(angle) * total
    return 2 / math.pi * (angle + share) if odd else share
