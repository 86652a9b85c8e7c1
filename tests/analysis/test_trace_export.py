"""`linebounce trace export`: the trace is read back with Perfetto's own message classes."""

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import linebounce
import polars as pl
import pytest
from linebounce import InputError
from linebounce.trace_export.tracks import tracks_of
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from program import Result

Path_ = tuple[str, ...]


class ReadBack:
    """Tracks by their path of names, and slices with their track's path. Slices of a track may not overlap."""

    def __init__(self, file: Path) -> None:
        trace = Trace.FromString(file.read_bytes())
        self.paths: dict[int, Path_] = {}
        self.slices: list[dict[str, Any]] = []
        self.counters: defaultdict[Path_, list[tuple[int, float]]] = defaultdict(list)
        opened: dict[int, dict[str, Any]] = {}
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                descriptor = packet.track_descriptor
                assert descriptor.uuid not in self.paths
                above = self.paths[descriptor.parent_uuid] if descriptor.HasField("parent_uuid") else ()
                self.paths[descriptor.uuid] = (*above, descriptor.name)
            elif packet.HasField("track_event") and packet.track_event.type == TrackEvent.TYPE_COUNTER:
                counter = self.paths[packet.track_event.track_uuid]
                self.counters[counter].append((packet.timestamp, packet.track_event.double_counter_value))
            elif packet.HasField("track_event"):
                self.event(packet.timestamp, packet.track_event, opened)
        assert not opened, "a slice without an end"

    def event(self, at: int, event: TrackEvent, opened: dict[int, dict[str, Any]]) -> None:
        if event.type == TrackEvent.TYPE_SLICE_END:
            self.slices.append(opened.pop(event.track_uuid) | {"end": at})
            assert self.slices[-1]["begin"] <= at
            return
        assert event.track_uuid not in opened, "slices overlap"
        arguments = {a.name: a.string_value if a.HasField("string_value") else a.int_value for a in event.debug_annotations}
        opened[event.track_uuid] = {
            "kind": event.categories[0],
            "path": self.paths[event.track_uuid],
            "uuid": event.track_uuid,
            "name": event.name,
            "begin": at,
            "arguments": arguments,
        }

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [slice_ for slice_ in self.slices if slice_["kind"] == kind]


@pytest.fixture(scope="module")
def exported(timeline_run: Path, command: Callable[..., Result], tmp_path_factory: pytest.TempPathFactory) -> ReadBack:
    file = tmp_path_factory.mktemp("trace") / "run.pftrace"
    result = command("trace_export", timeline_run, "--perfetto", file)
    assert result.code == 0, result.stderr
    return ReadBack(file)


@pytest.fixture(scope="module")
def timeline(timeline_run: Path) -> pl.DataFrame:
    return linebounce.open(timeline_run).timeline()


def test_every_span_occurs_once_at_its_time(exported: ReadBack, timeline: pl.DataFrame) -> None:
    written = Counter((row["kind"], round(row["begin_ns"]), round(row["end_ns"])) for row in timeline.iter_rows(named=True))
    assert len(exported.slices) == timeline.height > 1000
    assert Counter((slice_["kind"], slice_["begin"], slice_["end"]) for slice_ in exported.slices) == written


def test_cpus_buses_links_and_locks_have_their_tracks(exported: ReadBack, timeline: pl.DataFrame) -> None:
    children: defaultdict[Path_, set[str]] = defaultdict(set)
    for path in exported.paths.values():
        children[path[:-1]].add(path[-1])
    of_kind = {str(kind): spans for (kind,), spans in timeline.group_by("kind")}
    assert children["CPUs",] == {f"CPU {cpu}" for cpu in of_kind["function"]["track"].unique()}
    assert children["Locks",] == set(of_kind["lock_hold"]["name"].unique())
    assert children["Buses",] == {f"bus {bus}" for bus in of_kind["bus_address"]["track"].unique()}
    assert children["Links",] == {link.replace("_", " to ") for link in of_kind["link"]["track"].unique()}
    assert children["CPUs", "CPU 0"] == {"misses"}
    assert children["Buses", "bus 0"] == {"address", "data"}
    assert children[()] == {"CPUs", "Locks", "Buses", "Links"}


def test_functions_are_on_the_cpu_and_misses_below_it_with_their_place(exported: ReadBack, timeline: pl.DataFrame) -> None:
    functions = timeline.filter(pl.col("kind") == "function")
    assert Counter((slice_["path"], slice_["name"]) for slice_ in exported.of("function")) == Counter(
        (("CPUs", f"CPU {row['track']}"), row["name"]) for row in functions.iter_rows(named=True)
    )
    misses = timeline.filter(pl.col("kind") == "miss", pl.col("object") != "")
    expected = Counter(
        (
            f"CPU {row['track']}",
            row["name"],
            row["access"],
            f"{row['object']}.{row['field']}",
            row["line"],
            row["offset"],
        )
        for row in misses.iter_rows(named=True)
    )
    keys = ("source", "access", "field", "line", "offset")
    shown = [s for s in exported.of("miss") if "object" in s["arguments"]]
    assert Counter((s["path"][1], *(s["arguments"][key] for key in keys)) for s in shown) == expected
    assert {s["path"][2] for s in exported.of("miss")} == {"misses"}


