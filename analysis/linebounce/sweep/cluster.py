"""The Dask cluster that runs a sweep: its own on this machine, one that is there, or one that Slurm or Kubernetes starts."""

import importlib
import importlib.util
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from linebounce.errors import UsageError

CONNECT_TIMEOUT_S = 10


@dataclass(frozen=True)
class ClusterOptions:
    """At most one of scheduler, slurm and kubernetes is set; none: this machine."""

    workers: int | None = None  # here: simulations at the same time; Slurm: jobs; Kubernetes: pods
    scheduler: str = ""
    slurm: str = ""
    kubernetes: str = ""

    @property
    def local(self) -> bool:
        return not (self.scheduler or self.slurm or self.kubernetes)


@contextmanager
def open_client(options: ClusterOptions, tell: Callable[[str], None]) -> Iterator[Any]:
    """A client of the cluster; what was started for it is stopped at the end. `tell` is called with lines for the user.

    UsageError when a package is missing or a scheduler does not answer.
    """
    distributed = _need("distributed", "distributed")
    # What the library says of lost connections is said by the sweep, once and in a line.
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
        tell(f"dashboard {_local_dashboard(cluster) if options.local else cluster.dashboard_link}")
        yield client


def _start(distributed: Any, options: ClusterOptions) -> Any:
    if options.slurm:
        keywords = _keywords("--slurm", options.slurm)
        cluster = _need("dask_jobqueue", "dask-jobqueue").SLURMCluster(**keywords)
        cluster.scale(jobs=options.workers or 1)
        return cluster
    if options.kubernetes:
        keywords = _keywords("--kubernetes", options.kubernetes)
        operator = _need("dask_kubernetes.operator", "dask-kubernetes")
        return operator.KubeCluster(n_workers=options.workers or 1, **keywords)
    # Points are processes of their own already: threads that wait for them are enough, and start at once.
    at_once = options.workers or len(os.sched_getaffinity(0))
    return distributed.LocalCluster(
        n_workers=1, threads_per_worker=at_once, processes=False, dashboard_address="127.0.0.1:0", memory_limit=0
    )


def _need(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise UsageError(f"this needs the Python package {package}, which is not installed: pip install {package}") from None


def _local_dashboard(cluster: Any) -> str:
    """On this machine alone, whatever address the machine has for others."""
    link = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/status"
    return link if importlib.util.find_spec("bokeh") else f"{link} (without pictures: they need the Python package bokeh)"


def _connect(distributed: Any, address: str) -> Any:
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tcp", "tls", "ws", "wss") or not parts.hostname or port is None:
        raise UsageError(f'--scheduler "{address}": must be an address such as tcp://host:8786')
    try:
        return distributed.Client(address, timeout=CONNECT_TIMEOUT_S)
    except OSError:
        raise UsageError(
            f"no scheduler answers at {address} (waited {CONNECT_TIMEOUT_S} s): check that `dask scheduler` runs there, that "
            "host and port are right, and that no firewall is between"
        ) from None


def _keywords(option: str, text: str) -> dict[str, int | str]:
    """queue=normal,cores=16,memory=32GB: the keyword arguments of the cluster's class."""
    keywords: dict[str, int | str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f'{option} "{text}": "{part}" must be KEY=VALUE, such as queue=normal,cores=16,memory=32GB')
        keywords[key] = int(value) if value.isdecimal() else value
    return keywords
