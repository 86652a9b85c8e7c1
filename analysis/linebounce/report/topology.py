"""The machine as a drawing: a node with its CPUs, caches, bus, controller and memory, and the network between nodes.

What a run measured on a bus or link is filled in by the page, from the metric that an element names in `data-metric`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

_CPU_WIDTH = 118
_GAP = 14
_CPUS_IN_A_ROW = 4


def _number(value: float) -> str:
    return f"{value:.4g}"


def _size(kib: float) -> str:
    return f"{kib / 1024:g} MiB" if kib >= 1024 else f"{kib:g} KiB"


@dataclass(frozen=True)
class Machine:
    """What of config.toml's [machine] is drawn."""

    config: Mapping[str, Any]

    @property
    def nodes(self) -> int:
        return int(self.config.get("nodes", 1))

    @property
    def buses_per_node(self) -> int:
        return int(self.config.get("buses_per_node", 1))

    @property
    def has_controllers(self) -> bool:
        return "node" in self.config

    def nodes_with_cpus(self) -> list[int]:
        words = str(self.config.get("cpu_nodes", "all"))
        return list(range(self.nodes)) if words == "all" else [int(word) for word in words.split()]

    def cpus_of_node(self, node: int) -> list[int]:
        """Numbers of all CPUs that the node has, also of those that this run left out."""
        places = self.nodes_with_cpus()
        if node not in places:
            return []
        present = int(self.config.get("cpus_present", self.config["cpus"]))
        place = places.index(node)
        if self.config.get("cpu_order", "spread") == "spread":
            return list(range(place, present, len(places)))
        each = present // len(places)
        return list(range(place * each, (place + 1) * each))

    def cpus_of_bus(self, node: int, bus: int) -> list[int]:
        cpus, buses = self.cpus_of_node(node), self.buses_per_node
        if self.config.get("cpu_order", "spread") == "spread":
            return cpus[bus::buses]
        each = math.ceil(len(cpus) / buses)
        return cpus[bus * each : (bus + 1) * each]


class _Drawing:
    """Pieces of an SVG, with the largest y seen."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.pieces.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" vector-effect="non-scaling-stroke"/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "wire", metric: str = "") -> None:
        named = f' data-load="{escape(metric)}"' if metric else ""
        self.pieces.append(f'<line class="{kind}"{named} x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')

    def text(self, x: float, y: float, text: str, kind: str = "", metric: str = "") -> None:
        named = f' data-metric="{escape(metric)}"' if metric else ""
        self.pieces.append(f'<text class="{kind}"{named} x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def svg(self, width: float, height: float, title: str) -> Markup:
        body = "".join(self.pieces)
        head = f'<svg class="topology" viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" role="img"'
        return Markup(f'{head} aria-label="{escape(title)}"><title>{escape(title)}</title>{body}</svg>')  # noqa: S704


def node_drawing(config: Mapping[str, Any], node: int = 0) -> Markup:
    """One node: its CPUs with their caches, the buses, and what lies between a bus and the network."""
    machine = Machine(config)
    drawing = _Drawing()
    buses = [machine.cpus_of_bus(node, bus) for bus in range(machine.buses_per_node)]
    columns = max(min(len(cpus), _CPUS_IN_A_ROW) for cpus in buses) or 1
    bus_width = columns * _CPU_WIDTH + (columns - 1) * _GAP
    width = len(buses) * bus_width + (len(buses) - 1) * 2 * _GAP
    bottom = 0.0
    for i, cpus in enumerate(buses):
        bottom = max(bottom, _bus(drawing, machine, cpus, i * (bus_width + 2 * _GAP), bus_width))
    height = _below_the_buses(drawing, machine, node, width, bottom)
    return drawing.svg(width, height, f"node {node} of {config.get('title', config.get('name', 'the machine'))}")


def _bus(drawing: _Drawing, machine: Machine, cpus: Sequence[int], left: float, width: float) -> float:
    """CPUs in rows above their bus; returns the bus's lower edge."""
    config = machine.config
    caches = config.get("cache_levels", list(config.get("cache", {})))
    box_height = 40 + 32 * len(caches)
    rows = [cpus[i : i + _CPUS_IN_A_ROW] for i in range(0, len(cpus), _CPUS_IN_A_ROW)]
    bus_top = len(rows) * (box_height + _GAP) + 4
    for r, row in enumerate(rows):
        for column, cpu in enumerate(row):
            x = left + column * (_CPU_WIDTH + _GAP)
            middle = x + _CPU_WIDTH / 2
            drawing.line(middle, r * (box_height + _GAP) + box_height, middle, bus_top)
        for column, cpu in enumerate(row):
            _cpu(drawing, machine, cpu, left + column * (_CPU_WIDTH + _GAP), r * (box_height + _GAP), box_height)
    drawing.box(left, bus_top, width, 46, "bus")
    bus = config["bus"]
    rate = bus["clock_mhz"] * bus["width_bytes"]
    drawing.text(left + width / 2, bus_top + 19, f"bus · {bus['protocol']}", "strong")
    speed = f"{_number(bus['clock_mhz'])} MHz × {bus['width_bytes']:g} B = {_number(rate / 1000)} GB/s"
    drawing.text(left + width / 2, bus_top + 36, speed)
    drawing.text(left + width / 2, bus_top + 62, "", "load", "bus.utilisation_pct")
    return bus_top + 68


