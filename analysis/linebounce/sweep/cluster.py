"""Opens the Dask cluster for a sweep: a new one on this machine, an existing one, or one that Slurm or Kubernetes starts."""

import atexit
import contextlib
import importlib
import importlib.util
import logging
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from linebounce.errors import UsageError
from linebounce.files import make_folder
from linebounce.own_folder import make_own_folder, remove_if_unused

CONNECT_TIMEOUT_S = 10
_SBATCH_TIMEOUT_S = 60
# HTTP servers of a cluster have neither TLS nor passwords, so they listen on this machine only. Port 0 means any free port,
# because another sweep may use Dask's usual one.
_LOOPBACK = "127.0.0.1:0"
# A worker on another machine starts an HTTP server even with --no-dashboard, so it must listen locally.
_WORKER_ARGUMENTS = ["--no-dashboard", "--dashboard-address", _LOOPBACK]
# Keyword arguments of SLURMCluster that a user may not set, because with them anyone on the network could run code as this
# user.
_FIXED = ("security", "protocol")
_ROLES = ("client", "scheduler", "worker")


@dataclass(frozen=True)
class ClusterOptions:
    """Where a sweep runs. At most one of scheduler, slurm and kubernetes is set; if none is, it runs on this machine."""

    # How many simulations on this machine, jobs in Slurm, or pods in Kubernetes run at the same time.
    workers: int | None = None
    scheduler: str = ""
    slurm: str = ""
    kubernetes: str = ""
    logs: Path = Path()  # with Slurm: the folder for the jobs' output

    @property
    def local(self) -> bool:
        return not (self.scheduler or self.slurm or self.kubernetes)

    @property
    def where_workers_are(self) -> str:
        """Where to look for the reason while the cluster has no worker."""
        if self.slurm:
            return f"`squeue --me` tells what became of the jobs, and what they said is in {self.logs}"
        if self.kubernetes:
            return "`kubectl get pods` tells what became of the pods"
        return f"`dask worker {self.scheduler}` starts one"


@contextlib.contextmanager
def open_client(options: ClusterOptions, tell: Callable[[str], None]) -> Iterator[Any]:
    """Yields a client of the cluster. At the end, stops everything that was started for the cluster. `tell`: prints a
    line for the user.

    Raises UsageError if a package is missing or a scheduler does not answer.
    """
    distributed = _need("distributed", "distributed")
    # The library logs each lost connection. The sweep reports them once, in one line, so the log is switched off.
    for name in ("asyncio", "tornado", *logging.root.manager.loggerDict):
        if name.startswith(("asyncio", "distributed", "tornado")):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.scheduler:
        client = _connect(distributed, options.scheduler)
        try:
            tell(f"scheduler {options.scheduler}, dashboard {client.dashboard_link}")
            yield client
        finally:
            client.close(timeout=2)
        return
    with _start(distributed, options) as cluster, distributed.Client(cluster) as client:
        tell(f"dashboard {cluster.dashboard_link if options.kubernetes else _local_dashboard(cluster)}")
        yield client


def _start(distributed: Any, options: ClusterOptions) -> Any:
    if options.slurm:
        return _slurm_cluster(options)
    if options.kubernetes:
        return _start_kubernetes(options)
    # Points run in processes of their own, so workers can be threads that wait for them. Threads start faster.
    at_once = options.workers or len(os.sched_getaffinity(0))
    try:
        return distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=at_once,
            processes=False,
            dashboard_address=_LOOPBACK,
            worker_dashboard_address=_LOOPBACK,
            memory_limit=0,
        )
    except (OSError, RuntimeError) as error:  # a scratch folder can't be made, or a port can't be opened
        raise UsageError(f"the workers can't be started: {_first_line(error)}") from None


@contextlib.contextmanager
def _slurm_cluster(options: ClusterOptions) -> Iterator[Any]:
    keywords = _keywords("--slurm", options.slurm)
    fixed = next((key for key in _FIXED if key in keywords), None)
    if fixed:
        raise UsageError(
            f'--slurm "{options.slurm}": {fixed} cannot be set: all that is started speaks TLS, with a key of its own'
        )
    jobqueue = _need("dask_jobqueue", "dask-jobqueue")
    dask: Any = importlib.import_module("dask")
    of_configuration = dask.config.get("jobqueue.slurm.worker-extra-args", None) or []
    defaults = {"log_directory": str(options.logs), "worker_extra_args": [*of_configuration, *_WORKER_ARGUMENTS]}
    with _key(options.logs) as security:
        try:
            cluster = jobqueue.SLURMCluster(
                security=security, scheduler_options={"dashboard_address": _LOOPBACK}, **(defaults | keywords)
            )
        except (RuntimeError, TypeError, ValueError) as error:
            raise UsageError(f'--slurm "{options.slurm}": {_first_line(error.__cause__ or error)}') from None
        with cluster:
            _try_job(cluster.job_script())
            cluster.scale(jobs=options.workers or 1)
            yield cluster


