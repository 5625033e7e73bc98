"""Frames whose content is known, for tests of whatever keeps, carries or reads them."""

import random

from pfscope.frames import FrameBuilder, Origin, Section

TEXT = b"job_stats:\n- job_id:          4242:1000:r01c01\n"
SECTIONS = (
    Section("mdt.scratch-MDT0000.job_stats", TEXT, 1500),
    Section("mdt.scratch-MDT0000.num_exports", b"12\n", 20),
    Section("/proc/loadavg", b"0.10 0.20 0.30 1/200 4711\n", 30),
)
WALL_NS = 1_700_000_000 * 10**9


def origin(sequence=0, wall_ns=WALL_NS, server="mds1"):
    return Origin(server, "boot.1", sequence, wall_ns, 5, 60.0, 60.0, ("scratch",))


def encoded(sequence=0, sections=SECTIONS, wall_ns=WALL_NS, server="mds1", notes=None):
    builder = FrameBuilder()
    for section in sections:
        builder.section(section)
    return builder.finish(origin(sequence, wall_ns, server), notes or {"agent": "test"})


def sized(sequence, size, wall_ns=WALL_NS):
    """Return a frame of about `size` bytes: its text does not compress."""
    noise = random.Random(sequence).randbytes(size)
    return encoded(sequence, (Section("lctl", noise),), wall_ns)
