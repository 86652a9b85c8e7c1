"""Draws small SVGs of boxes, lines and centred text. Classes take their colours from the page."""

from dataclasses import dataclass, field

from markupsafe import Markup, escape

_EDGE = 2  # room for strokes at the edge of the drawing


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
        """With a link (`link.0_1`), the page makes the line thicker the more traffic the link carries."""
        named = f' data-load="{escape(link)}"' if link else ""
        ends = f'x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
        self.pieces.append(f'<line class="{kind}"{named} {ends}/>')

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.pieces.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def measured(self, x: float, y: float, metric: str, before: str) -> None:
        """A place where the page writes a metric of the shown point, after the word `before`."""
        names = f'data-metric="{escape(metric)}" data-before="{escape(before)}"'
        self.pieces.append(f'<text class="load" {names} x="{x:g}" y="{y:g}"></text>')

    def link_traffic(self, x: float, y: float, link: str, before: str, title: str) -> None:
        """A place where the page writes how busy a link is in one direction (`link.0_1`), or its traffic if it has no limit.

        The page writes both into the tooltip, after the words `title`.
        """
        names = f'data-link="{escape(link)}" data-before="{escape(before)}" data-title="{escape(title)}"'
        self.pieces.append(f'<text class="load" {names} x="{x:g}" y="{y:g}"></text>')

    def home_traffic(self, x: float, lines: tuple[float, float], node: int) -> None:
        """Two places, at the heights `lines`, where the page writes how many misses the node's lines had, and from which
        nodes."""
        for y, what in zip(lines, ("misses", "remote_pct"), strict=True):
            self.pieces.append(f'<text class="small" data-home="{node}" data-of="{what}" x="{x:g}" y="{y:g}"></text>')

    def svg(self, width: float, height: float, title: str) -> Markup:
        wide, high = width + 2 * _EDGE, height + 2 * _EDGE
        frame = f'viewBox="{-_EDGE} {-_EDGE} {wide:g} {high:g}" style="max-width:{wide:g}px; --wide:{wide:g}px"'
        body = "".join(self.pieces)
        return Markup(f'<svg class="topology" {frame} role="img" aria-label="{escape(title)}">{body}</svg>')
