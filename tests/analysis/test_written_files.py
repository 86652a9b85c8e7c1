"""A folder appears whole, or there is an error and no folder."""

import os
from pathlib import Path

import pytest
from linebounce.errors import UsageError
from linebounce.files import folder_written_whole, write_file


def test_a_folder_takes_its_name_when_all_is_in_it(tmp_path: Path) -> None:
    with folder_written_whole(tmp_path / "above/made") as made:
        write_file(made / "below/file", b"x")
        assert not (tmp_path / "above/made").exists()
    assert (tmp_path / "above/made/below/file").read_bytes() == b"x"
    assert os.listdir(tmp_path / "above") == ["made"]


def test_a_folder_may_be_empty(tmp_path: Path) -> None:
    with folder_written_whole(tmp_path / "made"):
        pass
    assert os.listdir(tmp_path) == ["made"]


def test_a_folder_with_an_unwritable_file_leaves_nothing_and_is_named(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        with folder_written_whole(folder) as made:
            write_file(made / "file", b"")
            write_file(made / "file/below", b"")

    with pytest.raises(UsageError, match=f"{tmp_path}/made/file: the directory cannot be made: Not a directory"):
        fill(tmp_path / "made")
    assert os.listdir(tmp_path) == []


def test_a_folder_does_not_take_the_place_of_one_that_holds_something(tmp_path: Path) -> None:
    write_file(tmp_path / "full/file", b"")
    with pytest.raises(UsageError, match=f"{tmp_path}/full: cannot be written: "), folder_written_whole(tmp_path / "full"):
        pass
    assert os.listdir(tmp_path) == ["full"]
    assert os.listdir(tmp_path / "full") == ["file"]
