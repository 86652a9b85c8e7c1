"""Compares results byte for byte, without a second program: what differs, what is kept, and which cases exist."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from program import ROOT


@pytest.fixture(scope="module")
def same_results() -> ModuleType:
    """The tool, whose file has no suffix. It imports modules from its own folder; so do the tests."""
    loader = SourceFileLoader("same_results", str(ROOT / "tools" / "same_results"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    before, bytecode = list(sys.path), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    sys.path[:], sys.dont_write_bytecode = before, bytecode
    return module


def folder(place: Path, **texts: str) -> Path:
    for name, text in texts.items():
        file = place / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place


def differing(tool: ModuleType, ours: Path, theirs: Path) -> list[str]:
    """The differences between two trees' results."""
    return tool.different_files(
        tool.data_of(ours, ours.parent / "our_tree"), tool.data_of(theirs, theirs.parent / "their_tree")
    )


def test_files_that_differ_or_that_one_side_lacks_are_named(same_results: ModuleType, tmp_path: Path) -> None:
    ours = folder(tmp_path / "ours", lines_csv="1", points__0__lines_csv="2", locks_csv="3", series_csv="4")
    theirs = folder(tmp_path / "theirs", lines_csv="1", points__0__lines_csv="5", locks_csv="3", seeds_csv="4")
    assert differing(same_results, ours, theirs) == ["points/0/lines.csv", "seeds.csv", "series.csv"]
    assert differing(same_results, ours, ours) == []


def test_a_runs_duration_is_not_a_difference(same_results: ModuleType, tmp_path: Path) -> None:
    ours = folder(tmp_path / "ours", lines_csv="1", manifest_json="1 s")
    theirs = folder(tmp_path / "theirs", lines_csv="1", manifest_json="2 s")
    assert differing(same_results, ours, theirs) == []


def test_the_folder_of_the_tree_makes_no_difference(same_results: ModuleType, tmp_path: Path) -> None:
    ours = folder(tmp_path / "ours", config_toml=f'program = "{tmp_path}/our_tree/programs/queue.lua"')
    theirs = folder(tmp_path / "theirs", config_toml=f'program = "{tmp_path}/their_tree/programs/queue.lua"')
    assert differing(same_results, ours, theirs) == []


def test_results_are_kept_only_of_a_case_that_came_to_its_end(same_results: ModuleType, tmp_path: Path) -> None:
    runs = 0

    def fails(_tree: Path, unfinished: Path) -> None:
        folder(unfinished, half_csv="1")
        raise RuntimeError("exit code 3")

    def works(_tree: Path, unfinished: Path) -> None:
        nonlocal runs
        runs += 1
        folder(unfinished, whole_csv="1")

    kept = tmp_path / "kept" / "case"
    with pytest.raises(RuntimeError, match="exit code 3"):
        same_results.result_of(fails, tmp_path, kept)
    assert list(kept.parent.iterdir()) == []
    for _ in range(2):
        assert [file.name for file in same_results.result_of(works, tmp_path, kept).iterdir()] == ["whole.csv"]
    assert runs == 1


def test_every_experiment_protocol_and_lesson_is_a_case(same_results: ModuleType) -> None:
    names = dict(same_results.cases(ROOT, quick=True)).keys()
    assert {f"check/{file.stem}" for file in (ROOT / "models/protocols").glob("*.md")} - names == {"check/README"}
    assert {"steps/07-numa", "experiments/oltp", "experiments/what_if/align_rq"} <= names
