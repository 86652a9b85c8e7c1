"""The table of docs/kernel-locks.md that holds the kernel's own locks against published figures: ./dev reproduce locks."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from program import ROOT, Program

FOLDER = ROOT / "examples" / "kernel_locks"


def loaded(path: Path) -> ModuleType:
    """A module by its file: examples/programs has a table.py as well."""
    spec = importlib.util.spec_from_file_location("kernel_lock_table", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


table = loaded(FOLDER / "table.py")
PAGE = table.PAGE.read_text(encoding="utf-8")


@pytest.fixture
def tools(executable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return table.Tools(executable.parent, tmp_path / "out")


def pair(ok: tuple[bool, bool], figures: tuple[float, float], **more: object) -> object:
    """An experiment with one row and one point, as `linebounce run` reports them."""
    row = {
        "id": "abc.alone",
        "at": {"machine.cpus": 2},
        "paper": 7e6,
        "tolerance": 0.1,
        "unit": "1/s",
        "why_off": "of it",
        **more,
    }

    def results(of: int) -> dict:
        metrics = {"throughput.operations_per_s": {"value": figures[of]}}
        return {"paper": [{**row, "ok": ok[of], "simulated": figures[of]}], "points": [{"at": row["at"], "metrics": metrics}]}

    return table.Pair("qspinlock_one_socket", results(0), results(1))


def test_every_published_figure_of_a_replaced_lock_has_its_row_on_the_page() -> None:
    rows = {row["id"]: row for name in table.REPLACED for row in table.own(name)["paper"]}
    assert table.verdicts_in(PAGE).keys() == rows.keys()
    explained = re.findall(r"^- `([\w.]+)`, (?:both|only .+?): ", PAGE, re.MULTILINE)
    assert explained == [row for row, verdicts in table.verdicts_in(PAGE).items() if "**miss**" in verdicts]
    # The experiments' own locks are run by `linebounce validate`, which must agree.
    validated = (ROOT / "docs" / "validation-results.md").read_text(encoding="utf-8")
    for row, (shipped, _) in table.verdicts_in(PAGE).items():
        assert (f"- `{row}` on" in validated) == (shipped == "**miss**"), row


def test_every_lock_experiment_of_the_validation_is_replaced_or_named_as_not_run() -> None:
    names = {
        path.stem for path in table.EXPERIMENTS.glob("*.toml") if re.match(r"(qspinlock|qrwlock|lockref|rwsem)_", path.stem)
    }
    not_run = PAGE[PAGE.index("Not run in C:") :].split("\n\n")[0]
    assert {name for name in names if f"`{name}`" not in not_run} == table.REPLACED.keys()


def test_each_difference_in_throughput_beyond_five_percent_has_its_cause_removed_on_the_page() -> None:
    beyond, causes = PAGE[PAGE.index("; beyond 5 %:") : PAGE.index("<!-- end -->")].split("The same with the supposed cause")
    places = [set(re.findall(r"^\| (`\w+` \| [^|]+) \|", part, re.MULTILINE)) for part in (beyond, causes)]
    assert places[0] == places[1]
    assert len(places[0]) > 0
    nearest: dict[str, float] = {}
    for place, percent in re.findall(r"^\| (`\w+` \| [^|]+) \|.* ([-+][\d.]+) % \|$", causes, re.MULTILINE):
        nearest[place] = min(nearest.get(place, 100), abs(float(percent)))
    assert {place.split("`")[1] for place, percent in nearest.items() if percent > 5} == {"rwsem_spinning"}
    assert "| `rwsem_spinning` | variant sleeps | not found" in causes


@pytest.mark.parametrize(
    ("name", "short"), [("qspinlock_one_socket", "machine.cpus=[3,4]"), ("qspinlock_ticket", "machine.cpus=[1,2]")]
)
def test_the_same_lock_in_its_own_place_gives_the_same_figures(
    tools: object, linebounce: Program, name: str, short: str
) -> None:
    brief = ("--set", "run.seeds=1", "--set", "run.measure_us=30", "--set", short)
    linebounce.run(f"validation/{name}", "shipped", *brief, "--quiet")
    shipped = table.results(linebounce.directory / "shipped")
    assert table.run_in_c(tools, name, {"qspinlock": "qspinlock"}, *brief)["points"] == shipped["points"]


def test_a_lock_in_c_takes_the_place_of_each_variant_and_keeps_the_rows(tools: object) -> None:
    """Both sides run the same ticket lock in C, so the change has no effect."""
    ticket = str(ROOT / "programs" / "locks" / "ticket.c")
    experiment = table.with_locks(
        table.own("lockref_pause"), table.REPLACED["lockref_pause"], {"lockref": "a", "lockref_pause": "b"}
    )
    assert experiment["sweep"]["workload.lock"] == ["b", "a"]
    assert [row["at"]["workload.lock"] for row in experiment["paper"]] == ["b", "b", "b", "a", "a", "a"]
    assert experiment["paper"][4]["relative_to"] == {"workload.lock": "b"}

    rows = table.run_in_c(tools, "qrwlock_alone", {"qrwlock": ticket})["paper"]
    assert [row["id"] for row in rows] == [row["id"] for row in table.own("qrwlock_alone")["paper"]]
    assert all(row["ok"] is not None and row["simulated"] > 1e7 for row in rows)


def test_the_table_has_both_verdicts_the_difference_and_the_reason_of_a_miss() -> None:
    held_against = pair((True, False), (6.5e6, 6e6))
    cause = table.Cause("qspinlock_one_socket", {"machine.cpus": 2}, "the moon")
    tried = (cause, table.Trial(("run.seeds=64",)), held_against.points()[0])
    text = table.page(PAGE, [held_against], [tried], "`qspinlock.c` 123")
    between = re.compile(r"(?<=table.py -->\n).*(?=<!-- end -->)", re.DOTALL)
    assert between.sub("", text) == between.sub("", PAGE)
    row = "| `qspinlock_one_socket` | `abc.alone` | cpus 2 | 7.00 M/s | 10 % | 6.50 M/s | hit | 6.00 M/s | **miss** | -7.7 % |"
    assert row in text
    assert "Of 1 figures, 0 are hits and 0 misses in both. Hits in Lua or C++ alone: 1." in text
    assert "- `abc.alone`, only C: of it." in text
    assert "Behind these rows are 1 throughputs. 0 are within 0.0 % of each other; beyond 5 %:" in text
    assert "| `qspinlock_one_socket` | cpus 2 | the moon | `run.seeds=64` | 6.50 M/s | 6.00 M/s | -7.7 % |" in text
    assert table.verdicts_in(text) == {"abc.alone": ("hit", "**miss**")}
    change = {"relative_to": {"machine.cpus": 1}, "sign": "gain", "paper": None, "tolerance": None}
    changed = table.row_cells(
        pair((True, True), (1.0, 11.0), **{key: value for key, value in change.items() if value or key == "paper"})
    )
    assert changed[0][2:] == ["cpus 2, against cpus 1", "gain", "10 %", "+100.0 %", "hit", "12 times", "hit", "+500.0 %"]


def test_a_machine_gets_further_links_that_cost_what_its_others_do(tools: object, linebounce: Program) -> None:
    file = table.machine_with(tools, "xeon_e7_8867l_8socket", ("0_2",))
    described = linebounce("describe", "machine", file)
    assert described.code == 0, described.stderr
    links = tomllib.loads(file.read_text(encoding="utf-8"))["network"]["link"]
    assert links["0_2"] == links["0_1"]


def test_where_the_kernel_is_missing_the_package_is_named(executable: Path, tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "table.py", "-b", executable.parent, "-o", tmp_path, tmp_path / "nowhere.tar.xz"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "nowhere.tar.xz: install Debian's package linux-source-6.1" in said.stderr


ARCHIVE = Path(os.environ.get("LINEBOUNCE_KERNEL", table.ARCHIVE))


@pytest.mark.skipif(not ARCHIVE.exists(), reason=f"needs Debian's package linux-source-6.1: no {ARCHIVE}")
def test_the_patches_apply_and_no_patched_lock_is_broken(tools: object, linebounce: Program) -> None:
    locks = table.made_locks(tools, ARCHIVE)
    assert locks.keys() == table.LOCKS.keys()
    for name in (name for name, lock in table.LOCKS.items() if lock.patch):
        said = linebounce("check-lock", locks[name], "--cpus=2", "--acquisitions=1", "--machines=0", "--states=1000", "--json")
        assert json.loads(said.stdout)[0]["verdict"] != "broken", name
