"""Draws small SVGs of boxes, lines and centred text. Classes take their colours from the page."""

from dataclasses import dataclass, field

from markupsafe import Markup, escape

from linebounce.visible import visible_name

_EDGE = 2  # room for strokes at the edge of the drawing


def _shown(text: str) -> Markup:
    return escape(visible_name(text))


@dataclass(frozen=True)
class Box:
    """A rectangle in a drawing's units (pixels at full size)."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass
class Drawing:
    pieces: list[str] = field(default_factory=list)

    def box(self, box: Box, kind: str) -> None:
        place = f'x="{box.left:g}" y="{box.top:g}" width="{box.width:g}" height="{box.height:g}"'
        self.pieces.append(f'<rect class="{kind}" {place} rx="6"/>')

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str = "wire", link: str = "") -> None:
        """Draws a line. If `link` is given (`link.0_1`), the page makes the line thicker the more traffic that link
        carries."""
        named = f' data-load="{_shown(link)}"' if link else ""
        ends = f'x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
        self.pieces.append(f'<line class="{kind}"{named} {ends}/>')

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.pieces.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{_shown(text)}</text>')

    def measured(self, x: float, y: float, metric: str, before: str) -> None:
        """A text that the page fills in: `before`, then the value of a metric at the shown point."""
        names = f'data-metric="{_shown(metric)}" data-before="{_shown(before)}"'
        self.pieces.append(f'<text class="load" {names} x="{x:g}" y="{y:g}"></text>')

    def link_traffic(self, x: float, y: float, link: str, before: str, title: str) -> None:
        """A text that the page fills in with how busy a link is in one direction (`link.0_1`). For a link without a
        bandwidth limit it shows the traffic instead.

        The tooltip has both, after `title`.
        """
        names = f'data-link="{_shown(link)}" data-before="{_shown(before)}" data-title="{_shown(title)}"'
        self.pieces.append(f'<text class="load" {names} x="{x:g}" y="{y:g}"></text>')

    def home_traffic(self, x: float, lines: tuple[float, float], node: int) -> None:
        """Two texts, at the heights `lines`, that the page fills in: how many misses there were on lines of this node,
        and the share from other nodes."""
        for y, what in zip(lines, ("misses", "remote_pct"), strict=True):
            self.pieces.append(f'<text class="small" data-home="{node}" data-of="{what}" x="{x:g}" y="{y:g}"></text>')

    def svg(self, width: float, height: float, title: str) -> Markup:
        wide, high = width + 2 * _EDGE, height + 2 * _EDGE
        frame = f'viewBox="{-_EDGE} {-_EDGE} {wide:g} {high:g}" style="max-width:{wide:g}px; --wide:{wide:g}px"'
        body = "".join(self.pieces)
        return Markup(f'<svg class="topology" {frame} role="img" aria-label="{_shown(title)}">{body}</svg>')
