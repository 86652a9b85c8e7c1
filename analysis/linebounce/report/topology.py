"""Draws the inside of a node: cores with their caches, buses and their controllers, directory and memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from linebounce.report.drawing import Box, Drawing
from linebounce.report.machine import Machine

_CORE_WIDTH = 118
_GAP = 14
_CORES_IN_A_ROW = 4
_CACHE_HEIGHT = 32
_PART_WIDTH = 340


def number_text(value: float) -> str:
    return f"{value:.4g}"


def node_drawing(machine: Machine, node: int) -> Markup:
    """Draws a node. The page adds how busy the buses are."""
    drawing = Drawing()
    buses = [machine.cores_of_bus(node, bus) for bus in range(machine.buses_per_node)]
    columns = max(1, *(min(len(cores), _CORES_IN_A_ROW) for cores in buses))
    width = columns * (_CORE_WIDTH + _GAP) - _GAP
    bottoms = [_bus(drawing, machine, cores, i * (width + 2 * _GAP), width) for i, cores in enumerate(buses)]
    whole = len(buses) * (width + 2 * _GAP) - 2 * _GAP
    parts = _home_parts(machine, node)
    joint = max(bottoms)
    if len(buses) > 1 and parts:
        middles = [i * (width + 2 * _GAP) + width / 2 for i in range(len(buses))]
        for middle, bottom in zip(middles, bottoms, strict=True):
            drawing.line((middle, bottom), (middle, joint + _GAP / 2))
        joint += _GAP / 2
        drawing.line((middles[0], joint), (middles[-1], joint))
    bottom = _stack(drawing, parts, whole / 2, joint, min(whole, _PART_WIDTH))
    return drawing.svg(whole, bottom, f"node {node} of {machine.title}")


def _bus(drawing: Drawing, machine: Machine, cores: Sequence[Sequence[int]], left: float, width: float) -> float:
    """Draws the cores in rows, their bus and the bus's controller below them. Returns the y of the lower edge."""
    height = 40 + _CACHE_HEIGHT * len(machine.caches)
    rows = -(-len(cores) // _CORES_IN_A_ROW)
    bus = Box(left, rows * (height + _GAP), width, 62)
    boxes = [
        Box(left + i % _CORES_IN_A_ROW * (_CORE_WIDTH + _GAP), i // _CORES_IN_A_ROW * (height + _GAP), _CORE_WIDTH, height)
        for i in range(len(cores))
    ]
    for box in boxes:  # draws the lines first, so that the boxes cover their ends
        drawing.line((box.middle, box.bottom), (box.middle, bus.top))
    for cpus, box in zip(cores, boxes, strict=True):
        _core(drawing, machine, cpus, box)
    config = machine.config["bus"]
    rate = config["clock_mhz"] * config["width_bytes"] / 1000
    drawing.box(bus, "bus")
    drawing.text(bus.middle, bus.top + 19, f"bus · {config['protocol']}", "strong")
    speed = f"{number_text(config['clock_mhz'])} MHz x {config['width_bytes']:g} B = {number_text(rate)} GB/s"
    drawing.text(bus.middle, bus.top + 36, speed)
    drawing.measured(bus.middle, bus.top + 53, "bus.utilisation_pct", "busy ")
    return _stack(drawing, _controller(machine), bus.middle, bus.bottom, min(width, _PART_WIDTH))


def _core(drawing: Drawing, machine: Machine, cpus: Sequence[int], box: Box) -> None:
    clock = float(machine.config["cpu"]["clock_mhz"])
    used = any(cpu < machine.cpus for cpu in cpus)
    kind = "" if used else " absent"
    drawing.box(box, f"cpu{kind}")
    drawing.text(box.middle, box.top + 17, "CPU " + " and ".join(str(cpu) for cpu in cpus), f"strong{kind}")
    drawing.text(box.middle, box.top + 32, f"{number_text(clock)} MHz" if used else "not used", f"small{kind}")
    for level, (name, cache) in enumerate(machine.caches):
        top = box.top + 40 + _CACHE_HEIGHT * level
        drawing.line((box.left, top), (box.left + box.width, top), "divider")
        drawing.text(box.middle, top + 13, f"{name} {_size(cache['size_kib'])}", f"small strong{kind}")
        cycles = cache["hit_latency_cycles"]
        hit = f"{cycles:g} cycle{'s' * (cycles != 1)}, {number_text(1000 * cycles / clock)} ns"
        drawing.text(box.middle, top + 26, hit, f"small{kind}")


# A part of a node: its name, and lines of text about it.
Part = tuple[str, Sequence[str]]


def _controller(machine: Machine) -> Sequence[Part]:
    """The boxes below each bus of a machine with nodes."""
    config: Mapping[str, Any] | None = machine.config.get("node")
    if config is None:
        return []
    lines = [
        f"a pass {number_text(config['latency_ns'])} ns · occupied {number_text(config['occupancy_ns'])} ns",
        f"leaving it: a message {number_text(config['request_crossing_ns'])} ns, "
        f"a line {number_text(config['line_crossing_ns'])} ns",
    ]
    if config["cache_size_kib"]:
        lines.append(f"cache {_size(config['cache_size_kib'])}, {number_text(config['cache_latency_ns'])} ns")
    return [(f"controller · {config['protocol']}", lines)]


def _home_parts(machine: Machine, node: int) -> Sequence[Part]:
    if node not in machine.nodes_with_memory():
        return []
    parts: list[Part] = []
    directory = machine.config.get("directory")
    if directory is not None:
        parts.append((f"directory · {directory['protocol']}", [f"{number_text(directory['latency_ns'])} ns"]))
    memory = machine.config["memory"]
    banks = f", {memory['banks']:g} banks" if memory.get("banks") else ""
    return [*parts, ("memory", [f"{number_text(memory['latency_ns'])} ns{banks}"])]


def _stack(drawing: Drawing, parts: Sequence[Part], middle: float, top: float, width: float) -> float:
    """Draws boxes one below the other, joined by lines. Returns the y of the last box's lower edge."""
    for title, lines in parts:
        box = Box(middle - width / 2, top + _GAP, width, 30 + 15 * len(lines))
        drawing.line((middle, top), (middle, box.top))
        drawing.box(box, "part")
        drawing.text(middle, box.top + 19, title, "strong")
        for i, line in enumerate(lines):
            drawing.text(middle, box.top + 36 + 15 * i, line, "small")
        top = box.bottom
    return top


def _size(kib: float) -> str:
    return f"{kib / 1024:g} MiB" if kib >= 1024 else f"{kib:g} KiB"
