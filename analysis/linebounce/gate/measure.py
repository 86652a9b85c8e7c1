"""Measures what sharing costs in a program's recordings. Each recording is replayed on each machine in several orders,
and its threads' time is divided among the lines, words and locks that they waited for (`linebounce advise --time`)."""

import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from linebounce.errors import InputError, UsageError
from linebounce.files import scratch_folder
from linebounce.gate.layouts import base_name
from linebounce.gate.work import Work, info_of, work_of
from linebounce.program import checked
from linebounce.trace import Trace
from linebounce.trace_symbols import Symbols

_NO_VERDICT = ("may_add", "may_reverse")  # bearings of limits under which no version may pass (trace/losses.hpp)
_WORTH_FORETELLING = 20.0  # seconds, as kWorthForetelling in sim/plan/foretold_time.hpp
_MINUTES_FROM = 120.0  # seconds
_FIGURE = re.compile(r"(?<!\w)\d[\d.,]*(e[+-]\d+)?")  # not the digits of a name or a path
_MOST_TRIES_OTHERWISE_PCT = 5.0  # as kMostTriesOtherwise in sim/replay/replay_study.hpp


class NotMeasuredError(Exception):
    """The versions can't be compared: exit code 5."""


class Item(NamedTuple):
    """Something that threads wait for. `what`: the class of time, as in advise's page."""

    what: str
    name: str


@dataclass(frozen=True)
class Condition:
    """A machine, and how many of its CPUs are in use; None means all."""

    machine: str
    cpus: int | None = None

    def __str__(self) -> str:
        return self.machine if self.cpus is None else f"{self.machine}, {self.cpus} CPU{'' if self.cpus == 1 else 's'}"


@dataclass
class Place:
    """Where an item is defined ("/src/cache.c:12", or empty), and the functions that wait for it."""

    source: str
    functions: list[str]


@dataclass
class Side:
    """One version of the program. `us`: thread time in us by condition, recording, order and item."""

    recordings: list[Path]
    symbols: list[Symbols]  # of each recording
    us: dict[Condition, list[list[dict[Item, float]]]] = field(default_factory=dict)
    # The same if the program computes fast, and if slowly. Empty for recordings without computation.
    us_over_pace: dict[Condition, tuple[list[dict[Item, float]], list[dict[Item, float]]]] = field(default_factory=dict)
    works: list[Work] = field(default_factory=list)  # of each recording
    computation: set[str] = field(default_factory=set)  # how recordings have it: computation_of() in trace/summary.hpp
    basis: str = ""  # what sizes rest on, as a sentence
    places: dict[Item, Place] = field(default_factory=dict)
    # Parts of the program's run that the recorder could not record, as sentences.
    missing: list[str] = field(default_factory=list)
    not_measured: list[str] = field(default_factory=list)


@dataclass
class Gauge:
    """How recordings are measured."""

    program: str
    machines: Sequence[str]  # empty until measure() has asked advise
    cpus: Sequence[int]
    orders: int
    jobs: int

    def counts(self) -> Sequence[int | None]:
        return self.cpus or [None]

    def conditions(self) -> list[Condition]:
        return [Condition(machine, count) for machine in self.machines for count in self.counts()]


def opened(recordings: Sequence[Path]) -> Side:
    """The recordings with their symbols, not yet replayed. Raises NotMeasuredError if one can't be read."""
    side = Side(list(recordings), [])
    for path in recordings:
        try:
            with Trace(path) as trace:
                side.symbols.append(trace.symbols)
                _add_new(side.missing, trace.summary.missing)
        except (InputError, UsageError) as error:
            raise NotMeasuredError(str(error)) from None
    return side


@dataclass
class _Replay:
    """One recording, to be replayed in one order on all machines with `cpus` CPUs; None means all CPUs."""

    side: Side
    recording: int
    order: int
    cpus: int | None

    @property
    def trace(self) -> Path:
        return self.side.recordings[self.recording]


