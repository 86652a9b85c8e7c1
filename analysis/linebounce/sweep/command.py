"""The command `linebounce sweep`: runs the points of `linebounce run` on a Dask cluster, or finds which parameters move a
metric."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from linebounce.commands import CHECK_FAILED, DONE, INTERRUPTED, exit_code, parser_of
from linebounce.own_folder import require_own_folder
from linebounce.program import Experiment, Plan, find_program
from linebounce.supervised import PREFIX
from linebounce.sweep.cluster import ClusterOptions, open_client
from linebounce.sweep.merge import merge, sign
from linebounce.sweep.points import Job, digest, status_of
from linebounce.usage import whole_number
from linebounce.visible import visible_name

_LOG_LINES = 15  # lines to show of a failed point's log
_SHOWN_FAILURES = 5  # failed points whose log is shown

_EXAMPLES = """Examples:
  linebounce sweep lock_scaling                                  the same as `linebounce run lock_scaling`
  linebounce sweep my_locks.toml -o out/slow --set machine.memory.latency_ns=200
  linebounce sweep my_locks.toml --scheduler tcp://host:8786     on a cluster: `dask scheduler`, `dask worker tcp://host:8786`
  linebounce sweep my_locks.toml --slurm queue=normal,cores=16,memory=32GB,walltime=02:00:00 --workers 8
  linebounce sweep my_locks.toml --kubernetes name=sweep,image=my/linebounce --workers 8

Find which parameters move a metric, and by how much:
  linebounce sweep my_locks.toml --vary machine.memory.latency_ns=20% --metric latency.local_c2c.mean_ns

To resume a sweep that ended for any reason, give the same command again: finished points are kept. A point that fails runs a
second time.

