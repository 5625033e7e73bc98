"""Sources of activity as columns: one row for each process group of a node and each target it uses.

A source knows the entry id under which its requests are booked (and, for the identity faults, a
second one), when it is on, how hard it works, and whom it really belongs to: its origin. An origin
is never wrong, whatever the id says.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

ID_BYTES = 31
"""Lustre keeps so much of an id and no more."""
NO_ID = -1
"""Requests of processes to which Lustre gives no id at all."""
NOBODY = -1
"""The origin, and the account, of such requests."""
FOREVER = np.inf
ALWAYS = 1e9
"""Touches per second of a source that is never silent."""

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


class Ids:
    """All entry ids that were ever used, numbered."""

    def __init__(self) -> None:
        self.raw: list[bytes] = []
        self._number: dict[bytes, int] = {}

    def number(self, raw: bytes) -> int:
        """Return the number of an id, cut as Lustre cuts it."""
        raw = raw[:ID_BYTES]
        number = self._number.setdefault(raw, len(self.raw))
        if number == len(self.raw):
            self.raw.append(raw)
        return number

    def numbers(self, raws: Iterable[bytes]) -> Ints:
        """Return the numbers of many ids."""
        return np.array([self.number(raw) for raw in raws], np.int32)


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom activity really belongs to. `job` is Slurm's raw job id; None: no job."""

    job: str | None
    user: str
    node: str
    executable: str


class Origins:
    """All origins, numbered in order of appearance; the account is the pair of job and user."""

    def __init__(self) -> None:
        self.all: list[Origin] = []
        self.accounts: list[tuple[str | None, str]] = []
        self._accounts: dict[tuple[str | None, str], int] = {}
        # The last place stands for the origin -1, which is nobody.
        self._account = np.array([NOBODY], np.int32)
        self._with_job = np.zeros(1, bool)

    def add(self, origins: Iterable[Origin]) -> Ints:
        """Number new origins."""
        first, new = len(self.all), list(origins)
        self.all += new
        account = np.array([self._account_number(origin) for origin in new], np.int32)
        with_job = np.array([origin.job is not None for origin in new], bool)
        self._account = np.concatenate((self._account[:-1], account, [NOBODY])).astype(np.int32)
        self._with_job = np.concatenate((self._with_job[:-1], with_job, [False]))
        return np.arange(first, len(self.all), dtype=np.int32)

    def account_of(self, origins: Ints) -> Ints:
        """Return the accounts of origins."""
        return self._account[origins]

    def with_job(self, origins: Ints) -> NDArray[np.bool_]:
        """Tell which origins have a job."""
        return self._with_job[origins]

    def _account_number(self, origin: Origin) -> int:
        account = (origin.job, origin.user)
        number = self._accounts.setdefault(account, len(self.accounts))
        if number == len(self.accounts):
            self.accounts.append(account)
        return number


@dataclass(slots=True)
class Sources:
    """Columns of equal length; see the module."""

    target: Ints
    """Index within its kind of target."""
    entry_id: Ints
    other_id: Ints
    """Booked under this one instead, with probability `other_share` at each touch."""
    other_share: Floats
    origin: Ints
    node: Ints
    """Index of the Lustre client, or -1."""
    archetype: Ints
    factors: Ints
    """Row of the factors that turn the archetype's rates into requests per second."""
    weight: Floats
    touch: Floats
    """Touches per second while it is on."""
    phase_s: Floats
    period_s: Floats
    duty: Floats
    steady: NDArray[np.bool_]
    """Knows no hour of the day."""
    on_s: Floats
    off_s: Floats

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: NDArray[Any]) -> "Sources":
        """Return some of the rows, by number or by mask."""
        return _of({f.name: getattr(self, f.name)[rows] for f in fields(self)})


def _of(columns: dict[str, Any]) -> Sources:
    return Sources(**columns)


def joined(parts: list[Sources]) -> Sources:
    """Return the rows of all parts, one part behind the other."""
    names = [f.name for f in fields(Sources)]
    return _of({name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


_DEFAULTS: dict[str, Any] = {
    "other_id": NO_ID, "other_share": 0.0, "node": -1, "factors": 0, "weight": 1.0,
    "touch": ALWAYS, "phase_s": 0.0, "period_s": 0.0, "duty": 1.0, "steady": False,
    "on_s": -FOREVER, "off_s": FOREVER,
}  # fmt: skip
_TYPES: dict[str, Any] = {
    **dict.fromkeys(
        ("target", "entry_id", "other_id", "origin", "node", "archetype", "factors"), np.int32
    ),
    "steady": np.bool_,
}


def make(count: int, **columns: Any) -> Sources:
    """Return `count` sources; a column may be one value for all, and most have defaults."""
    values = {**_DEFAULTS, **columns}
    return _of(
        {
            f.name: np.broadcast_to(
                np.asarray(values[f.name], _TYPES.get(f.name, np.float64)), (count,)
            ).copy()
            for f in fields(Sources)
        }
    )


def active_seconds(on_s: Floats, off_s: Floats, begin_s: float, end_s: float) -> Floats:
    """Return how much of a span each source is on."""
    overlap: Floats = np.minimum(off_s, end_s) - np.maximum(on_s, begin_s)
    return np.maximum(overlap, 0.0)
