"""Total rates of all operations to each target (the thesis' figures 8 to 19), two by two."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from pfscope.query.metrics import is_bytes
from pfscope.report import draw, numbers, palette
from pfscope.report.asking import Asking
from pfscope.report.drawing import Drawing, named
from pfscope.report.lines import Line, Steps, filled, lines_of, summed
from pfscope.untrusted import file_name

_PAIRS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "mdt": (
        ("open", "close"), ("mknod", "unlink"), ("getattr", "setattr"), ("getxattr", "setxattr"),
        ("mkdir", "rmdir"), ("rename", "sync"), ("link", "statfs"),
    ),
    "ost": (
        ("read", "write"), ("read_bytes", "write_bytes"), ("punch", "setattr"),
        ("quotactl", "sync"), ("get_info", "set_info"),
    ),
}  # fmt: skip
"""As the thesis has them."""
_FURTHER: Final = (
    ("read", "write"), ("read_bytes", "write_bytes"), ("samedir_rename", "crossdir_rename"),
)  # fmt: skip
FIRST: Final = 8
FIRST_FURTHER: Final = 23
"""What the thesis has no figure of is numbered from here."""
Pair = tuple[str, ...]


def rates(asking: Asking) -> Iterator[Drawing]:
    """Yield a figure for each pair of operations that were done."""
    result = asking.rates()
    steps = asking.steps(result)
    lines = lines_of(result.table, ["kind", "operation", "target"])
    for number, kind, pair in _numbered(asking):
        mine = [line for line in lines if line.name[0] == kind]
        targets = sorted({str(line.name[2]) for line in mine})
        yield _drawing(number, kind, pair, mine, targets, steps)


def _numbered(asking: Asking) -> Iterator[tuple[int, str, Pair]]:
    """Yield the pairs that are there, with their numbers."""
    number, left = FIRST, []
    for kind, pairs in _PAIRS.items():
        there = set(asking.operations.get(kind, ()))
        for pair in pairs:
            found: Pair = tuple(name for name in pair if name in there)
            there -= {*pair}
            if found:
                yield number, kind, found
            number += 1
        left += [(kind, pair) for pair in _further(there)]
    for number, (kind, pair) in enumerate(left, FIRST_FURTHER):
        yield number, kind, pair


def _further(there: set[str]) -> Iterator[Pair]:
    for pair in _FURTHER:
        if there & {*pair}:
            yield tuple(name for name in pair if name in there)
    rest = sorted(there - {name for pair in _FURTHER for name in pair})
    for place in range(0, len(rest), 2):
        yield tuple(rest[place : place + 2])


def _drawing(
    number: int, kind: str, pair: Pair, lines: Sequence[Line], targets: Sequence[str], steps: Steps
) -> Drawing:
    panels, told, gist, rows = [], [], [], []
    for operation in pair:
        chosen = named([line for line in lines if line.name[1] == operation], 2)
        unit = "bytes" if is_bytes(operation) else "requests"
        shown = tuple(Line((line.name[2],), line.ends, line.rates) for line in chosen)
        colours = tuple(
            palette.ramp(targets.index(str(line.name[0])), len(targets)) for line in shown
        )
        panels.append(draw.Panel(operation, draw.units(unit), shown, log=True, colours=colours))
        told.append(_told(operation, shown, steps, unit, len(targets)))
        whole = mean(summed(shown, (operation,)), steps)
        gist.append(f"{operation} {numbers.rate(whole, unit)}")
        rows += [_row(operation, line, steps, unit) for line in shown]
    of = f"{kind.upper()}s"
    names = numbers.listed(pair)
    return Drawing(
        file_name(f"{number:02}-{kind}-{'-'.join(pair)}"), f"{of}: {names}",
        f"Total rates of {names} to each of {len(targets)} {of}, on logarithmic axes; where "
        f"nothing was done nothing is drawn. {' '.join(told)}{_colouring(targets)}",
        f"{numbers.listed(gist)} on average.",
        draw.time_figure(panels, steps),
        ("target", "operation", "mean", "highest", "at"), rows,
    )  # fmt: skip


def _colouring(targets: Sequence[str]) -> str:
    if len(targets) <= draw.LEGEND_AT_MOST:
        return ""
    return f" Colours go from blue ({targets[0]}) to ochre ({targets[-1]})."


def _told(operation: str, lines: Sequence[Line], steps: Steps, unit: str, targets: int) -> str:
    """Say in words how much there was, where most, and how evenly."""
    whole = summed(lines, (operation,))
    busiest = max(lines, key=lambda line: mean(line, steps))
    highest = max(lines, key=lambda line: line.peak)
    said = (
        f"{operation}: {numbers.rate(mean(whole, steps), unit)} in all on average, at most "
        f"{numbers.rate(highest.peak, unit)} on {draw.plain(highest.name)} at "
        f"{steps.at(highest.peak_us)}"
    )
    if targets == 1:
        return said + "."
    uneven = mean(busiest, steps) / (mean(whole, steps) / targets)
    return f"{said}; {draw.plain(busiest.name)} had {uneven:.2g} times the mean of all targets."


def mean(line: Line, steps: Steps) -> float:
    """Return the mean rate of the whole period, in which what is not told is zero."""
    lengths = steps.ends - steps.begins
    return float(np.sum(filled(line, steps) * lengths) / (steps.end_us - steps.start_us))


def _row(operation: str, line: Line, steps: Steps, unit: str) -> list[str]:
    return [
        draw.plain(line.name), operation, numbers.rate(mean(line, steps), unit),
        numbers.rate(line.peak, unit), steps.at(line.peak_us),
    ]  # fmt: skip
