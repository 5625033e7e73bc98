"""What rows did before: their last observations, for the small curves behind their names."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from pfscope.top.picture import Names, Picture

KEPT: Final = 60
"""So many observations of a view."""
VIEWS: Final = 8
"""So many views."""
BLOCKS: Final = " ▁▂▃▄▅▆▇█"


class History:
    """The measure that decides, of every row of the last pictures, by view."""

    def __init__(self) -> None:
        self._views: OrderedDict[object, tuple[list[int], list[Mapping[Names, float]]]] = (
            OrderedDict()
        )

    def add(self, view: object, picture: Picture, measure: str) -> None:
        """Keep a picture of a view."""
        times, seen = self._views.setdefault((view, measure), ([], []))
        self._views.move_to_end((view, measure))
        values = {names: picture.number(row, measure) or 0.0 for names, row in picture.rows}
        place = bisect_left(times, picture.time_us)
        # Servers tell one after another: what comes within half a step is one observation.
        before = place > 0 and picture.time_us - times[place - 1] < (picture.step_us or 0) / 2
        if before or (place < len(times) and times[place] == picture.time_us):
            place -= before
            times[place], seen[place] = picture.time_us, values
        else:
            times.insert(place, picture.time_us)
            seen.insert(place, values)
        del times[:-KEPT], seen[:-KEPT]
        while len(self._views) > VIEWS:
            self._views.popitem(last=False)

    def of(
        self, view: object, measure: str, names: Names, until_us: int, count: int
    ) -> list[float]:
        """Return the last values of a row, the oldest first."""
        times, seen = self._views.get((view, measure), ([], []))
        end = bisect_right(times, until_us)
        return [values.get(names, 0.0) for values in seen[max(end - count, 0) : end]]


def curve(values: list[float], width: int) -> str:
    """Draw values as blocks, the newest at the right; what is not zero is seen.

    >>> curve([0, 1, 4, 8], 6)
    '   ▁▄█'
    """
    most = max(values, default=0.0)
    if most <= 0:
        return " " * width
    steps = len(BLOCKS) - 1
    drawn = "".join(BLOCKS[max(round(v / most * steps), 1) if v > 0 else 0] for v in values)
    return drawn[-width:].rjust(width)
