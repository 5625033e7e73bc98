"""How busy a site is: requests per second of each operation, as measured on CSC's Puhti.

The built-in figures are medians over 2022-10-27 of the total rates from compute nodes that figures
8 to 19 of the Aalto/CSC thesis show; `from_csv` derives them in the same way from a table of such
rates. Per second, for each MDT by its role, and for a mean OST.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from pfscope.errors import InputError
from pfscope.lab.dialects import Kind

Figures = dict[str, float]
DAY_S = 86_400
BYTES_FIGURES = {"read_bytes": "read", "write_bytes": "write"}
"""`read_bytes` is bytes per second; `read` is how many requests carry them."""

_MDT: tuple[Figures, ...] = (
    {"open": 804, "close": 9000, "mknod": 34.6, "link": 0.0066, "unlink": 26.2, "mkdir": 0.241,
     "rmdir": 0.24, "rename": 2.39, "getattr": 1020, "setattr": 17.1, "getxattr": 31.1,
     "setxattr": 1.38, "statfs": 1.02, "sync": 2.96},
    {"open": 532, "close": 456, "getattr": 8.85, "getxattr": 0.324, "statfs": 1.22},
    {"statfs": 1.29},
    {"statfs": 1.16},
)  # fmt: skip
_OST: Figures = {
    "read_bytes": 122.9e6, "read": 88.2, "write_bytes": 13.74e6, "write": 6.55, "punch": 0.7,
    "quotactl": 18.75, "setattr": 0.138, "sync": 0.0836, "get_info": 0.005, "set_info": 0.00124,
}  # fmt: skip
_UNMEASURED: dict[Kind, Figures] = {"mdt": {"read": 1.5, "write": 0.5}, "ost": {"statfs": 0.4}}
"""Not in the figures: data on the first MDT, and what system users do on OSTs."""
_HOURS: dict[Kind, tuple[float, ...]] = {
    "mdt": (0.84, 0.83, 0.77, 0.72, 0.70, 0.77, 0.81, 0.85, 1.56, 1.23, 1.12, 1.73,
            1.55, 1.26, 1.62, 1.47, 1.04, 0.93, 0.83, 0.75, 0.66, 0.65, 0.62, 0.68),
    "ost": (0.57, 0.60, 0.61, 0.61, 0.55, 0.55, 0.60, 0.98, 1.45, 1.36, 0.97, 0.97,
            1.27, 1.47, 1.66, 1.67, 1.43, 1.36, 1.34, 0.91, 0.86, 0.67, 0.76, 0.78),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calibration:
    """Normal activity of a site of Puhti's size."""

    mdt: tuple[Figures, ...]
    """By role."""
    ost: Figures
    hours: dict[Kind, tuple[float, ...]]
    """For each hour of the day (UTC), the activity relative to the day's mean."""

    def figures(self, kind: Kind, role: int) -> Figures:
        """Return the normal rates of one target of a kind and role."""
        return self.ost if kind == "ost" else self.mdt[role % len(self.mdt)]

    def busy_seconds(self, kind: Kind, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the integral of the daily pattern since 1970: seconds of mean activity."""
        pattern = np.asarray(self.hours[kind]) / np.mean(self.hours[kind])
        edges = np.arange(25) * 3600.0
        integral = np.concatenate(([0.0], np.cumsum(pattern) * 3600.0))
        days, rest = np.divmod(time_s, DAY_S)
        return cast("NDArray[np.float64]", days * DAY_S + np.interp(rest, edges, integral))


def _with_unmeasured(kind: Kind, figures: Figures) -> Figures:
    return {**_UNMEASURED[kind], **figures}


BUILT_IN = Calibration(
    (_with_unmeasured("mdt", _MDT[0]), *_MDT[1:]), _with_unmeasured("ost", _OST), _HOURS
)


def from_csv(path: Path) -> Calibration:
    """Derive figures from a CSV (or .csv.gz) with the columns target, operation, minute, rate."""
    try:
        with _open(path) as file:
            table = pa.csv.read_csv(file)
        target = table["target"].to_numpy(zero_copy_only=False).astype(str)
        operation = table["operation"].to_numpy(zero_copy_only=False).astype(str)
        minute, rate = table["minute"].to_numpy(), table["rate"].to_numpy()
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        raise InputError(f"cannot use {path} for calibration: {error}") from error
    rates = _Rates(target, operation, np.asarray(minute), np.asarray(rate, float))
    mdts = [rates.medians(name) for name in np.unique(target) if name.startswith("MDT")]
    osts = [rates.medians(name) for name in np.unique(target) if name.startswith("OST")]
    if not mdts or not osts:
        raise InputError(f"cannot use {path} for calibration: it names no MDT or no OST")
    mean = {op: float(np.mean([ost.get(op, 0.0) for ost in osts])) for op in osts[0]}
    return Calibration(
        (_with_unmeasured("mdt", mdts[0]), *mdts[1:]),
        _with_unmeasured("ost", mean),
        {
            "mdt": rates.hours("MDT", ("open", "close", "getattr", "mknod", "unlink")),
            "ost": rates.hours("OST", ("read", "write", "read_bytes", "write_bytes")),
        },
    )


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


@dataclass(frozen=True, slots=True)
class _Rates:
    target: NDArray[np.str_]
    operation: NDArray[np.str_]
    minute: NDArray[np.int64]
    rate: NDArray[np.float64]

    def medians(self, target: str) -> Figures:
        mine = self.target == target
        return {
            str(op): float(np.median(self.rate[mine & (self.operation == op)]))
            for op in np.unique(self.operation[mine])
        }

    def hours(self, prefix: str, operations: tuple[str, ...]) -> tuple[float, ...]:
        """Return each hour's median relative to the day's, as a geometric mean over operations."""
        mine = np.char.startswith(self.target, prefix)
        pattern = np.zeros(24)
        for operation in operations:
            chosen = mine & (self.operation == operation)
            hour, rate = self.minute[chosen] // 60, self.rate[chosen]
            medians = [np.median(rate[hour == h]) if (hour == h).any() else 1.0 for h in range(24)]
            pattern += np.log(np.asarray(medians)) / len(operations)
        pattern = np.exp(pattern)
        return tuple(np.round(pattern / pattern.mean(), 2).tolist())
