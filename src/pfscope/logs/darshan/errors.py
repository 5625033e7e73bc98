"""Why a log cannot be read, in words for people; and how much a log may ask for."""

from typing import Final, NamedTuple

from pfscope.errors import InputError


class DarshanError(InputError):
    """A log that cannot be read, or that says what cannot be true; nothing of it is used."""


class Limits(NamedTuple):
    """How much a log may ask for. What asks for more is refused, before it is given."""

    region_bytes: int = 4 << 30
    """Decompressed bytes of one module, which are read piece by piece."""
    whole_bytes: int = 1 << 30
    """Decompressed bytes of a module or a file that has to be there at once."""
    records: int = 4_000_000
    """Records of one module."""
    names_bytes: int = 1 << 30
    """Decompressed bytes of all names."""


LIMITS: Final = Limits()
