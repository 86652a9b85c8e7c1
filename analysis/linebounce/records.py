"""The contents of results.json and manifest.json as types. docs/*.schema.json describe the files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from pathlib import Path
from textwrap import shorten
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from linebounce.errors import UsageError, meant
from linebounce.html_table import html_table

Number = int | float
Setting = str | int | float | bool
# A point's settings: configuration paths and their values.
At = Mapping[str, Setting]
Kind = Literal["calibrated", "in_sight", "predicted", "input"]
Better = Literal["higher", "lower", "neither"]
ChangeSign = Literal["gain", "loss", "none"]

Record = TypeVar("Record")

_SHOWN_METRICS = 30


@dataclass(frozen=True)
class Metric:
    """A measured number. With several seeds, `value` is their mean and `ci95` half the width of its 95 % interval."""

    value: Number
    unit: str
    ci95: float | None = None

    def __str__(self) -> str:
        spread = "" if self.ci95 is None else f" ± {self.ci95:g}"
        return f"{self.value:g}{spread} {self.unit}".rstrip()


@dataclass(frozen=True)
class Point:
    """A point of the plan. A failed point has no metrics. `warnings` say why its figures are less reliable than they
    look."""

    number: int
    at: At
    metrics: Mapping[str, Metric]
    warnings: tuple[str, ...] = ()

    def __getitem__(self, metric: str) -> Metric:
        """Raises UsageError, with similar names, for an unknown metric."""
        if metric not in self.metrics:
            raise UsageError(f"point {self.number} has no metric {metric}; {meant(metric, sorted(self.metrics))}")
        return self.metrics[metric]

    def _repr_html_(self) -> str:
        """Its settings, and its metrics with units."""
        rows = [(name, str(metric)) for name, metric in self.metrics.items()]
        title = f"point {self.number}" + (f": {self.title}" if self.title else "") + ("" if rows else ", failed")
        return f"<div><strong>{escape(title)}</strong>{html_table(('metric', 'value'), rows, _SHOWN_METRICS)}</div>"

    @property
    def title(self) -> str:
        """The point's settings in one line, such as `workload.lock = mcs, machine.cpus = 4`; empty without a sweep."""
        return ", ".join(f"{path} = {shown_setting(value)}" for path, value in self.at.items())


@dataclass(frozen=True)
class Headline:
    """A metric to show first. `label` is its column title, such as `wait` for `locks.section_lock.wait_mean_us`."""

    metric: str
    label: str
    better: Better


@dataclass(frozen=True)
class Answer:
    """The run's answer, as decided by the program that ran it. `point` is the point that the text is about."""

    question: str
    text: str
    why: str
    metric: str
    # The swept path whose values the answer compares (`over`: the path along which it compares them); empty if none.
    compared: str
    over: str
    point: int | None
    runner_up: int | None
    featured: tuple[Setting, ...]  # the values of `compared` that the page shows if there are too many for all
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PaperRow:
    """A published figure beside the simulated one. `ok` is None if the row is not scored."""

    id: str
    at: At
    kind: Kind
    ok: bool | None
    unit: str
    tolerance: float | None
    tolerance_abs: float | None
    why_off: str | None = field(default=None, kw_only=True)

    @property
    def kind_text(self) -> str:
        """The kind in words, such as `in sight`."""
        return self.kind.replace("_", " ")


@dataclass(frozen=True)
class ValueRow(PaperRow):
    """A row about one number. With `relative_to`, it is a ratio minus 1 (with `difference`, a difference) to another
    point; with `of`, a share of that metric.

    For some changes a paper gives only a sign; then `paper` is None.
    """

    metric: str
    of: str | None
    paper: Number | None
    simulated: Number | None
    ratio: float | None
    relative_to: At | None
    difference: bool
    sign: ChangeSign | None = None
    simulated_change: float | None = None
    ci95: float | None = None
    simulated_sign: ChangeSign | None = None


@dataclass(frozen=True)
class ShapeRow(PaperRow):
    """A row about how a metric changes along a swept path. `simulated` has its values in sweep order."""

    metric: str
    shape: Literal["increasing", "decreasing", "flat"]
    over: str
    simulated: tuple[Number | None, ...]


@dataclass(frozen=True)
class OrderRow(PaperRow):
    """A row about metrics of one point that must rise in this order."""

    order: tuple[str, ...]
    simulated: tuple[Number | None, ...]


@dataclass(frozen=True)
class FailedPoint:
    point: int
    exit_code: int
    reason: str


