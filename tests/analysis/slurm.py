"""A real one-node Slurm from Debian's packages, inside a directory."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cluster import wait_for

PROGRAMS = ["slurmctld", "slurmd", "sbatch", "sinfo"]

# Runs Slurm without munge, cgroups and accounting, as the user who runs the tests.
_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
KillWait=5
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=2000 State=UNKNOWN
PartitionName=normal Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs() -> list[str]:
    """The Slurm programs that are not installed: slurmctld and slurmd are in /usr/sbin, which a user's PATH may lack."""
    return [name for name in PROGRAMS if _path(name) is None]


@contextlib.contextmanager
def slurm(directory: Path) -> Iterator[dict[str, str]]:
    """A Slurm whose node is idle and accepts jobs; yields the environment in which Slurm's commands find it."""
    for name in ["state", "spool"]:
        (directory / name).mkdir(parents=True)
    configuration = directory / "slurm.conf"
    text = _CONFIGURATION.format(
        directory=directory,
        host=socket.gethostname().split(".")[0],
        user=os.environ.get("USER", "root"),
        controller_port=_free_port(),
        node_port=_free_port(),
        cpus=os.cpu_count(),
    )
    configuration.write_text(text)
    # slurmd detects the system's cgroup version although nothing here uses cgroups, and exits if none are mounted.
    (directory / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={directory}/cgroup\n")
    environment = {"SLURM_CONF": str(configuration)}
    daemons = []
    try:
        for name in ["slurmctld", "slurmd"]:
            daemons.append(_start(name, directory, environment))
        wait_for(lambda: "idle" in _said("sinfo", environment), 60)
        yield environment
    finally:
        for daemon in reversed(daemons):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()


def jobs(environment: dict[str, str]) -> str:
    """The output of squeue; empty without a job."""
    return _said("squeue", environment, "--noheader")


def _start(name: str, directory: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    with (directory / f"{name}.out").open("wb") as output:
        return subprocess.Popen(
            [str(_path(name)), "-D"],
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def _said(command: str, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([command, *arguments], env=os.environ | environment, capture_output=True, text=True, check=False)
    return done.stdout


def _path(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
