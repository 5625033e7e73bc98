"""The fuzz target for job_stats over its seeds, mutated."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.fuzz_job_stats import SEEDS, fuzz_one


@st.composite
def mutated(draw):
    data = bytearray(draw(st.sampled_from(SEEDS)) * draw(st.integers(1, 2)))
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(data)))
        what = draw(st.binary(max_size=4) | st.sampled_from([b"\n", b"- job_id:", b"{", b","]))
        data[at : at + draw(st.integers(0, 6))] = what
    return bytes(data)


@settings(deadline=None, max_examples=150)
@given(mutated())
def test_mutations(data):
    fuzz_one(data)
