"""Writes the first sentences of a comparison: which settings differ, and which run does better at the point that the
base run's answer is about."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from linebounce.compare.changes import Change, Comparison, PointChanges, place_of
from linebounce.compare.rows import run_names
from linebounce.quantity import quantity, shown_unit
from linebounce.records import Setting, shown_setting
from linebounce.results import Results

_MOST_DIFFERENCES = 8
CPUS = "machine.cpus"
MACHINE = "machine"
# Keys of config.toml that describe the run or its figures without changing results.
_NO_SETTINGS = (
    "name",
    "title",
    "paper",
    "table",
    "report",
    "question",
    "sweep",
    "overridden",
    "family",
    "seed",
    "machine.sources",
)


def differences(base: Results, other: Results) -> list[str]:
    """The settings that differ, such as `machine.memory.latency_ns 120 -> 200`. Settings that only one run has come
    last. Paths that one of the runs sweeps are none: the points say where they lie."""
    swept = {path for run in (base, other) for path, values in run.swept().items() if len(values) > 1 or path == MACHINE}
    before, after = _settings(base, swept), _settings(other, swept)
    paths = sorted(before.keys() | after.keys(), key=lambda path: (path not in before or path not in after, path))
    different = [path for path in paths if before.get(path) != after.get(path)]
    found = [f"{path} {_text(before.get(path))} -> {_text(after.get(path))}" for path in different[:_MOST_DIFFERENCES]]
    if len(different) > _MOST_DIFFERENCES:
        found.append(f"{len(different) - _MOST_DIFFERENCES} more settings")
    return found


def _settings(results: Results, swept: Collection[str]) -> dict[str, Setting]:
    """A run's settings without those that are swept. A run of one point includes the point's own settings."""
    settings = dict(_leaves(results.config, ""))
    settings |= dict(results.points[0].at) if len(results.points) == 1 else {}
    return {path: value for path, value in settings.items() if not _is_swept(path, swept)}


def _is_swept(path: str, swept: Collection[str]) -> bool:
    """Whether a swept path gives this setting its value. A swept machine gives all of its settings theirs."""
    return path in swept or (MACHINE in swept and path.startswith("machine."))


def _leaves(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Setting]]:
    for key, value in table.items():
        path = prefix + key
        if path in _NO_SETTINGS:
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}.")
        elif isinstance(value, str | int | float | bool):
            yield path, value


def _text(value: Setting | None) -> str:
    return "(not set)" if value is None else shown_setting(value)


def pair_answers(comparisons: Sequence[Comparison]) -> list[str]:
    """One sentence for each other run: whether it does better than the base, by the base's metric, at the judged point."""
    first, *names = run_names(comparisons)
    return [_pair_answer(comparison, first, name) for comparison, name in zip(comparisons, names, strict=True)]


def _pair_answer(comparison: Comparison, first: str, name: str) -> str:
    base, other = comparison.base, comparison.other
    point = judged_point(comparison)
    if point is None:
        return ""
    change = next(change for change in point.changes if change.metric == base.answer.metric)
    place = "" if len(base.points) == 1 else f"{_place(base, point)}: "
    label = next((headline.label for headline in base.headlines if headline.metric == change.metric), change.metric)
    better = next((headline.better for headline in base.headlines if headline.metric == change.metric), "neither")
    rate = change.unit == "1/s"
    of_what = f" {label}/s" if rate else f" {shown_unit(change.unit)}".rstrip()
    within = "with" if base.part else "in"
    in_first, in_other = f"{within} {first}", f"{within} {name}"
    figures = f"{'' if rate else label + ' '}{quantity(change.base)}{of_what} {in_first}, {quantity(change.changed)} {in_other}"
    text = f"{place}{figures}: {_verdict(change, better, name)}."
    return text + _other_winner(base, other, in_first, in_other)


def answers_document(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The answers as a part of --json's document."""
    return {
        "answers": [
            {
                "run": comparison.other.name,
                "differences": differences(comparison.base, comparison.other),
                "text": text,
            }
            for comparison, text in zip(comparisons, pair_answers(comparisons), strict=True)
        ]
    }


def answers_alone(comparisons: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Pairs of a run's name and the run's own answer with its assumptions. Runs without an answer are left out."""
    runs = [comparisons[0].base, *(comparison.other for comparison in comparisons)]
    named = zip(run_names(comparisons), runs, strict=True)
    return [(name, " ".join([run.answer.text, *run.assumptions])) for name, run in named if run.answer.text]


def judged_point(comparison: Comparison) -> PointChanges | None:
    """The point that the comparison's answer is about: the point of the base's answer if both runs have it, otherwise
    the point at which the answer's metric changed most. None if no point has that metric in both runs."""
    metric = comparison.base.answer.metric
    sizes = [(change.size, point) for point in comparison.points for change in point.changes if change.metric == metric]
    answered = place_of(comparison.base.answered_point.at)
    there = [point for _, point in sizes if place_of(point.at) == answered]
    return there[0] if there else max(sizes, key=lambda size: size[0])[1] if sizes else None


def _place(base: Results, point: PointChanges) -> str:
    """Describes the point: `mcs, 8 CPUs, latency_ns = 120`."""
    words = []
    for path, value in point.at.items():
        if path == CPUS:
            words.append(f"{value} CPU{'' if value == 1 else 's'}")
        elif path == base.answer.compared and isinstance(value, str):
            words.append(shown_setting(value))
        else:
            words.append(f"{path.rpartition('.')[2]} = {shown_setting(value)}")
    return ", ".join(words)


def _verdict(change: Change, better: str, name: str) -> str:
    if change.difference == 0:
        return "no difference"
    if change.significant is False:
        return f"the difference of {change.percent:+.2g} % is within its 95 % interval"
    spread = "" if change.ci95_percent is None else f" ±{change.ci95_percent:.2g}"
    size = f"{change.percent:+.3g}{spread} %"
    if change.significant is None:
        return f"{size}, one seed: no interval, so chance is not ruled out"
    if better == "neither":
        return size
    gain = (change.difference > 0) == (better == "higher")
    return f"{name} is {'better' if gain else 'worse'}, {size}"


def _other_winner(base: Results, other: Results, in_first: str, in_other: str) -> str:
    """A sentence that names the winner in each run if the winners differ; otherwise empty."""
    path = base.answer.compared
    winners = [results.answered_point.at.get(path) for results in (base, other) if results.answer.runner_up is not None]
    if not path or path != other.answer.compared or len(winners) < 2 or winners[0] == winners[1]:
        return ""
    return f" {in_first[0].upper()}{in_first[1:]} {_text(winners[0])} leads, {in_other} {_text(winners[1])}."
