"""Splits one run into parts, one for each value of a swept path, which are then compared like runs: `--by
workload.lock`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from linebounce.compare.changes import place_of
from linebounce.errors import UsageError
from linebounce.records import At, Setting, shown_setting
from linebounce.results import Results


def parts_by(results: Results, wanted: str) -> list[Results]:
    """One part for each value of the path; the sweep's first value is the base. `wanted`: a swept path, or its last
    word.

    Raises UsageError if the path is not swept, or has only one value.
    """
    path = results.swept_path(wanted)
    values = results.swept()[path]
    if len(values) == 1:
        raise UsageError(f"{results.directory}: {path} has one value only, {shown_setting(values[0])}")
    dropped = _together_with(results, path)
    return [_part(results, path, value, dropped) for value in values]


def _together_with(results: Results, path: str) -> set[str]:
    """The path, and all paths whose value follows from this one's."""
    together = {path}
    for other, values in results.swept().items():
        pairs = {(point.at[path], point.at[other]) for point in results.points}
        if len(values) > 1 and len(pairs) == len({value for value, _ in pairs}):
            together.add(other)
    return together


def _part(results: Results, path: str, value: Setting, dropped: set[str]) -> Results:
    """The part of a run with this value. Points keep their numbers. The answer keeps its metric but loses its
    sentences."""
    points = [point for point in results.points if point.at[path] == value]
    settings = {name: points[0].at[name] for name in dropped}
    part = results.with_points([replace(point, at=_without(point.at, dropped)) for point in points])
    part.config = _with(results.config, settings)
    part.part = shown_setting(value)
    part.name = f"{results.name} {part.part}"
    place = place_of(_without(results.answered_point.at, dropped))
    answered = next((point.number for point in part.points if place_of(point.at) == place), part.points[-1].number)
    part.answer = replace(results.answer, point=answered, text="", why="", compared="", runner_up=None, featured=())
    return part


def _without(at: At, dropped: set[str]) -> At:
    return {path: value for path, value in at.items() if path not in dropped}


def _with(config: Mapping[str, Any], settings: Mapping[str, Setting]) -> Mapping[str, Any]:
    """The configuration with these settings applied."""
    changed = dict(config)
    for path, value in settings.items():
        first, _, rest = path.partition(".")
        changed[first] = _with(changed.get(first, {}), {rest: value}) if rest else value
    return changed