Exit codes: 0 done; 1 some points failed or the scheduler was lost; 2 wrong usage or no scheduler; 3 input that can't be read;
130 interrupted."""


@dataclass(frozen=True)
class Sweep:
    """What a sweep runs, where its results go, and on which cluster."""

    experiment: Experiment
    directory: Path  # an absolute path
    fresh: bool
    cluster: ClusterOptions
    command: tuple[str, ...]  # the command line as typed
    metric: str = ""  # with --vary: the metric that it measures
    variations: int = 0

    def first(self, plan: Plan) -> Sequence[int]:
        """The points to run first, to find out early whether the metric exists."""
        from linebounce.sweep.sensitivity import base_points  # noqa: PLC0415

        return base_points(len(plan.at), self.variations) if self.metric else ()

    def knows_metric(self, plan: Plan) -> bool:
        """Whether all of the first points have ended. Raises UsageError if they have and none of them has the metric."""
        if not self.metric:
            return True
        from linebounce.sweep.sensitivity import know_metric  # noqa: PLC0415

        return know_metric(self.metric, [plan.point_directory(self.directory, point) for point in self.first(plan)])


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce sweep", lambda: _run(_parse(arguments)))


def tell(line: str) -> None:
    print(f"{PREFIX}{visible_name(line)}", file=sys.stderr, flush=True)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.output:
        require_own_folder(arguments.output)
    experiment = _experiment(arguments)

    def sweep_of(experiment: Experiment, directory: Path, variations: int = 0) -> Sweep:
        where = (arguments.workers, arguments.scheduler, arguments.slurm, arguments.kubernetes)
        cluster = ClusterOptions(*where, logs=directory / "slurm")
        about = (arguments.metric or "", variations)
        return Sweep(experiment, directory, arguments.fresh, cluster, arguments.command, *about)

    if arguments.vary:
        from linebounce.sweep.sensitivity import Study, prepare  # noqa: PLC0415

        varied, directory, variations = prepare(experiment, arguments.vary, lambda name: _output(arguments, name))
        code = run_sweep(sweep_of(varied, directory, len(variations)), merged=lambda _: None)
        if status_of(directory) in ("complete", "failed"):
            Study(directory, arguments.metric, variations).show()
        return code
    name = "" if arguments.output else experiment.plan().experiment
    return run_sweep(sweep_of(experiment, _output(arguments, name)), merged=_print_merged)


def _output(arguments: argparse.Namespace, name: str) -> Path:
    chosen: Path = arguments.output or Path("out") / name
    return chosen.absolute()


def _is_file(path: Path) -> bool:
    """Whether the text names a file; false for a name that no file system accepts."""
    with suppress(OSError):
        return path.is_file()
    return False


def _experiment(arguments: argparse.Namespace) -> Experiment:
    source = Path(arguments.experiment)
    overrides = [option for setting in arguments.set for option in ("--set", setting)]
    if arguments.machine:
        machine = Path(arguments.machine)
        overrides += ["--machine", str(machine.absolute()) if _is_file(machine) else arguments.machine]
    if arguments.seed is not None:
        overrides += ["--seed", str(arguments.seed)]
    return Experiment(find_program(), str(source.absolute()) if _is_file(source) else arguments.experiment, tuple(overrides))


def run_sweep(sweep: Sweep, merged: Callable[[str], None]) -> int:
    """Runs the missing points, then merges. Calls `merged` with the output of `linebounce run --merge`. Returns the
    exit code."""
    experiment, directory = sweep.experiment, sweep.directory
    require_own_folder(directory)
    begun = datetime.now(UTC)
    plan = experiment.plan(None if sweep.fresh else directory)
    missing = [point for point in range(len(plan.at)) if point not in plan.done]
    failed: dict[int, str] = {}
    code = DONE
    if plan.done.issuperset(sweep.first(plan)):
        sweep.knows_metric(plan)
    if missing:
        code, failed = _run_points(sweep, plan, missing)
    merge_code, output, complaints = merge(experiment, directory, ran=bool(missing))
    if missing:
        sign(directory, sweep.command, begun)
    if code == INTERRUPTED:
        tell(f"interrupted; what is finished is in {directory}, and the same command goes on from there")
        return code
    merged(output)
    if failed:
        _print_failures(experiment, directory, plan, failed)
    if merge_code != 0 and code == DONE:
        print(f"{PREFIX}{complaints}", file=sys.stderr, flush=True)
        return merge_code
    return code


def _run_points(sweep: Sweep, plan: Plan, missing: list[int]) -> tuple[int, dict[int, str]]:
    """Runs the points on the cluster. Returns the exit code, and the program's message for each failed point."""
    with open_client(sweep.cluster, tell) as client:
        # Imported only now, because open_client() has reported Dask if it is missing.
        from linebounce.sweep.dispatch import Dispatcher, Progress, SchedulerLostError  # noqa: PLC0415
        from linebounce.sweep.progress import ProgressBar  # noqa: PLC0415

        if sweep.fresh or not (sweep.directory / "manifest.json").exists():
            sweep.experiment.start(sweep.directory, fresh=sweep.fresh)
        progress = Progress(len(plan.at), done=len(plan.done))
        with ProgressBar(plan.experiment, progress, tell) as bar:
            known = False

            def show(line: str) -> None:
                nonlocal known
                bar.show(line)
                known = known or sweep.knows_metric(plan)

            dispatcher = Dispatcher(client, _job(sweep, plan), progress, show, sweep.cluster.where_workers_are)
            first = sweep.first(plan)
            try:
                dispatcher.run(sorted(missing, key=lambda point: point not in first))
            except KeyboardInterrupt:
                dispatcher.stop()
                return INTERRUPTED, progress.failed
            except SchedulerLostError:
                bar.close()
                # Workers that write into the directory go on for a moment after the scheduler is gone, so this counts the
                # finished points again.
                done = len(sweep.experiment.plan(sweep.directory).done)
                tell(
                    f"the scheduler is gone; {done} of {progress.points} points are finished in {sweep.directory}, "
                    "and the same command goes on from there"
                )
                return CHECK_FAILED, progress.failed
            except BaseException:
                dispatcher.stop()
                raise
        return CHECK_FAILED if progress.failed else DONE, progress.failed