@dataclass(frozen=True)
class Manifest:
    """How the results were made: the only part that differs between two runs of the same configuration."""

    status: Literal["complete", "interrupted", "failed"]
    version: str
    commit: str
    compiler: str
    systemc: str
    argv: tuple[str, ...]
    seed: int
    seeds: int
    hash: str
    points: int
    points_done: int
    failed_points: tuple[FailedPoint, ...]
    host: str
    started: str
    wall_s: float
    simulation_s: float
    references: int
    references_per_s: float
    peak_memory_kib: int


def setting_text(value: Setting) -> str:
    """A configuration value in TOML's form, but strings have no quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def shown_setting(value: Setting) -> str:
    """Like setting_text(), but for a label: shortens a file's path to its name, such as `my_lock`."""
    text = setting_text(value)
    return Path(text).stem if text.endswith(".lua") or "/" in text else text


# Below: conversion of documents from json.loads() to these types. A missing key raises KeyError and a value of another type
# TypeError, which the reader turns into a message.


def fits(value: object, wanted: Any) -> bool:
    """Whether a value has a field's type. A number must be finite, and not a bool."""
    kind, inner = get_origin(wanted), get_args(wanted)
    if kind in (UnionType, Union):  # a union: one of several types, or None
        return any(fits(value, each) for each in inner)
    if kind is Literal:
        return isinstance(value, str) and value in inner
    if kind is tuple:
        return isinstance(value, tuple) and all(fits(each, inner[0]) for each in value)
    if kind is Mapping:
        return isinstance(value, Mapping) and all(fits(each, inner[1]) for each in value.values())
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)


def check(name: str, value: object, wanted: Any) -> None:
    """Raises TypeError, which names the actual and the expected type."""
    if not fits(value, wanted):
        words = getattr(wanted, "__name__", str(wanted)).replace("typing.", "").replace("collections.abc.", "")
        raise TypeError(f"{name} is {shorten(repr(value), 60)}; expected {words if not get_args(wanted) else wanted}")


def _checked(record: Record) -> Record:
    for name, wanted in get_type_hints(type(record)).items():
        check(name, getattr(record, name), wanted)
    return record


def point_from(number: int, document: Mapping[str, Any]) -> Point:
    check("at", document["at"], At)
    metrics = {name: _metric_from(name, entry) for name, entry in document["metrics"].items()}
    warnings = tuple(document.get("warnings", ()))
    check("warnings", warnings, tuple[str, ...])
    return Point(number, document["at"], metrics, warnings)


def _metric_from(name: str, entry: Mapping[str, Any]) -> Metric:
    metric = Metric(entry["value"], entry["unit"], entry.get("ci95"))
    for part in (metric.value, 0.0 if metric.ci95 is None else metric.ci95):
        if type(part) not in (int, float) or not isfinite(part):
            check(name, part, float)
    if type(metric.unit) is not str:
        check(f"unit of {name}", metric.unit, str)
    return metric


def headline_from(document: Mapping[str, Any]) -> Headline:
    return _checked(Headline(document["metric"], document["label"], document["better"]))


def answer_from(document: Mapping[str, Any]) -> Answer:
    lists = {key: tuple(document[key]) for key in ("featured", "warnings")}
    return _checked(Answer(**{field: document[field] for field in Answer.__dataclass_fields__} | lists))


def paper_row_from(document: Mapping[str, Any]) -> PaperRow:
    common = {key: document[key] for key in ("id", "at", "kind", "ok", "unit")}
    common |= {key: document.get(key) for key in ("tolerance", "tolerance_abs", "why_off")}
    if "order" in document:
        return _checked(OrderRow(**common, order=tuple(document["order"]), simulated=tuple(document["simulated"])))
    if "shape" in document:
        shape = {key: document[key] for key in ("metric", "shape", "over")}
        return _checked(ShapeRow(**common, **shape, simulated=tuple(document["simulated"])))
    value = {key: document[key] for key in ("metric", "paper", "simulated", "ratio")}
    relative = {
        "of": document.get("of"),
        "relative_to": document.get("relative_to"),
        "difference": document.get("difference", False),
        **{key: document.get(key) for key in ("sign", "simulated_change", "ci95", "simulated_sign")},
    }
    return _checked(ValueRow(**common, **value, **relative))


def manifest_from(document: Mapping[str, Any]) -> Manifest:
    failed = tuple(_checked(FailedPoint(**point)) for point in document["failed_points"])
    plain = {name: document[name] for name in Manifest.__dataclass_fields__ if name not in ("argv", "failed_points")}
    return _checked(Manifest(argv=tuple(document["argv"]), failed_points=failed, **plain))
