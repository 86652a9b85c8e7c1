"""Finds which parameters move a metric, and by how much.

Runs the experiment with its own parameters, and with each parameter slightly lower and slightly higher. All of this is
one sweep, whose lists advance together. It is a file in the results directory, which `linebounce run` accepts as well.
The elasticity of a metric is its relative change from the lower to the higher value, divided by the parameter's
relative change: 1 means proportional, 0 means independent.
"""

import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

import linebounce
from linebounce.compare.changes import interval95
from linebounce.console import output
from linebounce.errors import UsageError, alternatives, not_known
from linebounce.files import write_file
from linebounce.own_folder import make_own_folder
from linebounce.program import Experiment
from linebounce.records import Point
from linebounce.sweep.points import status_of

Number = int | float

# The keys that `--vary` changes when it gets a table: times and clocks. A slightly larger size or way count would make the
# machine invalid.
_TIMED = re.compile(r"(^|_)(ns|us|cycles|clocks|mhz)$")
_PERCENT = re.compile(r"(?P<path>[^=\s]+)=(?P<percent>\d+(\.\d*)?)%")
_PIPE_COLUMNS = 160


@dataclass(frozen=True)
class Variation:
    """A parameter with its own, its lower and its higher value."""

    path: str
    base: Number
    lower: Number
    higher: Number


@dataclass(frozen=True)
class Effect:
    """The effect of a parameter on the metric at one point."""

    variation: Variation
    lower: float  # the metric's mean at the lower value
    higher: float
    elasticity: float
    ci95: float | None  # half the width of the change's 95 % interval, with values paired by seed; None with one seed

    @property
    def none(self) -> bool:
        """Whether every seed gives the same metric at the lower and the higher value."""
        return self.elasticity == 0 and not self.ci95


def prepare(
    experiment: Experiment, vary: Sequence[str], directory: Callable[[str], Path]
) -> tuple[Experiment, Path, list[Variation]]:
    """The sweep over all variations, written as an experiment into its results directory. `directory`: returns the
    results directory for an experiment's name."""
    text = experiment.resolved()
    base = tomllib.loads(text)
    variations = [variation for option in vary for variation in variations_of(option, base)]
    paths = [variation.path for variation in variations]
    repeated = next((path for path in paths if paths.count(path) > 1), None)
    if repeated:
        raise UsageError(f"--vary: {repeated} is varied twice")
    name = f"{base['name']}_sensitivity"
    place = directory(name)
    file = place / "sensitivity.toml"
    make_own_folder(place)
    write_file(place / "base.toml", text.encode())
    write_file(file, _experiment_text(name, base, variations).encode())
    return replace(experiment, source=str(file), overrides=()), place, variations


def variations_of(option: str, base: Mapping[str, Any]) -> list[Variation]:
    """The variations that `--vary PATH=N%` asks for. Raises UsageError, which suggests similar paths, or says why a
    path can't be varied."""
    found = _PERCENT.fullmatch(option)
    if found is None or not 0 < float(found["percent"]) < 100:
        raise UsageError(f"--vary {option}: must be PATH=N%, such as machine.memory.latency_ns=20%, N above 0 and below 100")
    path, share = found["path"], float(found["percent"]) / 100
    settings = dict(_settings(base, ""))
    numbers = {name: value for name, value in settings.items() if _is_number(value)}
    below = [name for name in numbers if name.startswith(f"{path}.") and _TIMED.search(name)]
    chosen = [name for name in ([path] if path in numbers else below) if numbers[name] > 0]
    swept = {name for axis in base.get("sweep", {}).get("together", ()) for name in axis}
    if not chosen or swept & {*chosen}:
        raise UsageError(f"--vary {option}: {_why_not(path, settings, swept)}")
    return [_variation(name, numbers[name], share) for name in chosen]


def _why_not(path: str, settings: Mapping[str, Any], swept: Set[str]) -> str:
    if path in swept:
        return f"the experiment sweeps {path} already; --set {path}=VALUE gives it one value, which can be varied"
    if path not in settings:
        inside = [name for name in settings if name.startswith(f"{path}.")]
        if inside:
            taken = sorted(swept & {*inside})
            reason = f"the experiment sweeps its {taken[0]}" if taken else "it has no time and no clock other than 0"
            return f"{path} cannot be varied as a whole: {reason}; name one number, such as {inside[0]}"
        near = difflib.get_close_matches(path, [name for name, value in settings.items() if _is_number(value)], n=3)
        return f"this experiment has no {path}" + (f"; did you mean {alternatives(near)}?" if near else "")
    value = settings[path]
    if _is_number(value):
        why = "and stays so whatever the percentage" if value == 0 else "which turns it off"
        return f"{path} is {value:g}, {why}; compare values of it by a [sweep]"
    return (
        f"{path} is {json.dumps(value, ensure_ascii=False)}, and only a number can be varied; compare values of it by a [sweep]"
    )


def _variation(path: str, base: Number, share: float) -> Variation:
    """The lower and the higher value. Integers stay integers and change by at least 1. A percentage stays between 0 and
    100."""
    most = 100 if path.endswith("_pct") and base <= 100 else math.inf
    if isinstance(base, int) and not path.endswith(("_ns", "_us", "_mhz")):
        step = max(1, round(base * share))
        return Variation(path, base, base - step, min(base + step, most))
    return Variation(path, base, float(f"{base * (1 - share):.9g}"), min(float(f"{base * (1 + share):.9g}"), most))


