"""Bundles the scripts that draw a report's charts in a browser."""

import gzip
import os
import zlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.files import write_file
from linebounce.supervised import limit_of_memory

_BUNDLER_BYTES = 4 << 30  # the bundler needs this much address space


def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed bundled as one script.

    Bundling takes longer than the rest of a report and depends only on vl_convert's version, so the bundle is kept in
    the user's cache folder. It is compressed there, so that decompression detects damage. If it can't be cached, each
    report bundles it again.
    """
    kept = None
    with suppress(RuntimeError):  # raised if the user has no home directory
        kept = _cached_files() / f"vega-{version('vl-convert-python')}.js.gz"
        with suppress(OSError, EOFError, zlib.error):
            if bundle := gzip.decompress(kept.read_bytes()).decode():  # the cached file may be empty
                return bundle
    if (limit_of_memory() or _BUNDLER_BYTES) < _BUNDLER_BYTES:
        raise MemoryError  # without this check, the bundler would abort the process
    import vl_convert  # noqa: PLC0415  # it takes hundreds of MB of addresses

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub lacks the default of the snippet
    if kept is not None:
        with suppress(UsageError):
            write_file(kept, gzip.compress(bundle.encode(), mtime=0))
    return bundle


def _cached_files() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linebounce"