def test_a_lock_says_who_holds_it_and_who_waits(exported: ReadBack, timeline: pl.DataFrame) -> None:
    for kind, below in (("lock_hold", ()), ("lock_wait", ("waits",))):
        spans = timeline.filter(pl.col("kind") == kind)
        assert Counter((s["path"], s["arguments"]["cpu"]) for s in exported.of(kind)) == Counter(
            (("Locks", row["name"], *below), int(row["track"])) for row in spans.iter_rows(named=True)
        )


def test_overlapping_misses_of_a_cpu_are_on_lanes_of_one_name(exported: ReadBack) -> None:
    lanes = [uuid for uuid, path in exported.paths.items() if path == ("CPUs", "CPU 0", "misses")]
    assert len(lanes) > 1
    assert {s["uuid"] for s in exported.of("miss") if s["path"][1] == "CPU 0"} == set(lanes)


def test_locks_whose_names_differ_in_zeros_only_have_a_track_each() -> None:
    names = ["lock1", "lock01", "lock1", "lock01", "lock10", "lock2", "lock01"]
    rows = [
        {"kind": kind, "track": "0", "begin_ns": 10.0 * i, "end_ns": 10.0 * i + 5, "name": name}
        for i, name in enumerate(names)
        for kind in ("lock_hold", "lock_wait")
    ]
    tracks = [(track.path[1:], len(track.slices)) for track in tracks_of(pl.DataFrame(rows)) if track.path != ("Locks",)]
    assert sorted(tracks) == sorted((path, names.count(name)) for name in {*names} for path in ((name,), (name, "waits")))
    holds = [path[0] for path, _ in tracks if len(path) == 1]
    assert holds == ["lock01", "lock1", "lock2", "lock10"]


def test_grace_periods_have_a_track(command: Callable[..., Result], grace_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "deeper" / "run.pftrace"
    assert command("trace_export", grace_run, "--point", "1", "--perfetto", file).code == 0
    periods = ReadBack(file).of("grace_period")
    assert periods
    assert {period["path"] for period in periods} == {("Grace periods",)}


def test_functions_and_sleep_fill_a_cpus_time_without_overlap(timeline: pl.DataFrame) -> None:
    for _, spans in timeline.filter(pl.col("kind").is_in(["function", "sleep"])).group_by("track"):
        ordered = spans.sort("begin_ns")
        assert ordered["end_ns"][:-1].to_list() == ordered["begin_ns"][1:].to_list()


def test_an_export_without_a_point_or_a_timeline_is_refused(
    command: Callable[..., Result], locks_run: Path, timeline_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "run.pftrace"
    without_point = command("trace_export", locks_run, "--perfetto", file)
    assert (without_point.code, "--point 0 to 8" in without_point.stderr) == (2, True)
    without_timeline = command("trace_export", locks_run, "--point", "1", "--perfetto", file)
    assert (without_timeline.code, "run.record_timeline=true" in without_timeline.stderr) == (3, True)
    assert command("trace_export", locks_run, "--point", "9", "--perfetto", file).code == 2
    assert command("trace_export", timeline_run).code == 2
    assert command("trace_export", timeline_run, "--perfetto", tmp_path).code == 2
    assert command("trace_export", tmp_path, "--perfetto", file).code == 3
    assert not file.exists()
    assert "Examples:" in command("trace_export", "--help").stdout


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("function,0,1.000,2.000,f,,,,", "9 values for 10 columns"),
        ("function,0,one,2.000,f,,,,,", 'begin_ns is "one"'),
        ("miss,0,1.000,2.000,l2,load,o,x,0,f", 'line is "x"'),
        ("tea,0,1.000,2.000,f,,,,,", 'kind is "tea"'),
        ("function,0,2.000,1.000,f,,,,,", "it ends before it begins"),
    ],
)
def test_a_damaged_timeline_is_refused_with_its_line(row: str, wrong: str, tmp_path: Path) -> None:
    from linebounce.frames import TIMELINE, read_timeline  # noqa: PLC0415

    file = tmp_path / "timeline.csv"
    file.write_text(",".join(TIMELINE) + "\nfunction,0,0.000,1.000,f,,,,,\n" + row + "\n")
    with pytest.raises(InputError, match=r"timeline\.csv:3: ") as caught:
        read_timeline(tmp_path)
    assert wrong in str(caught.value)


def test_series_are_counters_also_without_a_timeline(command: Callable[..., Result], series_run: Path, tmp_path: Path) -> None:
    result = command("trace_export", series_run, "--perfetto", tmp_path / "run.pftrace")
    assert result.code == 0, result.stderr
    series = linebounce.open(series_run).series
    assert f"{series.height} samples of counters" in result.stdout
    read_back = ReadBack(tmp_path / "run.pftrace")
    assert not read_back.slices
    assert set(read_back.counters) == {("program.emptied",), ("program.filled",)}
    for (name,), samples in read_back.counters.items():
        rows = series.filter(name=name)
        assert [value for _, value in samples] == rows["value"].to_list()
        assert [time for time, _ in samples] == [round(1000 * time) for time in rows["time_us"]]
