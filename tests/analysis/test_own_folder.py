"""Which folders Linebounce may fill, empty and delete. tests/sim/results/own_directory_test.cpp has the same for C++."""

import json
from pathlib import Path

import pytest
from linebounce.errors import UsageError
from linebounce.own_folder import (
    MARK,
    emptied_folder,
    inner_path,
    make_own_folder,
    name_problem,
    remove_if_unused,
    require_own_folder,
)

MANIFEST = json.dumps({"schema": "linebounce.manifest/1"})


def strangers(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "precious").write_text("mine")
    return folder


def is_whole(folder: Path) -> bool:
    return [path.name for path in folder.iterdir()] == ["precious"] and (folder / "precious").read_text() == "mine"


def test_a_strangers_folder_is_refused_without_a_change(tmp_path: Path) -> None:
    theirs = strangers(tmp_path / "theirs")
    for action in (require_own_folder, make_own_folder):
        with pytest.raises(UsageError, match="holds precious, and Linebounce did not make this directory"):
            action(theirs)
    assert is_whole(theirs)


def test_an_empty_folder_a_marked_one_and_one_of_results_are_ours(tmp_path: Path) -> None:
    make_own_folder(tmp_path)
    (tmp_path / "precious").write_text("mine")
    make_own_folder(tmp_path)
    results = strangers(tmp_path / "results")
    (results / "manifest.json").write_text(MANIFEST)
    require_own_folder(results)
    for text in ('{"schema": "of another program"}', "[]", "{", "[" * 100_000):
        (results / "manifest.json").write_text(text)
        with pytest.raises(UsageError):
            require_own_folder(results)


def test_a_mark_is_a_file_and_no_link(tmp_path: Path) -> None:
    theirs = strangers(tmp_path / "theirs")
    (theirs / MARK).symlink_to("precious")
    with pytest.raises(UsageError):
        require_own_folder(theirs)


def test_parents_that_are_made_are_ours_and_those_that_were_there_are_not(tmp_path: Path) -> None:
    make_own_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / MARK).exists()
    assert not (tmp_path / MARK).exists()


def test_a_folder_is_emptied_only_if_linebounce_made_it(tmp_path: Path) -> None:
    make_own_folder(tmp_path)
    theirs = strangers(tmp_path / "theirs")
    with pytest.raises(UsageError, match="Linebounce did not make this"):
        emptied_folder(tmp_path, "theirs")
    ours = emptied_folder(tmp_path, "ours")
    (ours / "recording").write_text("ours")
    assert emptied_folder(tmp_path, "ours") == ours
    assert not list(ours.iterdir())
    (tmp_path / "link").symlink_to(theirs)
    with pytest.raises(UsageError, match="is a symbolic link"):
        emptied_folder(tmp_path, "link")
    assert is_whole(theirs)
    assert (tmp_path / MARK).read_text().splitlines()[1:] == ["ours"]


def test_a_folder_with_nothing_but_its_mark_is_removed_and_others_stay(tmp_path: Path) -> None:
    make_own_folder(tmp_path / "unused")
    remove_if_unused(tmp_path / "unused")
    assert not (tmp_path / "unused").exists()
    make_own_folder(tmp_path / "used")
    (tmp_path / "used" / "precious").write_text("mine")
    remove_if_unused(tmp_path / "used")
    assert (tmp_path / "used" / MARK).exists()
    make_own_folder(tmp_path / "folders")
    emptied_folder(tmp_path / "folders", "base").rmdir()
    remove_if_unused(tmp_path / "folders")
    assert (tmp_path / "folders" / MARK).exists()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "/etc/passwd",
        "..",
        ".",
        "a/../b",
        "../a",
        "a/..",
        "a//b",
        "a/",
        "./a",
        "a\nb",
        "a\x1b[2J",
        "a\u202eb",
        "a\udcff",
    ],
)
def test_a_name_that_leads_elsewhere_or_acts_is_not_joined(tmp_path: Path, name: str) -> None:
    assert name_problem(name)
    with pytest.raises(UsageError):
        inner_path(tmp_path, name)


def test_a_name_that_stays_inside_is_joined_but_not_through_a_link(tmp_path: Path) -> None:
    assert inner_path(tmp_path, "a/..b/c..") == tmp_path / "a" / "..b" / "c.."
    theirs = strangers(tmp_path / "theirs")
    (tmp_path / "link").symlink_to(theirs)
    for name in ("link", "link/new", "link/precious"):
        with pytest.raises(UsageError, match="is a symbolic link"):
            inner_path(tmp_path, name)
