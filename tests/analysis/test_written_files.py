"""A folder or file appears whole, or there is an error and no folder or file."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from linebounce.errors import UsageError
from linebounce.files import folder_written_whole, write_file
from linebounce.interrupts import INTERRUPTS


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


# Writes a file until it is interrupted. `kept`: what was there before.
WRITING = """
import sys, time
from pathlib import Path
from linebounce.commands import exit_code
from linebounce.files import written_whole

def work():
    with written_whole(Path(sys.argv[1])) as file:
        file.write(b"half")
        print("ready", flush=True)
        time.sleep(60)

sys.exit(exit_code("linebounce report", work))
"""


def interrupted_writing(file: Path, number: signal.Signals, memory: int = resource.RLIM_INFINITY) -> int:
    """Sends the signal to a command that is writing the file. Returns its exit code."""
    file.write_text("of before")
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, file],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),  # noqa: PLW1509
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(number)
        code = running.wait(30)
        assert running.stdout.read() == b"", "no process is left that could write"
    return code


@pytest.mark.usefixtures("signals_count")
def test_an_interrupted_file_leaves_the_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    for number in INTERRUPTS:
        assert interrupted_writing(tmp_path / "page.html", number) == 130, number
        assert os.listdir(tmp_path) == ["page.html"], number
        assert (tmp_path / "page.html").read_text() == "of before"


def test_an_interrupt_reaches_a_command_under_a_memory_limit(tmp_path: Path) -> None:
    """The command runs in a child process."""
    assert interrupted_writing(tmp_path / "page.html", signal.SIGUSR1, memory=4 << 30) == 130
    assert os.listdir(tmp_path) == ["page.html"]