def _cpu(drawing: _Drawing, machine: Machine, cpu: int, x: float, y: float, height: float) -> None:
    config = machine.config
    clock = float(config["cpu"]["clock_mhz"])
    idle = " absent" if cpu >= int(config["cpus"]) else ""
    drawing.box(x, y, _CPU_WIDTH, height, f"cpu{idle}")
    middle = x + _CPU_WIDTH / 2
    drawing.text(middle, y + 17, f"CPU {cpu}", f"strong{idle}")
    drawing.text(middle, y + 32, "not used" if idle else f"{_number(clock)} MHz", f"small{idle}")
    for level, name in enumerate(config.get("cache_levels", list(config.get("cache", {})))):
        cache = config["cache"][name]
        top = y + 40 + 32 * level
        drawing.line(x, top, x + _CPU_WIDTH, top, "divider")
        drawing.text(middle, top + 13, f"{name}  {_size(cache['size_kib'])}", f"small strong{idle}")
        cycles = cache["hit_latency_cycles"]
        hit = f"{cycles:g} cycle{'s' * (cycles != 1)}, {_number(1000 * cycles / clock)} ns"
        drawing.text(middle, top + 26, hit, f"small{idle}")


def _below_the_buses(drawing: _Drawing, machine: Machine, node: int, width: float, top: float) -> float:
    """Controller, directory and memory, stacked; returns the height of all."""
    config = machine.config
    middle = width / 2
    parts: list[tuple[str, list[str]]] = []
    if machine.has_controllers:
        controller = config["node"]
        lines = [f"a pass {_number(controller['latency_ns'])} ns · occupied {_number(controller['occupancy_ns'])} ns"]
        crossing = f"leaving the node: a message {_number(controller['request_crossing_ns'])} ns,"
        lines.append(f"{crossing} a line {_number(controller['line_crossing_ns'])} ns")
        if controller.get("cache_size_kib"):
            lines.append(f"cache {_size(controller['cache_size_kib'])}, {_number(controller['cache_latency_ns'])} ns")
        parts.append((f"controller · {controller['protocol']}", lines))
    if "directory" in config:
        parts.append((f"directory · {config['directory']['protocol']}", [f"{_number(config['directory']['latency_ns'])} ns"]))
    memory = config["memory"]
    banks = f", {memory['banks']:g} banks" if memory.get("banks") else ""
    memory_nodes = str(memory.get("nodes", "all"))
    if memory_nodes == "all" or str(node) in memory_nodes.split():
        parts.append(("memory", [f"{_number(memory['latency_ns'])} ns{banks}"]))
    box_width = min(width, 340)
    y = top
    for title, lines in parts:
        height = 26 + 15 * len(lines)
        drawing.line(middle, y - 4 if y > top else y - 20, middle, y + 8) if y > top else None
        drawing.box(middle - box_width / 2, y + 8, box_width, height, "part")
        drawing.text(middle, y + 25, title, "strong")
        for i, line in enumerate(lines):
            drawing.text(middle, y + 41 + 15 * i, line, "small")
        y += 8 + height + 6
    return y + 4


