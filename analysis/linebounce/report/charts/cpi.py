"""The charts of how CPUs spent their cycles."""

from linebounce.report.charts.base import Spec, by_source, chart, layer, number, part_colour, word


def cpi_cpus() -> Spec:
    """Each CPU's measured time, by part."""
    return _stack("CPU", "share of the CPU's time (%)", step=18)


def cpi_functions() -> Spec:
    """The functions with the most time. Shares are of all CPUs' time."""
    return _stack(None, "share of all CPUs' time (%)", step=21)


def _stack(title: str | None, share: str, step: int) -> Spec:
    tips = [word("name", title=title or "function"), word("part"), number("share_pct", title="share (%)", format=".3~g")]
    encoding = {
        "x": number("share_pct", title=share, stack="zero", axis={"tickCount": 8}, scale={"nice": False}),
        "y": word("name", sort=None, title=title, axis={"grid": False, "labelLimit": 200}),
        "color": part_colour(),
        "order": by_source(),
        "tooltip": [*tips, number("cycles", format=",")],
    }
    return chart("cpi", layer("bar", encoding), step=step)
