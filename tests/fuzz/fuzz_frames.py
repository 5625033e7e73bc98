"""Fuzz target: no bytes make the frame reader fail, lie about extents, or lose a frame behind.

Run by hand as a program (needs atheris); a test runs `fuzz_one` over seeds and their mutations.
"""

import io
import sys
from contextlib import suppress

from pfscope.frames import Damage, FrameError, decode, scan
from tests.support.frame_samples import encoded

GOOD = encoded(4711)
SEEDS = (encoded(0), encoded(1) + encoded(2), GOOD[:50] + GOOD, b"\x89PFF\r\n\x1a\n" * 5)
RAW_LIMIT = 1 << 20


def fuzz_one(data: bytes) -> None:
    """Read the bytes as a frame, as a file, and as a file with a good frame behind them."""
    with suppress(FrameError):
        decode(data)
    _read(data)
    if _read(data + GOOD)[-1] != ("mds1", "boot.1", 4711):
        raise AssertionError(f"the good frame is lost behind {data!r}")


def _read(data: bytes) -> list[tuple[str, str, int]]:
    keys, end = [], 0
    for item in scan(io.BytesIO(data)):
        if item.offset != end or item.length <= 0:
            raise AssertionError(f"a gap or an overlap at {item.offset} in {data!r}")
        end = item.offset + item.length
        if isinstance(item, Damage):
            continue
        keys.append(item.frame.key)
        with suppress(FrameError):
            list(item.frame.sections(RAW_LIMIT))
    if end != len(data):
        raise AssertionError(f"{len(data) - end} bytes are unaccounted for in {data!r}")
    return keys


if __name__ == "__main__":
    import atheris

    atheris.instrument_all()
    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()