def network_drawing(config: Mapping[str, Any], links: Sequence[str]) -> Markup | None:
    """Nodes on a circle, joined by the links that the run has metrics of (`0_1`); a number beyond the nodes is a switch."""
    machine = Machine(config)
    pairs = sorted({tuple(sorted(int(end) for end in link.split("_"))) for link in links})
    if machine.nodes < 2 or not pairs:
        return None
    drawing = _Drawing()
    places = _places(machine.nodes, max(max(pair) for pair in pairs) >= machine.nodes)
    for low, high in pairs:
        _link(drawing, places, low, high)
    for number, (x, y) in places.items():
        if number >= machine.nodes:
            drawing.box(x - 46, y - 20, 92, 40, "bus")
            drawing.text(x, y + 4, str(config["network"]["topology"]), "strong")
        else:
            drawing.box(x - 62, y - 24, 124, 48, "cpu")
            drawing.text(x, y - 5, f"node {number}", "strong")
            drawing.text(x, y + 12, _cpu_list(machine.cpus_of_node(number), int(config["cpus"])), "small")
    xs, ys = zip(*places.values(), strict=True)
    network = config["network"]
    bandwidth = network.get("bandwidth_mb_per_s")
    speed = f", {_number(bandwidth / 1000)} GB/s each way" if bandwidth else ""
    drawing.text(
        (min(xs) + max(xs)) / 2, max(ys) + 52, f"{network['topology']}, {_number(network['latency_ns'])} ns a link{speed}"
    )
    svg = drawing.svg(max(xs) + 80, max(ys) + 66, f"network: {network['topology']} of {machine.nodes} nodes")
    return svg


def _cpu_list(cpus: Sequence[int], used: int) -> str:
    shown = [str(cpu) for cpu in cpus if cpu < used]
    if not shown:
        return "no CPU in use"
    return "CPU " + (", ".join(shown) if len(shown) <= 4 else f"{shown[0]}, {shown[1]}, … {shown[-1]}")


def _places(nodes: int, has_switch: bool) -> dict[int, tuple[float, float]]:
    """Two nodes side by side, more on a circle from the top left, clockwise; a switch in the middle."""
    if nodes == 2:
        gap = 360 if has_switch else 260
        places = {0: (80.0, 60.0), 1: (80.0 + gap, 60.0)}
        return places | ({2: (80.0 + gap / 2, 60.0)} if has_switch else {})
    radius = max(120.0, nodes * 30)
    centre = radius + 80
    start = -math.pi / 2 - math.pi / nodes
    places = {
        i: (
            centre + radius * math.cos(start + 2 * math.pi * i / nodes),
            centre - 50 + radius * math.sin(start + 2 * math.pi * i / nodes),
        )
        for i in range(nodes)
    }
    return places | ({nodes: (centre, centre - 50)} if has_switch else {})


def _link(drawing: _Drawing, places: Mapping[int, tuple[float, float]], low: int, high: int) -> None:
    (x1, y1), (x2, y2) = places[low], places[high]
    drawing.line(x1, y1, x2, y2, "link", f"link.{low}_{high}.utilisation_pct")
    middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 2
    if low < 2 and high >= len(places) - 1 and len(places) == 3:  # beside a switch there is less room on its side
        middle_x = (x1 + 62 + x2 - 46) / 2 if x1 < x2 else (x1 - 62 + x2 + 46) / 2
    drawing.text(middle_x, middle_y - 8, "", "load", f"link.{low}_{high}.utilisation_pct")
    drawing.text(middle_x, middle_y + 18, "", "load back", f"link.{high}_{low}.utilisation_pct")
