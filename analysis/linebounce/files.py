"""Output that is there whole or not at all."""

import errno
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from linebounce.errors import InputError, UnreadableError, UsageError


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file beside `path`, which takes its name at the end: whoever reads finds all of it or what was there before.

    Missing folders are made. What is there and no plain file, such as /dev/stdout, is written to as it is. Raises UsageError
    that names `path` where it can't be written; then nothing stays but the folders above.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        place = path.resolve()  # a link stays one
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
        raise  # of /dev/stdout: see commands.py
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """For temporary files, gone in the end. UsageError if none can be made."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="linebounce-"))
    except OSError as error:
        named = f" {error.filename}" if error.filename else ""
        raise UsageError(f"cannot make a temporary folder{named}: {error.strerror}") from None
    try:
        yield folder
    finally:
        _delete(folder)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """A new folder, which takes its name when all is in it. Missing folders above it are made.

    Raises UsageError that names `path`, or a file in it, where something can't be written; then nothing stays but the folders
    above.
    REQUIRES: `path` is not there, or is an empty folder.
    """
    temporary = path.with_name(f".linebounce-tmp-{secrets.token_hex(8)}")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.rename(path)
    except UsageError as error:
        raise UsageError(str(error).replace(str(temporary), str(path))) from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        _delete(temporary)


def _delete(folder: Path) -> None:
    """What can't be deleted is no reason to fail; the second attempt is for a moment without a free file descriptor."""
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)


# What says nothing about the file: a broken disk, a server that is gone, too many open files, no memory.
_OF_THE_SYSTEM = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def read_file(path: Path, most: int = -1) -> bytes:
    """Its first `most` bytes, or all. InputError, which names `path`, if it can't be read: UnreadableError where that says
    nothing about the file."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        kind = UnreadableError if error.errno in _OF_THE_SYSTEM else InputError
        raise kind(f"cannot read {path}: {error.strerror}") from None


def write_file(path: Path, content: bytes) -> None:
    """All of it or nothing. Raises UsageError as written_whole() does."""
    with written_whole(path) as file:
        file.write(content)
