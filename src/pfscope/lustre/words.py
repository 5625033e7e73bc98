"""Eight bytes at a time: decimal numbers of a whole text read with a handful of array operations.

A `Text` keeps margins of newlines around the bytes, so that a word may be loaded at any offset of
the text without looking where it ends. All offsets are those of the padded buffer.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]
Words = NDArray[np.uint64]

MARGIN: Final = 64
_PAD: Final = b"\n" * MARGIN

_HIGH: Final = np.uint64(0x8080808080808080)
_LOW7: Final = np.uint64(0x7F7F7F7F7F7F7F7F)
_ZEROS: Final = np.uint64(0x3030303030303030)
_TEN_TO_HIGH: Final = np.uint64(0x7676767676767676)
_PAIRS: Final = np.uint64(0x00FF00FF00FF00FF)
_QUADS: Final = np.uint64(0x0000FFFF0000FFFF)
_HALF: Final = np.uint64(0xFFFFFFFF)
_MAX_HIGH: Final = np.uint64(1844)
_MAX_REST: Final = np.uint64(6744073709551615)


class Text:
    """Bytes with margins, seen as bytes (`octets`) and as the eight bytes at every offset."""

    __slots__ = ("octets", "padded", "words")

    def __init__(self, text: bytes) -> None:
        self.padded = _PAD + text + _PAD
        self.octets = np.frombuffer(self.padded, np.uint8)
        self.words: Words = np.ndarray(
            shape=(len(self.padded) - 7,), dtype="<u8", buffer=self.padded, strides=(1,)
        )

    def holds(self, at: Offsets, what: bytes) -> NDArray[np.bool_]:
        """Tell for each offset whether the text there begins with `what` (at most 8 bytes)."""
        wanted = np.uint64(int.from_bytes(what, "little"))
        return np.asarray((self.words[at] & np.uint64((1 << 8 * len(what)) - 1)) == wanted)

    def find(self, octet: int) -> Offsets:
        """Return the offsets of every such byte, margins included."""
        return np.flatnonzero(self.octets == octet)

    def decimals_before(self, ends: Offsets) -> tuple[Words, NDArray[np.int64]]:
        """Read the number that ends right before each offset: its value and how many digits.

        No digits, or more than 64 bits hold, count as zero digits.
        """
        value, digits = _eight_digits(self.words[ends - 8])
        longer = np.flatnonzero(digits == 8)
        if len(longer):
            middle, more = _eight_digits(self.words[ends[longer] - 16])
            value[longer] += middle * np.uint64(10**8)
            digits[longer] += more
            longest = longer[more == 8]
            if len(longest):
                self._add_highest(value, digits, longest, ends[longest])
        return value, digits

    def _add_highest(
        self, value: Words, digits: NDArray[np.int64], rows: Offsets, ends: Offsets
    ) -> None:
        high, more = _eight_digits(self.words[ends - 24])
        rest = value[rows]
        fits = (more <= 4) & ((high < _MAX_HIGH) | ((high == _MAX_HIGH) & (rest <= _MAX_REST)))
        value[rows] = rest + high * np.uint64(10**16)
        digits[rows] = np.where(fits, 16 + more, 0)


def _eight_digits(word: Words) -> tuple[Words, NDArray[np.int64]]:
    """Read the digits at the end of each word: their value, and how many there are."""
    number = word ^ _ZEROS
    other = (((number & _LOW7) + _TEN_TO_HIGH) | number) & _HIGH
    # What lies before the last byte that is no digit does not belong to the number.
    other |= other >> np.uint64(8)
    other |= other >> np.uint64(16)
    other |= other >> np.uint64(32)
    number &= ~((other >> np.uint64(7)) * np.uint64(0xFF))
    number = (number & _PAIRS) * np.uint64(10) + ((number >> np.uint64(8)) & _PAIRS)
    number = (number & _QUADS) * np.uint64(100) + ((number >> np.uint64(16)) & _QUADS)
    number = (number & _HALF) * np.uint64(10000) + (number >> np.uint64(32))
    return number, 8 - np.bitwise_count(other).astype(np.int64)
