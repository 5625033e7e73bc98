"""Draws what the sources of one kind of target do in one step: Poisson counts, all at once.

Requests that carry bytes are drawn for each I/O size, so that count, sum, sum of squares, minimum,
maximum and histogram belong together exactly. Parts of `rename` are drawn out of its count.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.archetypes import OPERATIONS, SLOTS, Profiles
from pfscope.lab.calibration import Calibration
from pfscope.lab.dialects import Kind
from pfscope.lab.sources import Floats, Ints, Sources
from pfscope.lab.tables import Counters
from pfscope.lab.tuning import Factors

_RENAME_PARTS = {
    "samedir_rename": 0.7, "parallel_rename_file": 0.35, "parallel_rename_dir": 0.04,
    "rename_trylocks": 0.3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draw:
    """What was done in a step, one row for each source that did anything."""

    source: NDArray[np.int64]
    """Rows of the sources."""
    entry_id: Ints
    target: Ints
    samples: Counters
    """[rows, operations]"""
    by_size: Counters
    """[rows, 2 * SLOTS]: requests of each size, reads and then writes."""
    sizes: NDArray[np.int64]
    """[rows, 2 * SLOTS]"""


class Activity:
    """The sources of one kind of target at work."""

    def __init__(
        self, kind: Kind, profiles: Profiles, factors: Factors, calibration: Calibration,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self._kind, self._profiles, self._factors = kind, profiles, factors
        self._calibration, self._rng = calibration, rng
        self._column = {op: index for index, op in enumerate(OPERATIONS[kind])}

    def draw(self, sources: Sources, begin_s: float, end_s: float, down: NDArray[np.bool_]) -> Draw:
        """Return what `sources` do between two times, except on targets that are down."""
        on = np.minimum(sources.off_s, end_s) - np.maximum(sources.on_s, begin_s)
        expected_s = np.maximum(on, 0.0) * _rhythm(sources, begin_s, end_s)
        expected_s[down[sources.target]] = 0.0
        chance = -np.expm1(-sources.touch * expected_s)
        source = np.flatnonzero(self._rng.random(len(sources)) < chance)
        chosen = sources.take(source)
        # The hour of the day makes touches stronger, not more frequent.
        edges = self._calibration.busy_seconds(self._kind, np.array([begin_s, end_s]))
        hour = float(edges[1] - edges[0]) / (end_s - begin_s)
        strength = chosen.weight * (expected_s[source] / chance[source])
        strength *= np.where(chosen.steady, 1.0, hour)
        return self._requests(source, chosen, strength)

    def _requests(self, source: NDArray[np.int64], chosen: Sources, strength: Floats) -> Draw:
        p, rng = self._profiles, self._rng
        kinds = chosen.archetype
        mean = np.asarray(self._factors.rates)[chosen.factors]
        mean *= p.rates[kinds]
        mean *= strength[:, None]
        samples = rng.poisson(mean)
        sizes = np.take_along_axis(
            np.asarray(self._factors.sizes)[chosen.factors], p.size_class[kinds], axis=1
        )
        mean_by_size = sizes * p.slot_rates[kinds] * strength[:, None]
        by_size = rng.poisson(mean_by_size)
        self._at_least_one(samples, by_size, mean, mean_by_size)
        self._split_renames(samples)
        for first, requests, carried in (
            (0, "read", "read_bytes"),
            (SLOTS, "write", "write_bytes"),
        ):
            count = by_size[:, first : first + SLOTS].sum(axis=1)
            samples[:, self._column[requests]] = samples[:, self._column[carried]] = count
        other = rng.random(len(source)) < chosen.other_share
        done = samples.any(axis=1)
        return Draw(
            source[done],
            np.where(other, chosen.other_id, chosen.entry_id)[done],
            chosen.target[done],
            samples[done].astype(np.uint64),
            by_size[done].astype(np.uint64),
            p.slot_sizes[kinds[done]],
        )

    def _at_least_one(
        self, samples: NDArray[np.int64], by_size: NDArray[np.int64], mean: Floats,
        mean_by_size: Floats,
    ) -> None:  # fmt: skip
        """A touch is a request: where nothing was drawn, the likeliest one happened."""
        silent = np.flatnonzero(~(samples.any(axis=1) | by_size.any(axis=1)))
        both = np.concatenate((mean[silent], mean_by_size[silent]), axis=1)
        likeliest = both.argmax(axis=1)
        ever = both[np.arange(len(silent)), likeliest] > 0
        silent, likeliest = silent[ever], likeliest[ever]
        width = samples.shape[1]
        sized = likeliest >= width
        samples[silent[~sized], likeliest[~sized]] = 1
        by_size[silent[sized], likeliest[sized] - width] = 1

    def _split_renames(self, samples: NDArray[np.int64]) -> None:
        if "rename" not in self._column:
            return
        rows = np.flatnonzero(samples[:, self._column["rename"]])
        renames = samples[rows, self._column["rename"]]
        for part, share in _RENAME_PARTS.items():
            samples[rows, self._column[part]] = self._rng.binomial(renames, share)
        samples[rows, self._column["crossdir_rename"]] = (
            renames - samples[rows, self._column["samedir_rename"]]
        )


def _rhythm(sources: Sources, begin_s: float, end_s: float) -> Floats:
    """Return each source's activity relative to its mean while it is on."""
    period = np.where(sources.period_s > 0, sources.period_s, 1.0)
    on_s = _on_time(end_s - sources.phase_s, period, sources.duty)
    on_s -= _on_time(begin_s - sources.phase_s, period, sources.duty)
    relative = np.maximum(on_s, 0.0) / ((end_s - begin_s) * sources.duty)
    rhythm: Floats = np.where(sources.period_s > 0, relative, 1.0)
    return rhythm


def _on_time(time_s: Floats, period_s: Floats, duty: Floats) -> Floats:
    """Return how long a rhythm has been on since its phase began."""
    whole, rest = np.divmod(time_s, period_s)
    on: Floats = (whole * duty + np.minimum(rest / period_s, duty)) * period_s
    return on
