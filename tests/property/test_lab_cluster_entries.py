"""The arrays of entries against a dictionary that does the same, slowly and obviously."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.lab.activity import Draw
from pfscope.lab.archetypes import OPERATIONS, SLOTS, profiles
from pfscope.lab.entries import Entries
from pfscope.lab.measures import NOTHING, Block, zeros

NS = 10**9
TARGETS, WIDTH = 2, len(OPERATIONS["ost"])
PROFILES = profiles("ost")
REQUESTS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, TARGETS - 1), st.integers(1, 2**40)), max_size=8
)
STEPS = st.lists(st.tuples(REQUESTS, st.integers(0, 9)), min_size=1, max_size=12)


def drawn(requests):
    """One row for each (id, target, value): a single sample of the first timed operation."""
    count = len(requests)
    samples = np.zeros((count, WIDTH), np.uint64)
    samples[:, 2] = 1
    block = zeros(count, WIDTH)
    values = np.array([value for _, _, value in requests], np.uint64)
    for matrix, column in zip(
        block.all, (samples[:, 2], values, values, values, values * values), strict=True
    ):
        matrix[:, 2] = column
    draw = Draw(
        np.arange(count),
        np.array([i for i, _, _ in requests], np.int32),
        np.array([t for _, t, _ in requests], np.int32),
        block.samples,
        np.zeros((count, 2 * SLOTS), np.uint64),
        np.ones((count, 2 * SLOTS), np.int64),
    )
    return draw, block


class Model:
    def __init__(self):
        self.entries, self.scanned = {}, [0] * TARGETS

    def scan(self, now, interval, targets):
        for target in targets:
            phase, period = target * 97 * NS, interval // 2
            if (now + phase) // period > (self.scanned[target] + phase) // period:
                self.scanned[target] = now
                self.entries = {
                    k: v
                    for k, v in self.entries.items()
                    if k[1] != target or v["last"] >= now - interval - interval // 3
                }

    def book(self, requests, when):
        for entry_id, target, value in requests:
            entry = self.entries.setdefault((entry_id, target), {"values": []})
            entry["values"].append(value)
            entry["last"] = when


@settings(deadline=None, max_examples=80)
@given(STEPS, st.integers(0, TARGETS - 1))
def test_entries_are_those_of_the_model(steps, forgotten):
    entries = Entries("ost", TARGETS, PROFILES, 0)
    no_offset = np.zeros(TARGETS, np.int64)
    entries.scan(0, 600, np.ones(TARGETS, bool), no_offset)
    model, now, rng = Model(), 0, np.random.default_rng(1)
    for number, (requests, minutes) in enumerate(steps):
        now += (1 + minutes) * 60 * NS
        draw, block = drawn(requests)
        busy = np.isin(np.arange(TARGETS), draw.target)
        entries.scan(now, 600, busy, no_offset)
        model.scan(now, 600 * NS, sorted(set(draw.target.tolist())))
        moment = np.full(len(requests), now)
        entries.book(draw, block, (moment, moment), np.zeros(TARGETS, np.int64), rng)
        model.book(requests, now)
        if number == len(steps) // 2:
            entries.forget(forgotten, now)
            model.entries = {k: v for k, v in model.entries.items() if k[1] != forgotten}
            model.scanned[forgotten] = now
        compare(entries, model)


def compare(entries, model):
    found = {}
    for target, shown in enumerate(entries.shown()):
        block = entries.counters(shown.rows, np.array([2]))
        assert (np.diff(shown.start_ns) >= 0).all()
        for row, entry_id in enumerate(shown.entry_id.tolist()):
            assert (entry_id, target) not in found
            cell = [int(matrix[row, 0]) for matrix in block.all]
            found[entry_id, target] = (cell, int(shown.last_ns[row]))
    expected = {
        key: (
            [len(v), min(v), max(v), sum(v) % 2**64, sum(x * x for x in v) % 2**64],
            entry["last"],
        )
        for key, entry in model.entries.items()
        for v in [entry["values"]]
    }
    assert found == expected


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_a_block_that_counted_nothing_shows_zeros_and_merges_away(values):
    block, other = zeros(1, 1), zeros(1, 1)
    for value in values:
        one = Block(*(np.array([[x % 2**64]], np.uint64) for x in (1, value, value, value, value)))
        block.merge(np.array([0]), one)
    block.merge(np.array([0]), other)
    shown = block.shown()
    assert int(shown.minimum[0, 0]) == (min(values) if values and min(values) != NOTHING else 0)
    assert int(shown.maximum[0, 0]) == max(values, default=0)
    assert int(shown.samples[0, 0]) == len(values)
