"""Darshan's logs of any bytes: refused, or rows that are sound."""

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.fuzz_darshan import SEEDS, fuzz_one

WORDS = st.sampled_from([0, 1, -1, -2, 2**31, 2**62, -(2**63), 2**63 - 1, 0x7FF0000000000000])


@st.composite
def mutated(draw):
    """Change words of a log, most of them whole, so that it is still a log."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            at = 8 * draw(st.integers(0, len(data) // 8 - 1))
            data[at : at + 8] = struct.pack("<q", draw(WORDS | st.integers(-(2**63), 2**63 - 1)))
        else:
            at = draw(st.integers(0, len(data)))
            data[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


@settings(deadline=None, max_examples=150)
@given(mutated())
def test_the_fuzz_target_over_mutated_logs(data):
    fuzz_one(data)


def test_the_seeds_are_logs():
    for seed in SEEDS:
        fuzz_one(seed)
