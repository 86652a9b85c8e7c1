"""Writes the page's files into a folder, and serves them on this machine."""

import functools
import http.server
import socket
import sys
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.files import read_file, write_file
from linebounce.teach.engine import Engine
from linebounce.teach.library import Library, script

LESSONS = "lessons.js"
_INDEX = "index.html"


def built_page(engine: Engine) -> Path:
    """The folder with the page's own files. Raises UsageError, which says how to build them, if there is none."""
    root = engine.root
    places = (root / "build" / "teach", root.parent.parent / "share" / "linebounce" / "teach", root / "share" / "teach")
    for place in places:
        if (place / _INDEX).is_file():
            return place
    raise UsageError(
        f"the lesson page has not been built (no {_INDEX} in {places[0]} or {places[1]}); run ./dev teach once, or use "
        "--lesson N in the terminal"
    )


def write_site(engine: Engine, directory: Path) -> Path:
    """Writes the whole page with its lessons, and returns the path of its index. Files appear whole or not at all."""
    page = built_page(engine)
    lessons = script(Library(engine).compiled()).encode()
    for file in sorted(page.rglob("*")):
        if file.is_file() and file.name != LESSONS:
            target = directory / file.relative_to(page)
            if target.resolve() != file.resolve():
                write_file(target, read_file(file))
    write_file(directory / LESSONS, lessons)
    return directory / _INDEX


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
