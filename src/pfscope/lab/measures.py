"""Blocks of counters as Lustre keeps them: samples, minimum, maximum, sum, sum of squares.

A block has one row for each thing that counts and one column for each operation. Sums of squares
wrap at 2^64 as the kernel's do. Where nothing was counted the minimum is the largest number, so
that blocks merge without special cases; `shown` turns it into Lustre's zero.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.tables import Counters

NOTHING = np.iinfo(np.uint64).max


@dataclass(slots=True)
class Block:
    """Five matrices of one shape."""

    samples: Counters
    minimum: Counters
    maximum: Counters
    total: Counters
    sumsq: Counters

    @property
    def all(self) -> tuple[Counters, Counters, Counters, Counters, Counters]:
        """Return the five matrices."""
        return self.samples, self.minimum, self.maximum, self.total, self.sumsq

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> "Block":
        """Return some of the rows; with a slice, a view of them."""
        return Block(*(matrix[rows] for matrix in self.all))

    def columns(self, columns: NDArray[np.intp]) -> "Block":
        """Return some of the columns."""
        return Block(*(matrix[..., columns] for matrix in self.all))

    def shown(self) -> "Block":
        """Return the block as Lustre prints it: a zero where nothing was measured."""
        minimum = np.where(self.minimum == NOTHING, np.uint64(0), self.minimum)
        return Block(self.samples, minimum, self.maximum, self.total, self.sumsq)

    def clear(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> None:
        """Start rows anew."""
        for matrix, value in zip(self.all, (0, NOTHING, 0, 0, 0), strict=True):
            matrix[rows] = value

    def grouped(self, starts: NDArray[np.intp]) -> "Block":
        """Return one row for each run of rows; `starts` are the first rows of the runs."""
        return Block(
            np.add.reduceat(self.samples, starts),
            np.minimum.reduceat(self.minimum, starts),
            np.maximum.reduceat(self.maximum, starts),
            np.add.reduceat(self.total, starts),
            np.add.reduceat(self.sumsq, starts),
        )

    def merge(self, rows: NDArray[np.intp], other: "Block") -> None:
        """Add the rows of another block to these rows, each of which is named once."""
        self.samples[rows] += other.samples
        self.minimum[rows] = np.minimum(self.minimum[rows], other.minimum)
        self.maximum[rows] = np.maximum(self.maximum[rows], other.maximum)
        self.total[rows] += other.total
        self.sumsq[rows] += other.sumsq


def zeros(rows: int, columns: int) -> Block:
    """Return a block that has counted nothing."""
    block = Block(*(np.zeros((rows, columns), np.uint64) for _ in range(5)))
    block.minimum[:] = NOTHING
    return block


def groups(keys: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the order that brings equal keys together, and where each run of them begins."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.ones(len(keys), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return order, np.flatnonzero(first)
