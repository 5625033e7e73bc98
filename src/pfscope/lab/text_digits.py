"""Decimal numbers written into rows of bytes, many at a time.

A row is a template in which every number is `0`. A number grows to the left from where its last
digit stands; what a template reserves beyond the printed width is NUL, and `squeezed` removes it.
"""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Positions = NDArray[np.intp]
Numbers = NDArray[np.uint64]

NS = 1_000_000_000
_TEN = np.uint64(10)
_ZERO = np.uint8(ord("0"))


def digits_of(values: Numbers) -> int:
    """Return how many digits the largest of the values has."""
    return len(str(int(values.max()))) if values.size else 1


def field(width: int, digits: int) -> bytes:
    """Return the template of a zero printed as `%<width>d`, with room for so many digits."""
    return b"\0" * (digits - max(width, 1)) + b"%*d" % (width, 0)


def write_numbers(out: Bytes, last: Positions, values: Numbers) -> None:
    """Write each value so that its last digit stands at `out[last]`."""
    while values.size:
        quotient = values // _TEN
        out[last] = (values - quotient * _TEN).astype(np.uint8) + _ZERO
        more = np.flatnonzero(quotient)
        values, last = quotient[more], last[more] - 1


def squeezed(out: Bytes) -> bytes:
    """Return the bytes without the NULs that reserved room."""
    return out.tobytes().translate(None, b"\0")
