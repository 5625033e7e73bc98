"""What is seen at one moment: the answer of `/api/v1/now`, checked and given names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pfscope.errors import InputError

LOAD: Final = "load"
Names = tuple[str | None, ...]
Number = float | None


@dataclass(frozen=True)
class Server:
    """A server, and what it is under."""

    name: str
    time_us: int
    interval_us: int | None
    silent: bool
    load: Number
    told: Number
    """The part of the load that rows are told for."""
    targets: tuple[str, ...]
    rates: Mapping[str, Number]


@dataclass(frozen=True)
class Target:
    """A target, and what it does."""

    name: str
    rates: Mapping[str, Number]
    unattributed: Mapping[str, Number]


@dataclass(frozen=True)
class Picture:
    """A moment."""

    time_us: int
    by: tuple[str, ...]
    measures: tuple[str, ...]
    units: Mapping[str, str]
    rows: tuple[tuple[Names, tuple[Number, ...]], ...]
    """Names and numbers, the first first."""
    all_rows: int
    sums: tuple[Number, ...]
    servers: tuple[Server, ...]
    targets: tuple[Target, ...]

    @staticmethod
    def read(told: Any) -> "Picture":
        """Read it; what is none is an `InputError`."""
        try:
            return _read(told)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError("the answer is not as pfscope's: is it another version?") from None

    def place(self, measure: str) -> int | None:
        """Return the place of a measure among numbers."""
        return self.measures.index(measure) if measure in self.measures else None

    def number(self, numbers: tuple[Number, ...], measure: str) -> Number:
        """Return a number of a row; what nobody does is 0."""
        place = self.place(measure)
        return 0.0 if place is None else numbers[place]

    def total(self, measure: str) -> Number:
        """Return what all servers do, whoever is in the rows; of the load, what they are under."""
        told = [s.load if measure == LOAD else s.rates.get(measure) for s in self.servers]
        known = [value for value in told if value is not None]
        return sum(known) if known else None

    def decided_by(self, sort: str) -> str:
        """Return what rows are sorted by: requests, where no load is told."""
        return "iops" if sort == LOAD and self.total(LOAD) is None else sort

    @property
    def step_us(self) -> int | None:
        """How often servers are observed."""
        return min((s.interval_us for s in self.servers if s.interval_us), default=None)


def _read(told: Any) -> Picture:
    about, by = told["about"], tuple(map(_text, told["about"]["by"]))
    columns = [_text(name) for name in told["columns"]]
    measures = tuple(columns[len(by) :])
    rows = tuple((_names(row[: len(by)]), _numbers(row[len(by) :])) for row in told["rows"])
    sums = _numbers(told["sums"])
    if not by or any(len(numbers) != len(measures) for numbers in (sums, *(n for _, n in rows))):
        raise ValueError
    return Picture(
        int(about["time_us"]), by, measures, dict(told["units"]), rows, int(told["all_rows"]), sums,
        tuple(map(_server, told["servers"])), tuple(map(_target, told["targets"])),
    )  # fmt: skip


def _server(told: Any) -> Server:
    interval_s = _number(told["interval_s"])
    return Server(
        _text(told["server"]), int(told["time_us"]),
        None if interval_s is None else round(interval_s * 1e6),
        bool(told["silent"]), _number(told["load"]), _number(told["load_told"]),
        tuple(map(_text, told["targets"])), _rates(told["rates"]),
    )  # fmt: skip


def _target(told: Any) -> Target:
    return Target(_text(told["target"]), _rates(told["rates"]), _rates(told["unattributed"]))


def _rates(told: Any) -> dict[str, Number]:
    return {_text(name): _number(value) for name, value in told.items()}


def _names(told: Any) -> Names:
    return tuple(None if name is None else _text(name) for name in told)


def _numbers(told: Any) -> tuple[Number, ...]:
    return tuple(map(_number, told))


def _number(value: Any) -> Number:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
