"""The machine as config.toml describes it: which CPUs are where."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linebounce.results import Results, read_document, reading
from linebounce.visible import visible_name


@dataclass(frozen=True)
class Machine:
    """The [machine] table of a configuration. A CPU is a hardware thread. CPUs numbered `cpus` and above exist but are
    not used."""

    config: Mapping[str, Any]

    def check(self) -> None:
        """Raises KeyError, TypeError or ValueError if the table lacks something that every machine has."""
        _ = self.line_bytes

    @property
    def title(self) -> str:
        return visible_name(str(self.config.get("title") or self.config.get("name", "the machine")))

    @property
    def cpus(self) -> int:
        return int(self.config["cpus"])

    @property
    def nodes(self) -> int:
        return int(self.config.get("nodes", 1))

    @property
    def buses_per_node(self) -> int:
        return int(self.config.get("buses_per_node", 1))

    @property
    def caches(self) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The private caches, nearest first."""
        return [(name, self.config["cache"][name]) for name in self.config["cache_levels"]]

    @property
    def line_bytes(self) -> int:
        """The size of a coherence line: the bus's if given, otherwise that of the last cache."""
        return int(self.config["bus"].get("line_bytes") or self.caches[-1][1]["line_bytes"])

    def nodes_with_cpus(self) -> Sequence[int]:
        return self._listed(str(self.config.get("cpu_nodes", "all")))

    def nodes_with_memory(self) -> Sequence[int]:
        return self._listed(str(self.config["memory"].get("nodes", "all")))

    def _listed(self, words: str) -> Sequence[int]:
        return range(self.nodes) if words == "all" else [int(word) for word in words.split()]

    def cpus_of_node(self, node: int) -> Sequence[int]:
        """The numbers of the CPUs on a node, which `cpu_order` decides."""
        places = list(self.nodes_with_cpus())
        if node not in places:
            return []
        present = range(int(self.config.get("cpus_present", self.cpus)))
        return self._part(present, places.index(node), len(places))

    def cores_of_bus(self, node: int, bus: int) -> Sequence[Sequence[int]]:
        """The CPUs behind one bus of a node, in a list for each core."""
        cpus = self._part(self.cpus_of_node(node), bus, self.buses_per_node)
        threads = int(self.config["cpu"].get("threads_per_core", 1))
        cores = len(cpus) // threads
        return [self._part(cpus, core, cores) for core in range(cores)]

    def _part(self, cpus: Sequence[int], place: int, places: int) -> Sequence[int]:
        """Which of `cpus` belong to one of several places: every `places`-th one with `spread`, a run of consecutive
        ones with `fill`."""
        if self.config.get("cpu_order", "spread") == "spread":
            return cpus[place::places]
        each = len(cpus) // places
        return cpus[place * each : (place + 1) * each]


def machine_of(results: Results, point: int) -> Machine:
    """The machine of a point, which may be another one at each point of a sweep. Falls back to the run's for a point
    that failed."""
    own = results.directory / "points" / str(point) / "config.toml"
    path = own if own.exists() else results.directory / "config.toml"
    with reading(path):
        return Machine(read_document(path, tomllib.loads)["machine"])
