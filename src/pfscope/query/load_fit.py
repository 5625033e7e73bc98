"""What a request costs its server, learned from the server's load: arrays in, arrays out.

    work = base + sum of weight × rate         base and weights are not negative
    load = work / (1 − work / capacity)        the capacity may be infinite: then load is work

The second line is the queue with which everything takes longer as a server gets busy. Weights are
drawn to one cost for every request and one for every byte, as strongly as predicts steps that a fit
has not seen nearly best: what the data cannot tell apart costs the same.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEAST_STEPS: Final = 30
LEAST_FIT: Final = 0.5
"""Of the variance of steps that a fit has not seen."""
_IDLE: Final = 0.02
"""Loads are printed with two digits: below this there is nothing to learn from."""
_RARE: Final = 0.01
"""Operations that hardly ever make up more of the requests have one weight together."""
_FOLDS: Final = 5
_BLOCKS: Final = 4 * _FOLDS
"""Neighbouring steps are alike, so that whole blocks are left out, not steps."""
_STRENGTHS: Final = tuple(10.0**power for power in range(-6, 1))
_CAPACITIES: Final = (np.inf, *(2.0**power for power in range(3, -8, -1)))
"""Relative to the highest load."""
_USUAL_STRENGTH: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Learned:
    """The costs of a server's requests."""

    weights: Floats
    """[features]: seconds of an idle server for each request or byte."""
    base: float
    """Load that no request explains."""
    capacity: float
    """Work at which the server would be busy all the time; infinite: load is proportional."""
    fit: float
    """Which part of the variance it explains in steps that it has not seen."""


def learn(rates: Floats, in_bytes: Bools, load: Floats) -> Learned | str:
    """Return what requests cost, or why that cannot be told.

    `rates` is [steps, features] per second, `in_bytes` tells which features count bytes.
    """
    if len(load) < LEAST_STEPS:
        return f"load and requests are known together for {len(load)} steps; it takes {LEAST_STEPS}"
    if load.max() <= _IDLE or not rates.any():
        return "the server had nothing to do"
    if np.ptp(load) <= _IDLE:
        return "the load hardly changed"
    groups, grouped_bytes = _groups(rates, in_bytes)
    problem = _Problem(rates @ groups, grouped_bytes, load)
    capacity = _best_capacity(problem)
    strength, unseen = _strongest(problem, capacity)
    if 1 - unseen < LEAST_FIT:
        return (
            f"the best fit explains {max(0.0, 1 - unseen):.0%} of the load in steps that it has "
            f"not seen; it takes {LEAST_FIT:.0%}"
        )
    weights, base = problem.solution(capacity, strength)
    return Learned(groups @ weights, base, float(capacity * load.max()), 1 - unseen)


def _best_capacity(problem: "_Problem") -> float:
    """Return the capacity, relative to the highest load, that predicts steps not seen best."""

    def left(capacity: float) -> float:
        return problem.unseen(capacity, _USUAL_STRENGTH)[0]

    roughly = min(_CAPACITIES, key=left)
    near = [roughly * 2.0 ** (quarter / 4.0) for quarter in range(-3, 4)]
    return float(min(near, key=left))


def _strongest(problem: "_Problem", capacity: float) -> tuple[float, float]:
    """Return the strongest pull to equal costs that is within a standard error of the best."""
    tried = [(*problem.unseen(capacity, strength), strength) for strength in _STRENGTHS]
    best, error, _ = min(tried)
    return max((strength, unseen) for unseen, _, strength in tried if unseen <= best + error)


def _groups(rates: Floats, in_bytes: Bools) -> tuple[Floats, Bools]:
    """Return what gets a weight together, [features, groups], and which groups are of bytes."""
    requests = np.where(in_bytes, 0.0, rates)
    shares = requests / np.maximum(requests.sum(axis=1, keepdims=True), 1e-12)
    rare = ~in_bytes & (np.quantile(shares, 0.99, axis=0) < _RARE)
    alone = np.flatnonzero(~rare)
    together = np.zeros((len(rare), len(alone) + int(rare.any())))
    together[alone, np.arange(len(alone))] = 1.0
    together[rare, -1] = 1.0
    return together, np.append(in_bytes[alone], np.zeros(int(rare.any()), bool))


