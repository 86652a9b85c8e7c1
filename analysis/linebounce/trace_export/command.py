"""The command `linebounce trace export`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import linebounce
from linebounce.commands import exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import written_whole
from linebounce.usage import whole_number
from linebounce.visible import print_line

_EXAMPLES = """Examples:
  linebounce run lock_scaling --set run.record_timeline=true -o out/locks
  linebounce trace export out/locks --point 7 --perfetto locks.pftrace      one point of a sweep
  linebounce trace export out/locks/points/7 --perfetto locks.pftrace       the same
  linebounce trace export out/oltp --perfetto oltp.pftrace                  then open oltp.pftrace in ui.perfetto.dev

The tracks are CPUs (functions and sleep, with their misses below), locks (holders, with the waiting CPUs below), buses (address
and data), links and grace periods. A workload's series (series.csv) become counters, even without a timeline. Times are rounded
to whole nanoseconds, because Perfetto has no finer ones.

Exit codes: 0 done; 2 wrong usage or a file that can't be written; 3 results that can't be read, or without a timeline."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce trace export", lambda: _export(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Write the timeline of a run (--set run.record_timeline=true) as a trace for the Perfetto viewer"
    parser = parser_of("linebounce trace export", description, _EXAMPLES, usage="[OPTIONS] DIR")
    parser.add_argument("directory", metavar="DIR", type=Path, help="A results directory, as `linebounce run` writes it")
    parser.add_argument("--point", metavar="K", type=whole_number(0), help="The point of a sweep, counted from 0")
    parser.add_argument("--perfetto", metavar="FILE", type=Path, required=True, help="The trace to write")
    return parser.parse_args(arguments)


def _export(arguments: argparse.Namespace) -> int:
    results = linebounce.open(arguments.directory)
    if arguments.point is None and len(results.points) > 1:
        last = results.points[-1].number
        raise UsageError(f"{arguments.directory}: a sweep of {len(results.points)} points; choose one: --point 0 to {last}")
    numbers = [point.number for point in results.points]
    if arguments.point is not None and arguments.point not in numbers:
        legal = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else numbers[0]
        raise UsageError(f"--point: {arguments.point} is out of range; legal: {legal}")
    point = results.point(arguments.point).number
    series = results.series.filter(point=point)
    timeline = results.timeline(point) if results.has_timeline(point) or series.is_empty() else None
    # Perfetto's message classes load slowly, so they are imported only after the run has been read.
    from linebounce.trace_export.perfetto_file import write_perfetto  # noqa: PLC0415
    from linebounce.trace_export.tracks import counters_of, tracks_of  # noqa: PLC0415

    tracks = tracks_of(timeline) if timeline is not None else []
    with written_whole(arguments.perfetto) as file:
        spans, samples = write_perfetto(tracks, counters_of(series), file)
    print_line(f"{arguments.perfetto}: {spans} spans{f', {samples} samples of counters' if samples else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
