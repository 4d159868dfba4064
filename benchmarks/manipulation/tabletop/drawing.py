"""A picture of an episode: where the objects were, and where the blocks are."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from benchmarks.manipulation.tabletop.scene import BLOCK, BOWL_RADIUS, WORKSPACE, Placement

__all__ = ["render"]

_SCALE = 600
"""Units of the picture to a metre."""
_SHADES = {
    "blue": "#3b76c4",
    "red": "#d8433b",
    "green": "#3f9b4f",
    "orange": "#ee8a2c",
    "yellow": "#e8c52f",
    "pink": "#ef8fb2",
    "cyan": "#45b8bd",
    "brown": "#8f6247",
}
_TOP = WORKSPACE[1][1]
_LEFT = WORKSPACE[0][0]
_WIDTH, _HEIGHT = (round((high - low) * _SCALE) for low, high in WORKSPACE)
_LIFT = 9
"""How far a block on another one is drawn above it, so that both are seen."""

_ABOVE = 3 * _LIFT
"""Room above the table for a tower at its top side."""


def render(before: Mapping[str, Placement], after: Mapping[str, Placement]) -> str:
    """An SVG of the table from above: bowls, outlines of the blocks at the start, arrows, and the blocks at the end.

    It brings its own ground, so that it can be read on a light and on a dark page.
    """
    moved = [name for name in before if name.endswith("block") and before[name] != after[name]]
    bowls = [_bowl(name, place) for name, place in after.items() if name.endswith("bowl")]
    starts = [_start(name, before[name]) for name in moved]
    blocks = sorted((name for name in after if name.endswith("block")), key=lambda name: after[name].z)
    ends = [_block(name, after[name]) for name in blocks]
    arrows = [_arrow(before[name], after[name]) for name in moved]
    label = escape("; ".join(f"{name} moved" for name in moved) or "nothing moved")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-_ABOVE} {_WIDTH} {_HEIGHT + _ABOVE}" '
        f'width="{_WIDTH}" height="{_HEIGHT + _ABOVE}" role="img" aria-label="{label}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#4a4438"/></marker></defs>',
        f'<rect y="{-_ABOVE}" width="{_WIDTH}" height="{_HEIGHT + _ABOVE}" rx="8" fill="#f1ece0"/>',
        f'<rect x="30" y="30" width="{_WIDTH - 60}" height="{_HEIGHT - 60}" fill="none" stroke="#cfc6b2"/>',
        *bowls,
        *starts,
        *ends,
        *arrows,
        "</svg>",
    ]
    return "\n".join(parts)


def _at(place: Placement) -> tuple[float, float]:
    lift = round(place.z / BLOCK) * _LIFT
    return round((place.x - _LEFT) * _SCALE, 1), round((_TOP - place.y) * _SCALE - lift, 1)


def _shade(name: str) -> str:
    return _SHADES.get(name.split(" ")[0], "#888888")


def _bowl(name: str, place: Placement) -> str:
    x, y = _at(place)
    radius = round(BOWL_RADIUS * _SCALE)
    return (
        f'<g><title>{escape(name)}</title><circle cx="{x}" cy="{y}" r="{radius}" fill="{_shade(name)}" '
        f'fill-opacity="0.35" stroke="{_shade(name)}" stroke-width="5"/></g>'
    )


def _square(place: Placement, style: str) -> str:
    x, y = _at(place)
    edge = BLOCK * _SCALE
    return f'<rect x="{x - edge / 2:g}" y="{y - edge / 2:g}" width="{edge:g}" height="{edge:g}" rx="3" {style}/>'


def _start(name: str, place: Placement) -> str:
    return _square(place, f'fill="none" stroke="{_shade(name)}" stroke-width="2" stroke-dasharray="4 3"')


def _block(name: str, place: Placement) -> str:
    square = _square(place, f'fill="{_shade(name)}" stroke="#3a352b"')
    return f"<g><title>{escape(name)}</title>{square}</g>"


def _arrow(start: Placement, end: Placement) -> str:
    (x1, y1), (x2, y2) = _at(start), _at(end)
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#4a4438" stroke-opacity="0.7" '
        'stroke-width="1.5" marker-end="url(#tip)"/>'
    )
