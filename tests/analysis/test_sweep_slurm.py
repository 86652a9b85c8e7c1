"""`linebounce sweep --slurm` on a real Slurm."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Sweeps, finished_points, wait_for
from network import is_loopback, missing, other_machine
from program import Program
from results import assert_same_data, check_results_directory
from slurm import jobs, missing_programs, slurm

pytestmark = [
    pytest.mark.skipif(bool(missing_programs()), reason=f"Slurm's {', '.join(missing_programs())} not installed: ./dev setup"),
    pytest.mark.skipif(os.geteuid() != 0, reason="Slurm's daemons start jobs as root only"),
    pytest.mark.skipif(importlib.util.find_spec("dask_jobqueue") is None, reason="dask-jobqueue is not installed: ./dev setup"),
]

SHORT = ["lock_scaling", "--set", "run.measure_us=20", "--set", "run.seeds=1", "--set", "machine.cpus=4"]
NODE = "queue=normal,cores=1,memory=500MB,walltime=00:10:00"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm(tmp_path_factory.mktemp("slurm") / "slurm") as environment:
        yield environment


@pytest.fixture
def sweeps(executable: Path, tmp_path: Path, environment: dict[str, str]) -> Iterator[Sweeps]:
    sweeps = Sweeps(executable, tmp_path)
    sweeps.environment |= environment
    yield sweeps
    sweeps.end_all()


def test_two_jobs_of_slurm_make_the_results_of_a_run(sweeps: Sweeps, linebounce: Program, environment: dict[str, str]) -> None:
    result = sweeps(*SHORT, "-o", "out", "--slurm", NODE, "--workers", "2", seconds=180)
    assert result.code == 0, result.stderr
    out = sweeps.directory / "out"
    assert len(finished_points(out)) == 18
    assert [path.name for path in sweeps.directory.iterdir()] == ["out"]
    assert list((out / "slurm").iterdir()), "what the jobs said"
    shutil.rmtree(out / "slurm")
    check_results_directory(out)
    assert_same_data(out, linebounce.run(*SHORT[:1], "run", *SHORT[1:], "-j", "1"))
    assert not [line for line in jobs(environment).splitlines() if " CG " not in line], "its jobs have ended"


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_others_in_the_network_cannot_give_work_to_the_scheduler_or_a_worker(sweeps: Sweeps) -> None:
    out = sweeps.directory / "out"
    sweeps.sweep(*SHORT[:1], "--set", "run.measure_us=2000000", "-o", "out", "--slurm", NODE)
    wait_for((out / "points" / "0").exists, 60)
    sockets = sorted(sweeps.sockets())
    with other_machine() as machine:
        tried = machine.tries(sockets)
    local = [is_loopback(address) for address, _ in sockets]
    assert tried == ["closed" if is_local else "refuses" for is_local in local], sockets
    assert local.count(True) == 2, "HTTP servers of the scheduler and the worker"
    assert local.count(False) >= 2, "the scheduler and a worker"
    assert [folder.stat().st_mode & 0o777 for folder in (out / "slurm").glob(".tls-*")] == [0o700]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (f"{NODE},protocol=tcp", "protocol cannot be set: all that is started speaks TLS"),
        (f"{NODE},interface=nosuch0", "'nosuch0' is not a valid network interface"),
        ("queue=normal", "must specify how much cores and memory"),
        (f"{NODE},colour=red", "unexpected keyword argument 'colour'"),
        (NODE.replace("normal", "nosuch"), "Slurm refuses the job of a worker: sbatch: error: invalid partition"),
    ],
)
def test_options_that_slurm_rejects_are_a_one_line_error(sweeps: Sweeps, options: str, part: str) -> None:
    result = sweeps(*SHORT, "-o", "out", "--slurm", options)
    assert result.code == 2
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (sweeps.directory / "out").exists()
