"""A frame's bytes: what goes in comes out, and each kind of defect is named."""

import json
import struct
import zlib

import pytest

from pfscope.frames import FrameBuilder, FrameError, Origin, Section, decode, encode
from pfscope.frames.record import HEAD_BYTES, MARK, META_LIMIT, PAYLOAD_LIMIT
from tests.support.frame_samples import SECTIONS, WALL_NS, encoded, origin

FIELDS = struct.Struct(">8sBBHIIqI")


def framed(meta, payload, version=1, flags=0, wall_ns=WALL_NS):
    """A frame put together by hand from the specification, with every checksum right."""
    body = meta + payload
    fields = FIELDS.pack(
        MARK, version, flags, 0, len(meta), len(payload), wall_ns, zlib.crc32(body)
    )
    return fields + struct.pack(">I", zlib.crc32(fields)) + body


def meta_with(**changes):
    fields = {
        "server": "mds1", "epoch": "boot.1", "sequence": 7, "monotonic_ns": 5, "interval_s": 60,
        "effective_interval_s": 60, "filesystems": ["scratch"],
        "sections": [["lctl", 3, 10]], "notes": {},
    }  # fmt: skip
    fields.update(changes)
    return json.dumps({k: v for k, v in fields.items() if v is not ...}).encode()


def test_a_frame_keeps_everything():
    frame = decode(encoded(7, notes={"agent": "x", "dropped": {"age": 2}}))
    assert frame.origin == origin(7)
    assert frame.key == ("mds1", "boot.1", 7)
    assert frame.notes == {"agent": "x", "dropped": {"age": 2}}
    assert tuple(frame.sections()) == SECTIONS
    assert frame.raw_bytes == sum(len(s.text) for s in SECTIONS)


def test_encoding_again_gives_the_same_bytes():
    data = encoded(3)
    assert encode(decode(data)) == data


def test_the_specification_is_enough_to_write_a_frame():
    frame = decode(framed(meta_with(), zlib.compress(b"abc")))
    assert frame.key == ("mds1", "boot.1", 7)
    assert [(s.name, s.text) for s in frame.sections()] == [("lctl", b"abc")]


def test_chunks_and_whole_sections_are_the_same():
    builder = FrameBuilder()
    for section in SECTIONS:
        builder.begin(section.name)
        for i in range(len(section.text)):
            builder.add(memoryview(section.text)[i : i + 1])
        builder.end(section.duration_us)
    frame = decode(builder.finish(origin()))
    assert tuple(frame.sections()) == SECTIONS


def test_empty_sections_and_empty_frames():
    assert list(decode(encoded(sections=())).sections()) == []
    empty = (Section("a", b""), Section("b", b"x"), Section("c", b""))
    assert tuple(decode(encoded(sections=empty)).sections()) == empty


def test_names_that_are_not_utf8_travel():
    section = Section(b"mdt.caf\xe9.stats".decode("utf-8", "surrogateescape"), b"1\n")
    (found,) = decode(encoded(sections=(section,))).sections()
    assert found.lctl_form() == b"mdt.caf\xe9.stats=\n1\n"


@pytest.mark.parametrize(
    ("section", "form"),
    [
        (Section("mdt.x.num_exports", b"12\n"), b"mdt.x.num_exports=\n12\n"),
        (Section("mdt.x.num_exports", b"12"), b"mdt.x.num_exports=\n12\n"),
        (Section("mdt.x.job_stats", b""), b""),
        (Section("lctl", b"a.b=1\n"), b"a.b=1\n"),
        (Section("lctl", b"a.b=1"), b"a.b=1\n"),
    ],
)
def test_lctl_form(section, form):
    assert section.lctl_form() == form