def measure(sides: Sequence[Side], gauge: Gauge) -> None:
    """Counts what the recordings of all sides do, and replays them on all machines in several orders. Notes in a side's
    `not_measured` a replay that fails, and one in which too many tries of locks went another way than recorded. A condition
    with a failed replay is dropped from all sides. Raises UsageError for an unknown machine, NotMeasuredError if no condition
    is left."""
    streams = max(len(symbols.streams) for side in sides for symbols in side.symbols)
    replays = [
        _Replay(side, recording, order, count)
        for side in sides
        for recording in range(len(side.recordings))
        for order in range(1, gauge.orders + 1)
        for count in gauge.counts()
    ]
    if not gauge.machines:
        largest = max(replays, key=lambda replay: len(replay.side.symbols[replay.recording].streams))
        gauge.machines = _page(largest, gauge, streams)["machines"]
    for side in sides:
        infos = [info_of(gauge.program, path) for path in side.recordings]
        side.works = [work_of(info) for info in infos]
        side.computation = {info["computation"] for info in infos}
        side.us = {condition: [[] for _ in side.recordings] for condition in gauge.conditions()}
        side.us_over_pace = {condition: ([], []) for condition in gauge.conditions()}
    began = time.monotonic()
    with ThreadPoolExecutor(gauge.jobs) as pool:
        pages = pool.map(lambda replay: _page(replay, gauge, streams), replays)
        for number, (replay, page) in enumerate(zip(replays, pages, strict=True), 1):
            if number == gauge.jobs:  # the first ones, which ran at the same time
                _foretell(time.monotonic() - began, number, len(replays), len(gauge.machines))
            _add_page(replay, page, gauge)
    whole = [it for it in gauge.conditions() if all(len(of) == gauge.orders for side in sides for of in side.us[it])]
    for side in sides:
        side.us = {condition: side.us[condition] for condition in whole}
    if not whole:
        raise NotMeasuredError("; ".join(sentence for side in sides for sentence in side.not_measured))


def _foretell(seconds: float, done: int, replays: int, machines: int) -> None:
    """Says on standard error how long all replays take, if they take long."""
    expected = seconds * replays / done
    if expected < _WORTH_FORETELLING or done == replays:
        return
    shown = f"{5 * round(expected / 5)} s" if expected < _MINUTES_FROM else f"{round(expected / 60)} min"
    on = "one machine" if machines == 1 else f"{machines} machines"
    print(f"linebounce gate: {replays} replays on {on}, about {shown}", file=sys.stderr, flush=True)


def _page(replay: _Replay, gauge: Gauge, streams: int) -> dict[str, Any]:
    settings = [f"workload.order={replay.order}"]
    if replay.cpus is not None:
        settings.append(f"machine.cpus={replay.cpus}")
        if streams > replay.cpus:
            settings.append("workload.threads=round_robin")
    words = [word for machine in gauge.machines for word in ("--machine", machine)]
    words += [word for text in settings for word in ("--set", text)]
    with scratch_folder() as scratch:
        command = [gauge.program, "advise", str(replay.trace), "--time", "--json", *words, "-o", str(scratch)]
        page: dict[str, Any] = json.loads(checked(command))
    return page


def _add_page(replay: _Replay, page: dict[str, Any], gauge: Gauge) -> None:
    side, where = replay.side, f"{replay.trace}, order {replay.order}"
    side.basis = side.basis or page["basis"]
    for limit in page["limits"]:
        known = side.not_measured if limit["bearing"] in _NO_VERDICT else side.missing
        _add_new(known, [f"{replay.trace}: {limit['sentence']}"])
    if page["tries_otherwise_pct"] > _MOST_TRIES_OTHERWISE_PCT:
        share = page["tries_otherwise_pct"]
        _add_new(side.not_measured, [f"{where}: {share:.1f} % of the tries of locks went another way than recorded"])
    accounts = {account["machine"]: account for account in page["time"]}
    for machine in gauge.machines:
        condition = Condition(machine, replay.cpus)
        account = accounts.get(machine)
        if account is None:
            _add_new(side.not_measured, [f"{where}: the replay on {condition} did not finish"])
            continue
        us_per_tick = account["thread_us"] / account["ticks"] if account["ticks"] else 0.0
        of: dict[Item, float] = {}
        for share in account["shares"]:
            item = Item(share["class"], base_name(share["name"]))
            of[item] = of.get(item, 0.0) + share["ticks"] * us_per_tick
            side.places.setdefault(item, Place(share["source"], share["functions"]))
        side.us[condition][replay.recording].append(of)
        if account["thread_us_over_pace"] is not None:
            for end, at_pace in enumerate(side.us_over_pace[condition]):
                at_pace.append(_at_pace(account, end))


def _at_pace(account: dict[str, Any], end: int) -> dict[Item, float]:
    of: dict[Item, float] = {}
    for share in account["shares"]:
        item = Item(share["class"], base_name(share["name"]))
        of[item] = of.get(item, 0.0) + share["us_over_pace"][end]
    return of


def once_each(sentences: Iterable[str]) -> list[str]:
    """Of sentences that differ in their figures only, the first. Recordings of one program lack the same things, but have
    figures of their own."""
    alike: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        alike.setdefault(_FIGURE.sub("", sentence), []).append(sentence)
    return [first + (" (other recordings: other figures)" if more else "") for first, *more in alike.values()]


def _add_new(known: list[str], more: Iterable[str]) -> None:
    known += [sentence for sentence in dict.fromkeys(more) if sentence not in known]