def _settings(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """All values below a table, with their paths."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _experiment_text(name: str, base: Mapping[str, Any], variations: Sequence[Variation]) -> str:
    """The sweep's axes: the base's own and, for each parameter, a list of values. At each of the base's points, the
    lists hold the base itself, then the lower and the higher value of each parameter."""
    axes = [*base.get("sweep", {}).get("together", ())]
    steps = {}
    for index, variation in enumerate(variations):
        values = [variation.base] * (1 + 2 * len(variations))
        values[1 + 2 * index : 3 + 2 * index] = [variation.lower, variation.higher]
        steps[variation.path] = values
    lines = [f'name = "{name}"', f"title = {json.dumps('Sensitivity of ' + str(base['name']))}", 'extends = "base.toml"']
    for axis in [*axes, steps]:
        lines += ["", "[[sweep.together]]"]
        lines += [f"{json.dumps(path)} = {json.dumps(values, ensure_ascii=False)}" for path, values in axis.items()]
    return "\n".join(lines) + "\n"


def base_points(points: int, variations: int) -> range:
    """The numbers of the points at which no parameter is varied."""
    return range(0, points, 1 + 2 * variations)


def know_metric(metric: str, base: Sequence[Path]) -> bool:
    """Whether all base points have ended, given their directories. Raises UsageError if they have and none has the
    metric."""
    status = {directory: status_of(directory) for directory in base}
    if not set(status.values()) <= {"complete", "failed"}:
        return False
    complete = [linebounce.open(directory) for directory in base if status[directory] == "complete"]
    known = {name for results in complete for point in results.points for name in point.metrics}
    if known and metric not in known:
        raise UsageError(f"--metric: {not_known(metric, sorted(known))}")
    return True


class Study:
    """Measures one metric in a finished sweep over variations. Raises UsageError if no point has the metric."""

    def __init__(self, output: Path, metric: str, variations: Sequence[Variation]) -> None:
        self.results = linebounce.open(output)
        self.metric = metric
        self.variations = variations
        self.results.require_metric(metric)

    def show(self) -> None:
        """Prints a table for each point of the experiment's own sweep."""
        console = output(_PIPE_COLUMNS)
        stride = 1 + 2 * len(self.variations)
        for first in range(0, len(self.results.points), stride):
            console.print(*self._tables(self.results.points[first : first + stride]), sep="\n")
        console.print(Text(f"Results: {self.results.directory}/"))

    def effects(self, points: Sequence[Point]) -> list[Effect]:
        """The effects at one point of the experiment's own sweep, the largest first. `points`: that point, then its
        variations. Leaves out variations that lack the metric."""
        found = [
            self._effect(variation, points[0], points[1 + 2 * index], points[2 + 2 * index])
            for index, variation in enumerate(self.variations)
        ]
        return sorted((effect for effect in found if effect), key=lambda effect: -abs(effect.elasticity))

    def _tables(self, points: Sequence[Point]) -> list[Text | Table]:
        varied = {variation.path for variation in self.variations}
        at = {path: value for path, value in points[0].at.items() if path not in varied}
        place = f" at {Point(0, at, {}).title}" if at else ""
        base = points[0].metrics.get(self.metric, "not measured")
        effects = self.effects(points)
        moving = [effect for effect in effects if not effect.none]
        shown: list[Text | Table] = [Text.assemble((self.metric, "bold"), f"{place}: {base}")]
        if moving:
            shown.append(_table(moving))
        still = [effect.variation.path for effect in effects if effect.none]
        if still:
            shown.append(Text(f"without any effect: {', '.join(still)}", style="dim"))
        missing = varied - {effect.variation.path for effect in effects}
        if missing:
            shown.append(Text(f"failed, or without this metric: {', '.join(sorted(missing))}", style="dim"))
        return [*shown, Text("")]

    def _effect(self, variation: Variation, *points: Point) -> Effect | None:
        """`points`: those with the base's, the lower and the higher value. None if one of them lacks the metric, or if
        the base's is 0."""
        base, low, high = (point.metrics.get(self.metric) for point in points)
        if not (base and low and high) or base.value == 0:
            return None
        lower, higher = self._by_seed(points[1]), self._by_seed(points[2])
        scale = (variation.higher - variation.lower) / variation.base * float(base.value)
        interval = interval95([higher[seed] - lower[seed] for seed in lower if seed in higher])
        elasticity = (high.value - low.value) / scale
        ci95 = None if interval is None else abs(interval / scale)
        return Effect(variation, float(low.value), float(high.value), elasticity, ci95)

    def _by_seed(self, point: Point) -> dict[int, float]:
        seeds = self.results.seeds
        chosen = seeds.filter((seeds["point"] == point.number) & (seeds["metric"] == self.metric))
        return dict(zip(chosen["seed"].to_list(), chosen["value"].to_list(), strict=True))


def _table(effects: Sequence[Effect]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("parameter", overflow="fold")
    for heading in ("lower", "base", "higher", "metric, lower", "metric, higher", "elasticity"):
        table.add_column(heading, justify="right", no_wrap=True)
    for effect in effects:
        variation = effect.variation
        chance = effect.ci95 is not None and abs(effect.elasticity) <= effect.ci95
        spread = "" if effect.ci95 is None else f" ± {effect.ci95:.3f}{'  ' if chance else ' *'}"
        numbers = [variation.lower, variation.base, variation.higher, effect.lower, effect.higher]
        cells = [variation.path, *(f"{number:.6g}" for number in numbers), f"{effect.elasticity:+.3f}{spread}"]
        table.add_row(*map(Text, cells), style="dim" if chance else "")
    return table
