"""How fast this machine is at the moment, for tests with a bound in seconds: it may be slow, or do other work as well."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

# One second of an idle core of 2.5 GHz.
ONE_SECOND = "x = 0\nfor i in range(12_000_000): x += i & 7"


@dataclass
class Took:
    clock: float  # seconds
    processor: float  # seconds, of the processes that were started


def took(work: Callable[[], object]) -> Took:
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return Took(end - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def one_second() -> Took:
    return took(lambda: subprocess.run([sys.executable, "-c", ONE_SECOND], check=True))
