"""Writes the page's files into a folder, and serves them on this machine."""

import functools
import http.server
import socket
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.files import read_file, write_file
from linebounce.own_folder import inner_path, make_own_folder
from linebounce.teach.engine import Engine
from linebounce.teach.library import Library, script

LESSONS = "lessons.js"
ARCHIVE = "linebounce-teach.tar.gz"
_INDEX = "index.html"
_MOST_BYTES = 64 << 20  # of an archive's files in all


def built_page(engine: Engine) -> Path:
    """The folder with the page's own files, or the archive of them that each release has. Raises UsageError, which says where
    to get them, if there is none."""
    root = engine.root
    folders = (root / "build" / "teach", root.parent.parent / "share" / "linebounce" / "teach", root / "share" / "teach")
    for place in folders:
        if (place / _INDEX).is_file():
            return place
    archives = (Path(ARCHIVE), root / "build" / "packages" / ARCHIVE)
    for archive in archives:
        if archive.is_file():
            return archive
    raise UsageError(
        f"the lesson page has not been built: there is no {folders[0] / _INDEX}. Put {ARCHIVE}, which is beside the packages "
        f"of each release, into this folder and type the command again; or unpack it and open its {_INDEX} in a browser; or "
        "build it, which takes minutes: ./dev teach. Without the page: linebounce teach --lesson 1"
    )


def write_site(engine: Engine, directory: Path) -> Path:
    """Writes the whole page with its lessons, and returns the path of its index. Files appear whole or not at all."""
    page = built_page(engine)
    lessons = script(Library(engine).compiled()).encode()
    files = list(_packed_files(page) if page.is_file() else _files(page))
    make_own_folder(directory)  # only now: a refused command leaves no folder
    for name, content in files:
        target = inner_path(directory, name)
        if name != LESSONS and target.resolve() != (page / name).resolve():
            write_file(target, content)
    write_file(directory / LESSONS, lessons)
    return directory / _INDEX


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), read_file(file)


def _packed_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The files in the archive, whose names begin with the name of its one folder. Raises UsageError if it is damaged."""
    try:
        with tarfile.open(archive) as packed:
            members = [member for member in packed if member.isfile()]
            if sum(member.size for member in members) > _MOST_BYTES:
                raise UsageError(f"{archive}: has more than {_MOST_BYTES >> 20} MiB of files, and is no page of ours")
            for member in members:
                content = packed.extractfile(member)
                if content:
                    yield member.name.partition("/")[2], content.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise UsageError(f"{archive}: cannot be unpacked: {error}") from None


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Requests are not logged."""


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Prints no error if the browser disconnects in the middle of a file."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def serve(directory: Path, port: int) -> None:
    """Serves until Ctrl-C. Raises UsageError if the port is taken."""
    handler = functools.partial(_Handler, directory=str(directory))
    try:
        server = _Server(("127.0.0.1", port), handler)
    except OSError as error:
        raise UsageError(f"cannot serve on port {port}: {error.strerror}") from None
    with server:
        try:
            print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
            print("Ctrl-C ends it.", flush=True)
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            print()
