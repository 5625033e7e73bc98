"""Colours of figures: each has its place in the light scheme and one in the dark.

Figures are made in light colours; a page turns them over where the reader prefers the dark. Lines
can be told apart with any colour vision: their hues differ in lightness too.
"""

from collections.abc import Sequence
from typing import Final

INK: Final = "#1c2733"
MUTED: Final = "#5a6876"
GRID: Final = "#e3e8ee"
PAPER: Final = "#ffffff"
REST: Final = "#b4bec9"
"""What all others did."""
BAND: Final = "#f4f6f9"

LINES: Final = (
    "#2563a8", "#d2622a", "#16856b", "#a14b93", "#b58a07", "#3d9cc9", "#8a5a3b", "#c23b5e",
    "#56657a", "#6d8f1f", "#7560c4", "#12a3a0",
)  # fmt: skip
_DARK_LINES: Final = (
    "#76b1f0", "#f39a68", "#4fcaa8", "#d795cb", "#e6c04f", "#93d6f3", "#cfa583", "#f58aa3",
    "#a5b4c6", "#b1d160", "#b3a4f4", "#5fdcd9",
)  # fmt: skip
HEAT: Final = ("#d3e2ef", "#9cc4e2", "#5d9ecf", "#2a6cae", "#12336a")
_DARK_HEAT: Final = ("#22384f", "#2b6094", "#3d8bd0", "#86c0ef", "#e4f2fe")

_RAMP = ("#173a6e", "#2f74b5", "#3d9cc9", "#5fb39a", "#a3b14e", "#c98f2b")
_DARK_RAMP = ("#4b83c9", "#5fa6e3", "#86d0ee", "#8fdcc0", "#d0dd83", "#f2c76e")
RAMP_PLACES: Final = 24


def _blended(anchors: Sequence[str], places: int) -> tuple[str, ...]:
    """Return colours evenly between anchors."""
    return tuple(_at(anchors, i / (places - 1) * (len(anchors) - 1)) for i in range(places))


def _at(anchors: Sequence[str], place: float) -> str:
    low = min(int(place), len(anchors) - 2)
    pairs = zip(_parts(anchors[low]), _parts(anchors[low + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - low)):02x}" for a, b in pairs)


def _parts(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


_RAMPED: Final = _blended(_RAMP, RAMP_PLACES)
_DARK: Final = {
    INK: "#e8edf3", MUTED: "#9fadbb", GRID: "#2b3743", PAPER: "#131a22", REST: "#4d5b69",
    BAND: "#1a232d",
    **dict(zip(LINES, _DARK_LINES, strict=True)),
    **dict(zip(HEAT, _DARK_HEAT, strict=True)),
    **dict(zip(_RAMPED, _blended(_DARK_RAMP, RAMP_PLACES), strict=True)),
}  # fmt: skip


def dark() -> dict[str, str]:
    """Return the dark colour of each light one."""
    return dict(_DARK)


def line(index: int) -> str:
    """Return the colour of one of some things that are told apart."""
    return LINES[index % len(LINES)]


def ramp(index: int, count: int) -> str:
    """Return the colour of one of many things that stand in an order, such as targets."""
    if count <= 5:
        return LINES[index]
    return _RAMPED[round(index * (RAMP_PLACES - 1) / max(count - 1, 1))]


def heat() -> list[list[object]]:
    """Return the scale for amounts, from few to many."""
    return [[i / (len(HEAT) - 1), colour] for i, colour in enumerate(HEAT)]
