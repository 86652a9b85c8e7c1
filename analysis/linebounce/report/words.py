"""The words for metrics and swept paths on axes and in legends."""

import re

from linebounce.report.charts.base import LABELS

_OF_A_LOCK = {
    "con_pct": "acquisitions that wait",
    "util_pct": "time it is held",
    "wait_mean_us": "mean wait",
    "wait_max_us": "longest wait",
    "hold_mean_us": "mean hold time",
    "hold_max_us": "longest hold time",
    "handoff_mean_ns": "mean hand-off",
    "handoff_local_mean_ns": "mean hand-off within a node",
    "handoff_remote_mean_ns": "mean hand-off between nodes",
    "cpu_pct": "CPU time spent waiting",
    "total": "acquisitions",
    "nowait": "acquisitions at once",
    "spin": "acquisitions that wait",
    "rjct": "failed attempts",
}
_OF_ACCESSES = {"mean_ns": "mean latency", "peak_ns": "most frequent latency", "count": "accesses"}
_OF_A_LINK = {"utilisation_pct": "utilisation", "mb_per_s": "traffic"}
_UNITS = {"1/s": "", "us": "µs"}  # a rate's own words say "per second"
# The unit at the end of a metric's name or a path. It is shown in brackets after the words.
_UNIT_AT_THE_END = re.compile(r"_(ns|us|pct|cycles|mhz|kib|mib|bytes)$")
_UNIT_OF_A_PATH = {"us": "µs", "mhz": "MHz", "kib": "KiB", "mib": "MiB", "pct": "%"}
_SPELLED = {
    "cpu": "CPU",
    "cpus": "CPUs",
    "cpi": "cycles per instruction",
    "c2c": "cache to cache",
    "offchip": "off chip",
    "jain": "Jain's index",
}


def metric_words(name: str) -> str:
    """A metric without its unit: "section_lock: mean wait" for `locks.section_lock.wait_mean_us`."""
    *before, last = name.split(".")
    family, *middle = before or [""]
    if family == "throughput" and last.endswith("_per_s"):
        return f"{_plain(last)}, all CPUs"
    if family == "locks" and middle and last in _OF_A_LOCK:
        return f"{' in '.join(middle)}: {_OF_A_LOCK[last]}"
    if family == "latency" and middle and last in _OF_ACCESSES:
        return f"{', '.join(LABELS.get(part) or _plain(part) for part in middle)}: {_OF_ACCESSES[last]}"
    if family == "link" and middle and last in _OF_A_LINK:
        return f"link {middle[0].replace('_', ' to ')}: {_OF_A_LINK[last]}"
    return ", ".join(_plain(part) for part in (*before, _UNIT_AT_THE_END.sub("", last)))


def axis_title(name: str, unit: str) -> str:
    """A metric with its unit in brackets."""
    shown = _UNITS.get(unit, unit)
    return metric_words(name) + (f" ({shown})" if shown else "")


def path_words(path: str) -> str:
    """A configuration path in words, with its unit: "memory latency (ns)" for `machine.memory.latency_ns`."""
    table, _, rest = path.partition(".")
    name = rest or table
    unit = _UNIT_AT_THE_END.search(name)
    words = " ".join(_plain(part) for part in _UNIT_AT_THE_END.sub("", name).split("."))
    return f"{words} ({_UNIT_OF_A_PATH.get(unit[1], unit[1])})" if unit else words


def _plain(part: str) -> str:
    part = re.sub("_per_s$", "_per_second", part)
    return " ".join(_SPELLED.get(word) or re.sub(r"^l(?=\d$)", "L", word) for word in part.split("_") if word)