class _Problem:
    """Least squares of load over rates, for one capacity and one strength at a time.

    Unknowns: each weight times the mean rate of its kind, so that all are of a load's magnitude;
    the common cost of requests, that of bytes; the base.
    """

    def __init__(self, rates: Floats, in_bytes: Bools, load: Floats) -> None:
        count = rates.shape[1]
        mean = rates.mean(axis=0)
        totals = mean[~in_bytes].sum(), mean[in_bytes].sum()
        self._scale = 1.0 / np.maximum(np.where(in_bytes, totals[1], totals[0]), 1e-12)
        self._load, self._count = load, count
        nothing = np.zeros((len(load), 2))
        self._rows = np.hstack((rates * self._scale, nothing, np.ones((len(load), 1))))
        pull = np.zeros((count + 2, count + 3))
        pull[:count, :count] = np.eye(count)
        pull[np.arange(count), count + in_bytes] = -1.0
        pull[count:, count + 1 :] = np.eye(2)
        self._pull = pull.T @ pull
        self._fold = (np.arange(len(load)) * _BLOCKS // len(load)) % _FOLDS

    def solution(self, capacity: float, strength: float) -> tuple[Floats, float]:
        """Return weights and base of all steps."""
        found = self._solve(self._work(capacity), strength, np.ones(len(self._load), bool))
        return found[: self._count] * self._scale, float(found[-1])

    def unseen(self, capacity: float, strength: float) -> tuple[float, float]:
        """Return the part of the variance that is left in steps not seen, and its error."""
        work = self._work(capacity)
        squares = np.zeros(len(work))
        for fold in range(_FOLDS):
            seen = self._fold != fold
            found = self._solve(work, strength, seen)
            squares[~seen] = (self._rows[~seen] @ found - work[~seen]) ** 2
        whole = max(((work - work.mean()) ** 2).sum(), 1e-300)
        error = squares.std() * np.sqrt(len(squares))
        return float(squares.sum() / whole), float(error / whole)

    def _work(self, capacity: float) -> Floats:
        work: Floats = self._load / (1.0 + self._load / (capacity * self._load.max()))
        return work

    def _solve(self, work: Floats, strength: float, seen: Bools) -> Floats:
        rows = self._rows[seen]
        return nnls(rows.T @ rows + strength * len(rows) * self._pull, rows.T @ work[seen])


def nnls(gram: Floats, right: Floats) -> Floats:
    """Return the x without negative parts for which x'Gx - 2r'x is least (Lawson and Hanson)."""
    x = np.zeros(len(right))
    free = np.zeros(len(right), bool)
    slope, enough = right.copy(), 1e-10 * np.abs(right).max(initial=0.0)
    for _ in range(5 * len(right)):
        if free.all() or slope[~free].max() <= enough:
            break
        free[np.argmax(np.where(free, -np.inf, slope))] = True
        x, free = _inside(gram, right, x, free)
        slope = right - gram @ x
    return x


def _inside(gram: Floats, right: Floats, x: Floats, free: Bools) -> tuple[Floats, Bools]:
    """Go from x to the best values of what is free, as far as nothing becomes negative."""
    while free.any():
        goal = np.zeros(len(x))
        goal[free] = np.linalg.lstsq(gram[np.ix_(free, free)], right[free], rcond=1e-14)[0]
        below = free & (goal <= 0)
        if not below.any():
            return goal, free
        x = x + min(1.0, (x[below] / (x[below] - goal[below])).min()) * (goal - x)
        # What limited the way is at zero, but for rounding.
        free = free & ~(below & (x <= 1e-14 * max(x.max(), 1.0)))
        x = np.where(free, x, 0.0)
    return x, free
