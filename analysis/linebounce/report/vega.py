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

    Bundling takes longer than the rest of a report, and its result depends only on vl_convert's version. So it is cached in the
    user's cache folder, compressed so that damage is noticed, and made again if it can't be cached.
    """
    kept = None
    with suppress(RuntimeError):  # there may be no home directory
        kept = _cached_files() / f"vega-{version('vl-convert-python')}.js.gz"
        with suppress(OSError, EOFError, zlib.error):
            if bundle := gzip.decompress(kept.read_bytes()).decode():  # the cached file may be empty
                return bundle
    if (limit_of_memory() or _BUNDLER_BYTES) < _BUNDLER_BYTES:
        raise MemoryError  # without enough memory, the bundler would end the process
    import vl_convert  # noqa: PLC0415  # it takes hundreds of MB of addresses

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub lacks the default of the snippet
    if kept is not None:
        with suppress(UsageError):
            write_file(kept, gzip.compress(bundle.encode(), mtime=0))
    return bundle


def _cached_files() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linebounce"