GOOD = zlib.compress(b"abc")
MALFORMED = {
    "nothing": b"",
    "another mark": b"\x89PNG" + encoded()[4:],
    "line ends converted on the way": encoded().replace(b"\r\n", b"\n"),
    "head cut off": encoded()[: HEAD_BYTES - 1],
    "body cut off": encoded()[:-1],
    "something behind": encoded() + b"\0",
    "head checksum": encoded()[:20] + b"\xff" + encoded()[21:],
    "body checksum": encoded()[:-1] + bytes([encoded()[-1] ^ 1]),
    "newer version": framed(meta_with(), GOOD, version=2),
    "unknown flag": framed(meta_with(), GOOD, flags=1),
    "meta is no JSON": framed(b"{", GOOD),
    "meta is a list": framed(b"[]", GOOD),
    "meta is not ASCII": framed(b'"\xe9"', GOOD),
    "meta is nested a million times": framed(b"[" * 1_000_000, GOOD),
    "meta holds NaN": framed(meta_with(interval_s=float("nan")), GOOD),
    "meta holds infinity": framed(meta_with(effective_interval_s=float("inf")), GOOD),
    "interval is too large for a float": framed(meta_with(interval_s=10**400), GOOD),
    "interval is negative": framed(meta_with(interval_s=-1), GOOD),
    "interval is text": framed(meta_with(interval_s="60"), GOOD),
    "no server": framed(meta_with(server=...), GOOD),
    "empty server": framed(meta_with(server=""), GOOD),
    "server is a number": framed(meta_with(server=1), GOOD),
    "server forges a line": framed(meta_with(server="a\nb"), GOOD),
    "sequence is true": framed(meta_with(sequence=True), GOOD),
    "sequence is negative": framed(meta_with(sequence=-1), GOOD),
    "sequence beyond 63 bits": framed(meta_with(sequence=1 << 63), GOOD),
    "sections are an object": framed(meta_with(sections={}), GOOD),
    "section of two fields": framed(meta_with(sections=[["lctl", 3]]), GOOD),
    "section of negative size": framed(meta_with(sections=[["lctl", -3, 0]]), GOOD),
    "section forges a parameter": framed(meta_with(sections=[["a=1\nb", 3, 0]]), GOOD),
    "notes are a list": framed(meta_with(notes=[]), GOOD),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_frames_are_refused(data):
    with pytest.raises(FrameError):
        decode(data)


LYING_PAYLOADS = {
    "no zlib stream": b"abc",
    "empty": b"",
    "cut off": GOOD[:-2],
    "checksum of the stream": GOOD[:-1] + b"\0",
    "longer than declared": zlib.compress(b"abcd"),
    "shorter than declared": zlib.compress(b"ab"),
    "something behind the stream": GOOD + b"x",
    "a bomb": zlib.compress(bytes(50 << 20)),
}


@pytest.mark.parametrize("payload", LYING_PAYLOADS.values(), ids=LYING_PAYLOADS)
def test_payloads_that_lie_are_refused(payload):
    frame = decode(framed(meta_with(), payload))
    with pytest.raises(FrameError):
        list(frame.sections())
    with pytest.raises(FrameError):
        frame.verify()


def test_a_declared_size_beyond_the_callers_limit_inflates_nothing():
    frame = decode(framed(meta_with(sections=[["lctl", 1 << 40, 0]]), GOOD))
    with pytest.raises(FrameError, match="more than allowed"):
        next(frame.sections(raw_limit=1 << 20))


@pytest.mark.parametrize(("meta", "payload"), [(META_LIMIT + 1, 0), (0, PAYLOAD_LIMIT + 1)])
def test_heads_that_declare_too_much_are_refused(meta, payload):
    fields = FIELDS.pack(MARK, 1, 0, 0, meta, payload, 0, 0)
    with pytest.raises(FrameError, match="beyond all limits"):
        decode(fields + struct.pack(">I", zlib.crc32(fields)))


def test_a_builder_refuses_names_that_its_reader_would_refuse():
    builder = FrameBuilder()
    with pytest.raises(FrameError):
        builder.finish(Origin("a\nb", "e", 0, 0))
