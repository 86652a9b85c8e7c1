"""Reads results directories and checks them against the contract: files, columns, and the JSON schemas in docs/."""

import csv
import filecmp
import json
import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parent.parent.parent

CSV_COLUMNS = {
    "latency.csv": "point,kind,source,latency_cycles,latency_ns,count",
    "lines.csv": "point,structure,object,line,offset,field,function,access,home,source,count,remote_pct,latency_ns_mean,"
    "cpus,travel_ns_mean,queueing_ns_mean,queueing_core_ns_mean,queueing_bus_ns_mean,queueing_line_ns_mean,"
    "queueing_link_ns_mean,queueing_controller_ns_mean,queueing_memory_ns_mean",
    "locks.csv": "point,lock,call_site,util_pct,con_pct,hold_mean_us,hold_max_us,wait_mean_us,wait_max_us,cpu_pct,total,nowait,"
    "spin,rjct,misses,miss_mean_ns,travel_mean_ns,queueing_mean_ns,queueing_core_mean_ns,queueing_bus_mean_ns,"
    "queueing_line_mean_ns,queueing_link_mean_ns,queueing_controller_mean_ns,queueing_memory_mean_ns",
    "cpi.csv": "point,cpu,function,instructions,cycles,issue,l1,l2,l3,l4,local_c2c,local_memory,remote_memory,remote_c2c,"
    "node_cache,upgrade,atomic,store_buffer,fence,footprint,spin,sleep,ended",
    "matrix.csv": "point,from_cpu,to_cpu,home_node,state,latency_ns",
    "series.csv": "point,time_us,name,value",
    "seeds.csv": "point,seed,metric,value,unit",
    "transitions.csv": "point,controller,state,event,count",
}
ALWAYS_THERE = {"config.toml", "results.json", "latency.csv", "lines.csv", "locks.csv", "cpi.csv", "transitions.csv"}
OF_ONE_RUN = {"timeline.csv"}  # written only on request, for one run, so it has no column for the point
# Written only if the machine is a user's own: whether the answer holds over the range of its contention family.
OF_OWN_MACHINES = {"family_range.json"}
# The manifest has host, time and path: the only file that may differ between equal runs. A sweep's directory also lists the
# folders in it that Linebounce may delete.
NOT_DATA = {"manifest.json", ".linebounce"}


@cache
def schema(kind: str) -> Draft202012Validator:
    path = ROOT / "docs" / f"{kind}.schema.json"
    text = json.loads(path.read_text())
    Draft202012Validator.check_schema(text)
    return Draft202012Validator(text)


def validate(path: Path, kind: str) -> dict:
    document = json.loads(path.read_text())
    errors = [f"{path.name}: {error.json_path}: {error.message}" for error in schema(kind).iter_errors(document)]
    assert not errors, "\n".join(errors)
    return document


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def data_files(directory: Path) -> dict[str, Path]:
    """All files whose content must not depend on compiler, host, -j or run-ahead, by path inside the directory."""
    return {
        str(path.relative_to(directory)): path
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in NOT_DATA
    }


def assert_same_data(first: Path, second: Path) -> None:
    ours, theirs = data_files(first), data_files(second)
    assert ours.keys() == theirs.keys()
    different = [name for name in ours if not filecmp.cmp(ours[name], theirs[name], shallow=False)]
    assert not different, f"{first} and {second} differ in {different}"


def check_results_directory(directory: Path) -> dict:
    """Checks a finished run against the contract; returns its results.json."""
    results = check_point_directory(directory, range(100_000))
    validate(directory / "manifest.json", "manifest")
    config = tomllib.loads((directory / "config.toml").read_text())
    assert "engine" not in config, "config.toml leaves [engine] out"
    for part in ["cpu", "cache", "bus", "memory"]:
        assert isinstance(config["machine"][part], dict), "config.toml holds the whole [machine] as tables"
    points = directory / "points"
    if "sweep" in config:
        assert sorted(int(path.name) for path in points.iterdir()) == list(range(len(results["points"])))
        for number in range(len(results["points"])):
            check_point_directory(points / str(number), [number])
    return results


def check_point_directory(directory: Path, numbers: range | list[int]) -> dict:
    names = {path.name for path in directory.iterdir() if path.is_file()}
    assert names >= ALWAYS_THERE
    assert names <= ALWAYS_THERE | CSV_COLUMNS.keys() | OF_ONE_RUN | OF_OWN_MACHINES | NOT_DATA
    for name in names & CSV_COLUMNS.keys():
        check_csv(directory / name, numbers)
    results = validate(directory / "results.json", "results")
    for point in results["points"]:
        for name, metric in point["metrics"].items():
            check_metric(name, metric)
    return results


def check_csv(path: Path, numbers: range | list[int]) -> None:
    text = path.read_text()
    assert text.splitlines()[0] == CSV_COLUMNS[path.name]
    assert text.endswith("\n")
    for row in read_csv(path):
        assert None not in row
        assert None not in row.values()
        assert int(row["point"]) in numbers


@cache
def declared_metrics() -> list[tuple[re.Pattern, str]]:
    """The names and units that the program declares."""
    program = os.environ.get("LINEBOUNCE", ROOT / "build" / "release" / "linebounce")
    listed = subprocess.run([program, "list", "metrics", "--json"], capture_output=True, check=True).stdout
    return [(name_pattern(metric["name"]), metric["unit"]) for metric in json.loads(listed)]


def name_pattern(declared: str) -> re.Pattern:
    """Returns a regular expression for a declared name: `<i>` matches a number, `<word>` a part without dots,
    `<word...>` one or more parts."""
    parts = re.split(r"(<[^>]+>)", declared)
    return re.compile("".join(placeholder(part) if part.startswith("<") else re.escape(part) for part in parts))


def placeholder(text: str) -> str:
    if text.endswith("...>"):
        return r".+"
    return r"\d+" if len(text) == 3 else r"[^.]+"


def check_metric(name: str, metric: dict) -> None:
    assert re.fullmatch(r"[a-z0-9_\[\]-]+(\.[a-z0-9_\[\]-]+)+", name), f"{name}: metric names are dotted and lower-case"
    units = [unit for pattern, unit in declared_metrics() if pattern.fullmatch(name)]
    assert metric["unit"] in units, f"{name} in {metric['unit']} is not declared"
    for number in [metric["value"], metric.get("ci95", 0)]:
        if isinstance(number, float):
            digits = f"{number:.17g}"
            assert float(f"{number:.6g}") == number, f"{name} = {digits}: more than 6 significant digits"


def paper_rows(results: dict) -> dict[str, dict]:
    return {row["id"]: row for row in results["paper"]}


def metric_of(results: dict, name: str) -> float:
    """The value of a metric that exactly one point has."""
    values = [point["metrics"][name]["value"] for point in results["points"] if name in point["metrics"]]
    assert len(values) == 1, f"{name} at {len(values)} points"
    return values[0]
