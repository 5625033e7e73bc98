"""How long requests take, and what load they make: hidden costs and a queue for each server.

A request costs its server a base time, and time for its bytes. As a server's utilisation u grows,
everything on it takes 1 / (1 - u) times as long, up to a cap. Load follows Little's law: requests
per second times the seconds that each one takes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.activity import Draw
from pfscope.lab.archetypes import OPERATIONS, SIZED, SLOTS
from pfscope.lab.dialects import Kind
from pfscope.lab.measures import Block
from pfscope.lab.sources import Floats
from pfscope.lab.tuning import Tuning

_BASE_US: dict[Kind, dict[str, float]] = {
    "mdt": {
        "open": 180, "close": 60, "mknod": 450, "link": 300, "unlink": 400, "mkdir": 500,
        "rmdir": 450, "rename": 600, "getattr": 50, "setattr": 220, "getxattr": 60,
        "setxattr": 300, "statfs": 40, "sync": 3000, "read": 150, "write": 200, "punch": 400,
        "migrate": 5000, "fallocate": 500,
    },
    "ost": {
        "read": 400, "write": 500, "getattr": 60, "setattr": 200, "punch": 500, "sync": 5000,
        "destroy": 600, "create": 300, "statfs": 30, "get_info": 40, "set_info": 50,
        "quotactl": 70, "prealloc": 800,
    },
}  # fmt: skip
_US_PER_MIB = {"read": 450.0, "write": 700.0}
_PART_OF = {"samedir_rename": "rename", "crossdir_rename": "rename",
            "parallel_rename_file": "rename", "parallel_rename_dir": "rename",
            "rename_trylocks": "rename"}  # fmt: skip
NORMAL_UTILISATION = 0.25
"""Of a server whose targets have their normal load."""
HIGHEST_UTILISATION = 0.97
_QUANTILES = ((0.45, 0.5), (1.0, 0.4), (3.75, 0.1))
"""Service times relative to their mean, and how often: mean one, with a tail."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What requests to one kind of target cost in microseconds on an unloaded server."""

    base_us: Floats
    """[operations]; parts of others cost nothing of their own."""
    shown_us: Floats
    """[operations], the parts included: what Lustre measures for each."""
    byte_us: Floats
    """[2 * SLOTS]"""


def costs(kind: Kind) -> Costs:
    """Return the costs of one kind of target."""
    base = np.array([_BASE_US[kind].get(op, 0.0) for op in OPERATIONS[kind]])
    shown = np.array([_BASE_US[kind].get(_PART_OF.get(op, op), 100.0) for op in OPERATIONS[kind]])
    per_byte = np.repeat([_US_PER_MIB["read"], _US_PER_MIB["write"]], SLOTS) / 2**20
    return Costs(base, shown, per_byte)


def work_us(cost: Costs, draw: Draw) -> Floats:
    """Return how long an unloaded server works on each row of a draw."""
    carried = draw.by_size.astype(np.float64) * draw.sizes
    work: Floats = np.add(
        draw.samples.astype(np.float64) @ cost.base_us, carried @ cost.byte_us, dtype=np.float64
    )
    return work


def normal_work_us(tuning: Tuning, kind: Kind, target: int) -> float:
    """Return how long an unloaded server works in a second for one target's normal load."""
    normal, work = tuning.normal(kind, target), 0.0
    for op, rate in normal.items():
        work += rate * _BASE_US[kind].get(op, 0.0)
    for op, per_mib in _US_PER_MIB.items():
        work += normal.get(f"{op}_bytes", 0.0) / 2**20 * per_mib
    return work


def slowdown(utilisation: Floats) -> Floats:
    """Return how many times as long requests take on servers that are so much in use."""
    slow: Floats = 1.0 / (1.0 - np.minimum(utilisation, HIGHEST_UTILISATION))
    return slow


def measure(kind: Kind, cost: Costs, draw: Draw, slow: Floats, rng: np.random.Generator) -> Block:
    """Return a draw as counters: bytes by their sizes, the other requests by their service times.

    `slow` tells how many times slower than alone each row's server is.
    """
    block = Block(draw.samples, *(np.zeros_like(draw.samples) for _ in range(4)))
    block.minimum[:] = np.iinfo(np.uint64).max
    sized = [OPERATIONS[kind].index(op) for op in SIZED]
    for first, column in ((0, sized[0]), (SLOTS, sized[1])):
        span = slice(first, first + SLOTS)
        _measure_values(block, column, draw.by_size[:, span], draw.sizes[:, span])
    timed = draw.samples > 0
    timed[:, sized[:2]] = False
    row, column_of = np.nonzero(timed)
    mean = cost.shown_us[column_of] * slow[row] * np.exp(rng.normal(-0.03, 0.25, len(row)))
    for first, column in ((0, sized[2]), (SLOTS, sized[3])):
        at = column_of == column
        mean[at] += slow[row[at]] * _bytes_us(cost, draw, row[at], first)
    _measure_times(block, row, column_of, mean, rng)
    return block


def _bytes_us(cost: Costs, draw: Draw, rows: NDArray[np.intp], first: int) -> Floats:
    span = slice(first, first + SLOTS)
    count = draw.by_size[rows, span].astype(np.float64)
    carried: Floats = (count * draw.sizes[rows, span]) @ cost.byte_us[span]
    each: Floats = carried / np.maximum(count.sum(axis=1), 1.0)
    return each


def _measure_values(
    block: Block, column: int, count: NDArray[np.uint64], value: NDArray[np.int64]
) -> None:
    size = value.astype(np.uint64)
    there = count > 0
    block.minimum[:, column] = np.where(there, size, np.iinfo(np.uint64).max).min(axis=1)
    block.maximum[:, column] = np.where(there, size, 0).max(axis=1)
    block.total[:, column] = (count * size).sum(axis=1)
    block.sumsq[:, column] = (count * size * size).sum(axis=1)


def _measure_times(
    block: Block, row: NDArray[np.intp], column: NDArray[np.intp], mean: Floats,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    samples = block.samples[row, column].astype(np.int64)
    long = rng.binomial(samples, _QUANTILES[2][1])
    short = rng.binomial(samples - long, _QUANTILES[0][1] / (1 - _QUANTILES[2][1]))
    count = np.stack((short, samples - long - short, long), axis=1).astype(np.uint64)
    value = np.maximum(np.rint(mean[:, None] * [q for q, _ in _QUANTILES]), 1.0).astype(np.uint64)
    there = count > 0
    cells = (row, column)
    block.minimum[cells] = np.where(there, value, np.iinfo(np.uint64).max).min(axis=1)
    block.maximum[cells] = np.where(there, value, 0).max(axis=1)
    block.total[cells] = (count * value).sum(axis=1)
    block.sumsq[cells] = (count * value * value).sum(axis=1)