@contextlib.contextmanager
def _key(folder: Path) -> Iterator[Any]:
    """Makes a TLS certificate for this sweep, in files that only the user can read. Scheduler and workers refuse
    connections without it. That is why they may listen on all network interfaces."""
    _need("cryptography", "cryptography")
    security = _need("distributed", "distributed").Security
    temporary = security.temporary().get_tls_config_for_role("worker")
    try:
        make_own_folder(folder.parent)
        make_folder(folder)
        with tempfile.TemporaryDirectory(prefix=".tls-", dir=folder) as place:
            files = {name: Path(place) / name for name in ("ca_file", "cert", "key")}
            for name, file in files.items():
                file.write_text(temporary[name])
            of_roles = {f"tls_{role}_{name}": str(files[name]) for role in _ROLES for name in ("cert", "key")}
            yield security(require_encryption=True, tls_ca_file=str(files["ca_file"]), **of_roles)
    except OSError as error:
        raise UsageError(f"--slurm: {folder}: cannot be written: {error.strerror}") from None
    finally:
        for unused in (folder, folder.parent):
            remove_if_unused(unused)


def _try_job(script: str) -> None:
    """Asks Slurm whether it would accept the job. Dask doesn't report a refusal, so the sweep would wait forever."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(script)
        file.flush()
        command = ["sbatch", "--test-only", file.name]
        try:
            tried = subprocess.run(command, capture_output=True, text=True, timeout=_SBATCH_TIMEOUT_S, check=False)
        except FileNotFoundError:
            raise UsageError("--slurm: there is no sbatch here; start the sweep where jobs are submitted") from None
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"--slurm: sbatch has not answered for {_SBATCH_TIMEOUT_S} s; check with `sinfo` that Slurm's controller runs"
            ) from None
    if tried.returncode != 0:
        said = " ".join(tried.stderr.split()) or f"exit code {tried.returncode}"
        raise UsageError(f"--slurm: Slurm refuses the job of a worker: {said}")


def _start_kubernetes(options: ClusterOptions) -> Any:
    keywords = _keywords("--kubernetes", options.kubernetes)
    operator = _need("dask_kubernetes.operator", "dask-kubernetes")
    try:
        return operator.KubeCluster(n_workers=options.workers or 1, quiet=True, **keywords)
    except Exception as error:  # dask_kubernetes passes on exceptions of every library below it
        # another attempt would contact the same cluster and fail in the same way
        atexit.unregister(operator.kubecluster.kubecluster.reap_clusters)
        raise UsageError(
            f'--kubernetes "{options.kubernetes}": no cluster was started: {_first_line(error)}; check that '
            "`kubectl get nodes` answers, and that `kubectl get daskclusters` knows Dask's operator"
        ) from None


def _first_line(error: BaseException) -> str:
    """The first sentence of a library's error message; the rest is advice for programmers."""
    return re.split(r"\n|\. |, for example", str(error).strip())[0] or type(error).__name__


def _need(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise UsageError(f"this needs the Python package {package}, which is not installed: pip install {package}") from None


def _local_dashboard(cluster: Any) -> str:
    """The address of the dashboard if it is on this machine; otherwise empty."""
    link = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/status"
    return link if importlib.util.find_spec("bokeh") else f"{link} (without pictures: they need the Python package bokeh)"


def _connect(distributed: Any, address: str) -> Any:
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tcp", "tls", "ws", "wss") or not parts.hostname or port is None:
        raise UsageError(f"--scheduler {address}: must be an address such as tcp://host:8786")
    try:
        return distributed.Client(address, timeout=CONNECT_TIMEOUT_S)
    except OSError:
        raise UsageError(
            f"no scheduler answers at {address} (waited {CONNECT_TIMEOUT_S} s): check that `dask scheduler` runs there, that "
            "host and port are right, and that no firewall is between"
        ) from None


def _keywords(option: str, text: str) -> dict[str, int | str]:
    """Parses "queue=normal,cores=16,memory=32GB" into keyword arguments of the cluster's class."""
    keywords: dict[str, int | str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f'{option} {text}: "{part}" must be KEY=VALUE, such as queue=normal,cores=16,memory=32GB')
        keywords[key] = int(value) if value.isdecimal() else value
    return keywords
