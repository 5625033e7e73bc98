"""When: a stretch of time and the steps into which it is cut; a step is named by its end."""

from dataclasses import dataclass
from itertools import pairwise

from pfscope.errors import UsageError

STEPS_AT_MOST = 100_000
"""More points than this were asked for by mistake."""


@dataclass(frozen=True, slots=True)
class Window:
    """The times after `start_us`, up to and with `end_us`."""

    start_us: int
    end_us: int

    def __post_init__(self) -> None:
        if self.end_us <= self.start_us:
            raise UsageError("the period ends before it begins: --from must be earlier than --to")

    @property
    def length_us(self) -> int:
        """How long it is."""
        return self.end_us - self.start_us


@dataclass(frozen=True, slots=True)
class EvenSteps:
    """Steps of one length; the first and the last are cut to the window."""

    window: Window
    step_us: int
    origin_us: int
    """The boundary at which the window begins, or the last one before."""

    @staticmethod
    def over(window: Window, step_us: int, anchor_us: int = 0) -> "EvenSteps":
        """Cut a window at the multiples of a step since some time at which one ends."""
        if window.length_us // step_us >= STEPS_AT_MOST:
            raise UsageError(
                f"more than {STEPS_AT_MOST} steps: take a longer --step or a shorter period"
            )
        return EvenSteps(window, step_us, window.start_us - (window.start_us - anchor_us) % step_us)


@dataclass(frozen=True, slots=True)
class GivenSteps:
    """Steps between any times, which rise."""

    edges_us: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.edges_us) < 2 or any(a >= b for a, b in pairwise(self.edges_us)):
            raise UsageError("steps need two times at least, each later than the one before")

    @property
    def window(self) -> Window:
        """From the first to the last edge."""
        return Window(self.edges_us[0], self.edges_us[-1])


Steps = EvenSteps | GivenSteps
