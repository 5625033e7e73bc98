"""Bodies of any content, cut anywhere, in every encoding: decoded exactly, or refused in time."""

import asyncio
import gzip
from itertools import pairwise

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.frames import decode
from pfscope.server.errors import Refusal
from pfscope.server.judge import Candidate, judge
from pfscope.server.limits import Limits
from pfscope.server.receive import Body, Collected, Held, Share
from tests.support.frame_samples import encoded

FRAMES = [encoded(i) for i in range(4)]
ENCODE = {
    "identity": lambda data: data,
    "gzip": gzip.compress,
    "zstd": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


def received(wire, encoding, cuts, limits):
    held = Held(limits.held_bytes)

    async def take():
        pieces = [0, *sorted(cut % (len(wire) + 1) for cut in cuts), len(wire)]

        async def chunks():
            for begin, end in pairwise(pieces):
                yield wire[begin:end]

        with Share(held) as share:
            sink = Collected(share)
            try:
                await Body(encoding, sink, limits, share).take(chunks(), None)
            finally:
                assert len(sink.data) <= limits.raw_bytes
                assert held.bytes <= limits.held_bytes
            return bytes(sink.data)

    try:
        return asyncio.run(take())
    finally:
        assert held.bytes == 0


def outcome(*arguments):
    try:
        received(*arguments)
    except Refusal as refusal:
        return refusal.status
    return 200


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=3000), st.sampled_from(sorted(ENCODE)), st.lists(st.integers(0, 4000)))
def test_what_was_sent_is_what_arrives(data, encoding, cuts):
    wire = ENCODE[encoding](data)
    assert received(wire, encoding, cuts, Limits()) == data


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=3000), st.sampled_from(sorted(ENCODE)), st.lists(st.integers(0, 4000)))
def test_any_bytes_are_decoded_or_refused(wire, encoding, cuts):
    assert outcome(wire, encoding, cuts, Limits()) in (200, 400)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 20_000),
    st.sampled_from(sorted(ENCODE)),
    st.integers(1, 10_000),
    st.integers(1, 10_000),
)
def test_limits_hold_whatever_is_sent(size, encoding, body_bytes, raw_bytes):
    limits = Limits(body_bytes=body_bytes, raw_bytes=raw_bytes)
    wire = ENCODE[encoding](b"x" * size)
    fits = len(wire) <= body_bytes and size <= raw_bytes
    assert outcome(wire, encoding, [7, 70], limits) == (200 if fits else 413)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.sampled_from(FRAMES), st.binary(min_size=1, max_size=60)), max_size=8))
def test_whole_frames_are_found_among_rubbish(pieces):
    limits = Limits()
    items = judge(b"".join(pieces), lambda _server: True, limits)
    kept = [item.encoded for item in items if isinstance(item, Candidate)]
    assert [frame for frame in kept if frame in FRAMES] == kept
    assert kept == [piece for piece in pieces if piece in FRAMES]
    assert all(
        decode(item.encoded).key == item.key for item in items if isinstance(item, Candidate)
    )
