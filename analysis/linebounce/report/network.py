"""Draws the network between nodes. The run's metrics say which links exist."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from linebounce.report.drawing import Box, Drawing
from linebounce.report.machine import Machine
from linebounce.report.topology import number_text

_NODE = Box(-84, -24, 168, 80)  # relative to its position
_SWITCH = Box(-46, -22, 92, 44)
_MARGIN = 90

_LINK = re.compile(r"link\.(\d+)_(\d+)\.\w+")

Places = Mapping[int, tuple[float, float]]


def network_drawing(machine: Machine, metrics: Iterable[str]) -> Markup | None:
    """Draws the nodes and the links for which there are metrics `link.A_B...`. An end that is not a node's number is a
    switch. None if there are no links."""
    links = [(int(link[1]), int(link[2])) for link in map(_LINK.fullmatch, metrics) if link]
    pairs = sorted({(min(ends), max(ends)) for ends in links})
    if machine.nodes < 2 or not pairs:
        return None
    drawing = Drawing()
    places = _places(machine.nodes, has_switch=max(high for _, high in pairs) >= machine.nodes)
    for low, high in pairs:
        _link(drawing, places, (low, high), machine.nodes)
    for number, place in places.items():
        _station(drawing, machine, number, place)
    right = max(x for x, _ in places.values()) + _MARGIN
    bottom = max(y for _, y in places.values()) + _NODE.bottom + 28
    drawing.text(right / 2, bottom, _speed(machine))
    return drawing.svg(right, bottom + 14, f"network of {machine.nodes} nodes: {machine.config['network']['topology']}")


def _has_limit(machine: Machine) -> bool:
    """Whether links have a bandwidth limit. Without one a link is never busy, so the page shows its traffic instead."""
    network = machine.config["network"]
    own = [link.get("bandwidth_mb_per_s") for link in network.get("link", {}).values()]
    return bool(network.get("bandwidth_mb_per_s") or any(own))


def _speed(machine: Machine) -> str:
    network = machine.config["network"]
    words = f"{network['topology']}, {number_text(network['latency_ns'])} ns a link"
    if network.get("bandwidth_mb_per_s"):
        return f"{words}, {number_text(network['bandwidth_mb_per_s'] / 1000)} GB/s each way"
    return words if _has_limit(machine) else f"{words}, without a limit of its own"


def _places(nodes: int, *, has_switch: bool) -> Places:
    """Places two nodes side by side, and more on a circle, clockwise from the top left. A switch is in the middle."""
    if nodes == 2:
        gap = 440 if has_switch else 300
        ends = {0: (_MARGIN, 60.0), 1: (_MARGIN + gap, 60.0)}
        return {**ends, 2: (_MARGIN + gap / 2, 60.0)} if has_switch else ends
    radius = max(170.0, nodes * 40.0)
    centre = (radius + _MARGIN, radius + 30)
    start = -math.pi / 2 - math.pi / nodes
    angles = [start + 2 * math.pi * i / nodes for i in range(nodes)]
    circle = {i: (centre[0] + radius * math.cos(at), centre[1] + radius * math.sin(at)) for i, at in enumerate(angles)}
    return {**circle, nodes: centre} if has_switch else circle


def _station(drawing: Drawing, machine: Machine, number: int, place: tuple[float, float]) -> None:
    x, y = place
    is_node = number < machine.nodes
    shape = _NODE if is_node else _SWITCH
    drawing.box(Box(x + shape.left, y + shape.top, shape.width, shape.height), "cpu" if is_node else "bus")
    if is_node:
        drawing.text(x, y - 5, f"node {number}", "strong")
        drawing.text(x, y + 12, _cpu_list([cpu for cpu in machine.cpus_of_node(number) if cpu < machine.cpus]), "small")
        drawing.home_traffic(x, (y + 29, y + 44), number)
    else:
        drawing.text(x, y + 4, str(machine.config["network"]["topology"]), "strong")


def _cpu_list(cpus: Sequence[int]) -> str:
    if not cpus:
        return "no CPU in use"
    return "CPU " + (", ".join(map(str, cpus)) if len(cpus) <= 4 else f"{cpus[0]}, {cpus[1]}, … {cpus[-1]}")


def _link(drawing: Drawing, places: Places, ends: tuple[int, int], nodes: int) -> None:
    """Draws a link: a line that the page makes wider the busier the link is, and texts for both directions between the
    boxes."""
    low, high = ends
    (x1, y1), (x2, y2) = places[low], places[high]
    drawing.line((x1, y1), (x2, y2), "link", f"link.{low}_{high}")
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    flat = abs(y2 - y1) < abs(x2 - x1)
    there, back = ("→ ", "← ") if x1 < x2 else ("← ", "→ ")
    if not flat:
        there, back = ("↓ ", "↑ ") if y1 < y2 else ("↑ ", "↓ ")
    # A switch's box is smaller than a node's, so the middle of the gap is not the middle between the centres.
    elif high >= nodes:
        x += math.copysign((_NODE.width - _SWITCH.width) / 4, x2 - x1)
    side = 0 if flat else 34
    drawing.link_traffic(x - side, y - 8 if flat else y + 4, f"link.{low}_{high}", there, f"from {low} to {high}")
    drawing.link_traffic(x + side, y + 18 if flat else y + 4, f"link.{high}_{low}", back, f"from {high} to {low}")
