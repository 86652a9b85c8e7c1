"""Which folders Linebounce may fill, empty and delete: those that it made. sim/results/own_directory.hpp is the same in C++.

A folder of results has a manifest.json. Any other folder that Linebounce makes has the file .linebounce, which lists the
folders that Linebounce has made in it, one a line. A folder without either is a stranger's: nothing is written there, unless
it is empty. A folder that its parent's .linebounce does not list is not deleted, and nothing in it is.
"""

import json
from pathlib import Path

from linebounce.errors import InputError, UsageError
from linebounce.files import delete_folder, make_folder, read_problem, read_result, write_file
from linebounce.visible import visible_name

MARK = ".linebounce"
_RESERVED = ".linebounce-"  # begins the names of locks, temporary files and seeds
_MARK_TEXT = "# Linebounce made this folder and may replace its files. It may delete these folders:\n"


def name_problem(name: str) -> str:
    """Why a name that a file has chosen can't name a place in a folder: it is absolute, has a part that is empty, "." or
    "..", or a character that acts on a terminal. Empty if it can."""
    if visible_name(name) != name:
        return "it has a character that acts on a terminal"
    if name.startswith("/"):
        return "it begins with a slash, and nothing is written outside the output"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "a part is empty, . or .., and nothing is written outside the output"
    return ""


def inner_path(folder: Path, name: str) -> Path:
    """The path of `name` in the folder, for a name that a file may have chosen: one or more parts, separated by slashes.
    What is written there is in the folder. Raises UsageError, with the name's problem, or if a part is a symbolic link."""
    if problem := name_problem(name):
        raise UsageError(f'"{visible_name(name)}" can\'t be a name in {folder}: {problem}')
    place = folder
    for part in name.split("/"):
        place /= part
        if place.is_symlink():
            raise UsageError(f"{place}: is a symbolic link, and nothing is written elsewhere; remove it")
    return place


def require_own_folder(folder: Path) -> None:
    """Refuses a folder that has files and that Linebounce did not make. Looks at nothing else, and writes nothing. Raises
    UsageError; InputError if a manifest can't be read."""
    if not folder.is_dir() or _is_marked(folder):
        return
    entry = _first_entry(folder)
    if entry is None or _has_results(folder):
        return
    raise UsageError(
        f"{folder}: holds {visible_name(entry)}, and Linebounce did not make this directory, so it may be someone else's; "
        f"choose another directory with -o (or, if Linebounce may replace files here, make {folder / MARK})"
    )


def make_own_folder(folder: Path) -> None:
    """Makes the folder, as well as its parents, and marks all that it makes. Raises UsageError, as require_own_folder()
    does."""
    require_own_folder(folder)
    _make_parents(folder)
    make_folder(folder)
    if not _is_marked(folder):
        _write_mark(folder, [])


def remove_if_unused(folder: Path) -> None:
    """Removes a folder that make_own_folder() has made and that has nothing but its mark. Leaves any other as it is."""
    try:
        if [path.name for path in folder.iterdir()] == [MARK] and not _listed(folder):
            (folder / MARK).unlink()
        folder.rmdir()
    except (OSError, UsageError):
        return


def emptied_folder(folder: Path, name: str) -> Path:
    """`name` in the folder, as an empty folder in place of the one that Linebounce made there earlier. REQUIRES:
    make_own_folder() was called for the folder. Raises UsageError if Linebounce did not make the folder that is there."""
    place = inner_path(folder, name)
    listed = _listed(folder)
    is_empty = place.is_dir() and _first_entry(place) is None
    if name not in listed and place.exists() and not is_empty:
        raise UsageError(
            f"{place}: Linebounce did not make this, so it is not replaced; move it, or choose another directory with -o"
        )
    delete_folder(place)
    make_folder(place)
    if name not in listed:
        _write_mark(folder, [*listed, name])
    return place


def _is_marked(folder: Path) -> bool:
    mark = folder / MARK
    return mark.is_file() and not mark.is_symlink()


def _first_entry(folder: Path) -> str | None:
    """The first entry by name that is neither a lock nor a temporary file; None if there is none."""
    try:
        return min((path.name for path in folder.iterdir() if not path.name.startswith(_RESERVED)), default=None)
    except OSError:
        return None  # the command finds out why when it writes


def _has_results(folder: Path) -> bool:
    manifest = folder / "manifest.json"
    try:
        document = json.loads(read_result(manifest))
    except (FileNotFoundError, ValueError, RecursionError):
        return False
    except OSError as error:  # it may be that of results on a broken disk
        raise InputError(read_problem(manifest, error)) from None
    return isinstance(document, dict) and document.get("schema") == "linebounce.manifest/1"


def _listed(folder: Path) -> list[str]:
    """The folders that the mark lists."""
    if not _is_marked(folder):
        return []
    try:
        lines = read_result(folder / MARK).decode(errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"{folder / MARK}: cannot be read: {error.strerror}") from None
    return [line for line in lines if line and not line.startswith("#")]


def _write_mark(folder: Path, names: list[str]) -> None:
    write_file(folder / MARK, (_MARK_TEXT + "".join(f"{name}\n" for name in names)).encode())


def _make_parents(folder: Path) -> None:
    parent = folder.parent
    if parent == folder or parent.exists():
        return
    _make_parents(parent)
    make_folder(parent)
    _write_mark(parent, [])