def _job(sweep: Sweep, plan: Plan) -> Job:
    return Job(
        name=f"{plan.experiment}-{os.getpid()}-{time.time_ns()}",
        experiment=sweep.experiment,
        directory=sweep.directory,
        manifest=digest(sweep.directory / "manifest.json"),
        swept=plan.swept,
        folder=str(Path.cwd()),
        root=os.environ.get("LINEBOUNCE_ROOT", ""),
        resolved="" if sweep.cluster.local else sweep.experiment.resolved(),
    )


def _print_merged(output: str) -> None:
    sys.stdout.write(output)
    sys.stdout.flush()


def _print_failures(experiment: Experiment, directory: Path, plan: Plan, failed: dict[int, str]) -> None:
    for point in sorted(failed)[:_SHOWN_FAILURES]:
        lines = failed[point].splitlines() or ["it said nothing"]
        tell(f"{plan.point_name(point)} failed twice:")
        for line in lines[:_LOG_LINES]:
            print(f"  {line}", file=sys.stderr)
        if len(lines) > _LOG_LINES:
            print(f"  ... {len(lines) - _LOG_LINES} more lines: {_by_hand(experiment, directory, point)}", file=sys.stderr)
    numbers = " ".join(map(str, sorted(failed)))
    tell(f"{len(failed)} of {len(plan.at)} points failed: {numbers}; the others are merged in {directory}")


def _by_hand(experiment: Experiment, directory: Path, point: int) -> str:
    return shlex.join(["linebounce", *experiment.command("-o", str(directory), "--point", str(point))[1:]])


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Run the points of an experiment on a Dask cluster, on this machine or on many, and merge them"
    parser = parser_of("linebounce sweep", description, _EXAMPLES, usage="[OPTIONS] EXPERIMENT")
    parser.add_argument("experiment", metavar="EXPERIMENT", help="As for `linebounce run`")
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="Results directory; default: out/ and the experiment's name"
    )
    parser.add_argument(
        "--set",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="Override a value of the experiment or its machine; may be repeated",
    )
    parser.add_argument("--machine", metavar="NAME", help="Use this machine instead of the experiment's")
    parser.add_argument(
        "--seed", metavar="N", type=whole_number(0, 2**53), help="Seed of each point's first run; default: the experiment's"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="Start over, and keep earlier results of the directory in a neighbour, DIR.1 and so on",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(1),
        help="Simulations at the same time; with --slurm, jobs; with --kubernetes, pods; default: one for each core",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", default="", help="Use this running Dask scheduler: tcp://host:8786")
    where.add_argument(
        "--slurm",
        metavar="KEY=VALUE,...",
        default="",
        help="Start workers through Slurm, with these options of dask_jobqueue.SLURMCluster",
    )
    where.add_argument(
        "--kubernetes",
        metavar="KEY=VALUE,...",
        default="",
        help="Start workers as pods, with these options of KubeCluster",
    )
    parser.add_argument(
        "--vary",
        metavar="PATH=N%",
        action="append",
        default=[],
        help="Run with this parameter N %% lower and higher; for a table such as machine.bus, with every latency in it",
    )
    parser.add_argument("--metric", metavar="METRIC", help="The metric whose change --vary reports")
    words = sys.argv[1:] if arguments is None else arguments
    parsed = parser.parse_args(words, argparse.Namespace(command=("linebounce", "sweep", *words)))
    if bool(parsed.vary) != bool(parsed.metric):
        parser.error("--vary and --metric belong together: --vary machine.memory.latency_ns=20% --metric METRIC")
    if parsed.scheduler and parsed.workers:
        parser.error("--workers has no effect with --scheduler, whose workers are running already")
    return parsed


if __name__ == "__main__":
    sys.exit(main())
