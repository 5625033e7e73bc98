"""The frame reader over any frames and any bytes: round trips, mutations, frames in rubble."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.frames import Found, FrameBuilder, Origin, Section, decode, scan
from tests.fuzz.fuzz_frames import SEEDS, fuzz_one
from tests.support.frame_samples import encoded

names = st.text(min_size=1, max_size=20).filter(lambda s: not set(s) & set("\n\r\0"))
counts = st.integers(0, 2**63 - 1)
durations = st.floats(0, 1e9)
sections = st.builds(Section, names, st.binary(max_size=200), counts)
origins = st.builds(
    Origin, names, names, counts, st.integers(-(2**63), 2**63 - 1), counts, durations, durations,
    st.lists(names, max_size=3).map(tuple),
)  # fmt: skip
notes = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers(), max_size=3)


@settings(deadline=None, max_examples=100)
@given(origins, st.lists(sections, max_size=5), notes)
def test_whatever_goes_in_comes_out(origin, texts, noted):
    builder = FrameBuilder()
    for section in texts:
        builder.section(section)
    frame = decode(builder.finish(origin, noted))
    assert frame.origin == origin
    assert frame.notes == noted
    assert list(frame.sections()) == texts


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 9) | st.binary(max_size=30), max_size=8))
def test_every_frame_among_rubble_is_found(parts):
    data = b"".join(encoded(p) if isinstance(p, int) else p for p in parts)
    found = [i.frame.origin.sequence for i in scan(io.BytesIO(data)) if isinstance(i, Found)]
    assert found == [p for p in parts if isinstance(p, int)]


@st.composite
def mutated(draw):
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 6))] = draw(st.binary(max_size=8))
    return bytes(data)


@settings(deadline=None, max_examples=200)
@given(mutated() | st.binary(max_size=200))
def test_the_fuzz_target_over_mutated_seeds(data):
    fuzz_one(data)
