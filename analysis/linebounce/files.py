"""Writes files so that they appear whole or not at all."""

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from linebounce.errors import InputError, UnreadableError, UsageError


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Opens a temporary file beside `path` and renames it to `path` at the end. Readers see either the whole new file
    or the previous one.

    Creates missing folders. If `path` exists and is not a regular file, such as /dev/stdout, writes to it directly.
    Raises UsageError, which names `path`, if writing fails; only created folders then remain.
    """
    make_folder(path.parent)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        place = _behind_links(path)  # a symbolic link stays one: the file that it points to is replaced
        temporary = place.parent / f".linebounce-tmp-{secrets.token_hex(8)}"
        try:
            with temporary.open("xb") as file:
                yield file
            temporary.replace(place)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except BrokenPipeError:
        raise  # an error of /dev/stdout; commands.py reports it
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def _behind_links(path: Path) -> Path:
    """Raises OSError if links lead in a circle."""
    try:
        return path.resolve()
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None


def make_folder(path: Path) -> None:
    """Makes the folder and its parents. Raises UsageError, as make_directories() in sim/results/result_files.hpp does."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # the last part is a file
        raise UsageError(f"{path}: the directory cannot be made: {os.strerror(errno.ENOTDIR)}") from None
    except OSError as error:
        raise UsageError(f"{path}: the directory cannot be made: {error.strerror}") from None


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for temporary files, deleted at the end. Raises UsageError if none can be made."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="linebounce-"))
    except OSError as error:
        named = f" {error.filename}" if error.filename else ""
        raise UsageError(f"cannot make a temporary folder{named}: {error.strerror}") from None
    try:
        yield folder
    finally:
        delete_folder(folder)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Yields a temporary folder and renames it to `path` at the end. Creates missing parent folders.

    Raises UsageError, which names `path` or a file in it, if writing fails; only parent folders then remain. REQUIRES:
    `path` does not exist, or is an empty folder.
    """
    temporary = path.with_name(f".linebounce-tmp-{secrets.token_hex(8)}")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.rename(path)
    except UsageError as error:
        raise UsageError(str(error).replace(str(temporary), str(path))) from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        delete_folder(temporary)


def delete_folder(folder: Path) -> None:
    """Deletes what it can of the folder. The second attempt helps if the first had no free file descriptor. REQUIRES:
    Linebounce made the folder (own_folder.py). Nothing else here deletes a folder with its content."""
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)


# Errors that say nothing about the file's content: a broken disk, a lost server, too many open files, no memory.
_OF_THE_SYSTEM = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def read_problem(path: Path, error: OSError) -> str:
    """The message for a file that can't be read. As trace/read_problem.hpp."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"{path}: there is no such file"
    if error.errno == errno.EISDIR:
        return f"{path}: this is a folder, not a file"
    return f"{path}: cannot be read: {error.strerror}"


def read_config(path: Path) -> bytes:
    """A file that says what is to be done. Raises UsageError, which names `path`, if it can't be read, as the C++ commands
    do for machines and experiments; UnreadableError if the cause is the system, not the file."""
    try:
        return read_file(path)
    except UnreadableError:
        raise
    except InputError as error:
        raise UsageError(str(error)) from None


_LARGEST_FILE = 256 << 20  # a device such as /dev/zero never ends


def read_file(path: Path, most: int = _LARGEST_FILE, *, pipes: bool = False) -> bytes:
    """The first `most` bytes of the file, or all. `pipes`: whether a pipe or device is read, too, as one that the command line
    names; where a file or folder from others could have one, the command would wait for its writer. Raises InputError, which
    names `path`, if it can't be read or is larger than _LARGEST_FILE; UnreadableError if the cause is the system, not the
    file."""
    try:
        with open(path, "rb", opener=None if pipes else at_once) as file:
            if not (pipes or stat.S_ISREG(os.fstat(file.fileno()).st_mode)):
                raise InputError(f"{path}: cannot be read: it is not a regular file")
            content = file.read(most)
            if len(content) == _LARGEST_FILE and file.read(1):
                raise InputError(f"{path}: larger than the limit of {_LARGEST_FILE >> 20} MiB")
            return content
    except OSError as error:
        raise _unreadable(path, error) from None


def at_once(name: str, flags: int) -> int:
    """Opens a file without waiting: a pipe that no program writes to would otherwise keep the caller waiting for ever."""
    return os.open(name, flags | os.O_NONBLOCK)


def read_table(path: Path) -> bytes:
    """A table that the user names. Raises InputError, which names `path`, if it can't be read or is not a regular file;
    UnreadableError if the cause is the system, not the file."""
    try:
        return read_result(path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    kind = UnreadableError if error.errno in _OF_THE_SYSTEM else InputError
    return kind(read_problem(path, error))


# A larger file in a results directory is not Linebounce's. One with holes costs its sender nothing.
LARGEST_RESULT = 4 << 30


def read_result(path: Path) -> bytes:
    """A file of a results directory. Raises OSError if it can't be read; InputError if it is not a regular file, such as a
    pipe whose writer never comes, or larger than LARGEST_RESULT."""
    with open(path, "rb", opener=at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise InputError(f"{path}: cannot be read: it is not a regular file")
        if facts.st_size > LARGEST_RESULT:
            raise InputError(f"{path}: larger than {LARGEST_RESULT >> 30} GiB, so it is not a file that Linebounce wrote")
        return file.read()


def write_file(path: Path, content: bytes) -> None:
    """Writes all of the file or nothing. Raises UsageError, as written_whole() does."""
    with written_whole(path) as file:
        file.write(content)
