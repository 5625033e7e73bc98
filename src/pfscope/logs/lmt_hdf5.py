"""LMT's data in HDF5, of both kinds, made to say the same as LMT's tables.

TOKIO: `/datatargets/readbytes` and others, [time × target]; a row is the step that begins at its
time, and its values are bytes in that step, whatever the attribute `units` says. -0.0 is missing.
H5LMT: `/OSTReadGroup/OSTBulkReadDataSet` and others, [target × time]; a column is the step that
ends at its time, and its values are bytes in a second. `FSMissingDataSet` tells what is missing.
Gauges are of the time at which they stand. The files do not say which server has which OST.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.errors import InputError
from pfscope.logs.lmt_rows import METADATA, Target, table_of, target_of, whole_numbers
from pfscope.untrusted import ascii_text

_AT_ONCE: Final = 1 << 18
"""Cells of a matrix that are read together."""
_MOST_STEPS: Final = 1 << 20
_MOST_TARGETS: Final = 1 << 14
Matrix = NDArray[np.float64]


def iter_hdf5(path: Path, missing: Counter[str]) -> Iterator[pa.Table]:
    """Yield rows, some steps at a time; InputError: it is no such file, or damaged."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "datatargets" in file:
                yield from _tokio(file, missing)
            elif "OSTReadGroup" in file:
                yield from _h5lmt(file, missing)
            else:
                raise InputError("this HDF5 file is neither of TOKIO nor H5LMT")
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        raise InputError(f"the HDF5 file is damaged: {error}") from error


def _tokio(file: Any, missing: Counter[str]) -> Iterator[pa.Table]:
    """Read a file of TOKIO; groups have their own times, which are those of the targets' steps."""
    group = file["datatargets"]
    times = _times(group["timestamps"])
    targets = _named(group["readbytes"].attrs["columns"], missing)
    for begin, end in _blocks(len(times), len(targets)):
        ends = _ends(times, begin, end)
        yield _rows(targets, times, ends, begin, {
            "bytes_read": _present(group["readbytes"][begin:end]),
            "bytes_written": _present(group["writebytes"][begin:end]),
            **_fullness(file, targets, ends),
        })  # fmt: skip
    if "mdtargets" in file:
        yield from _tokio_metadata(file, targets, missing)


def _tokio_metadata(
    file: Any, osts: list[Target | None], missing: Counter[str]
) -> Iterator[pa.Table]:
    group = file["mdtargets"]
    times = _times(group["timestamps"])
    names = [f"{name}s" for name in METADATA if f"{name}s" in group]
    if not names:
        return
    columns = group[names[0]].attrs["columns"]
    targets = _metadata_targets(list(columns), osts, missing)
    for begin, end in _blocks(len(times), len(targets) * len(names)):
        counts = np.stack([_present(group[name][begin:end]) for name in names])
        known = np.isfinite(counts)
        total = np.where(known.any(axis=0), np.where(known, counts, 0).sum(axis=0), np.nan)
        values = {"metadata_operations": total}
        ends = _ends(times, begin, end)
        if "mdservers/cpuload" in file:
            load = _at_times(file["mdservers"], "cpuload", ends)
            if load.shape[1] == len(targets):
                values["cpu_share"] = load / 100
        yield _rows(targets, times, ends, begin, values)


def _h5lmt(file: Any, missing: Counter[str]) -> Iterator[pa.Table]:
    reads = file["OSTReadGroup/OSTBulkReadDataSet"]
    writes = file["OSTWriteGroup/OSTBulkWriteDataSet"]
    times = _times(file["FSStepsGroup/FSStepsDataSet"])
    targets = _named(reads.attrs["OSTNames"], missing)
    absent = file["FSMissingGroup/FSMissingDataSet"] if "FSMissingGroup" in file else None
    for low, high in _blocks(len(times) - 1, len(targets)):
        begin, end = low + 1, high + 1  # of the first column the step is not in the file
        step = np.diff(times[begin - 1 : end])[:, None] / 1e6
        gone = False if absent is None else absent[:, begin:end].T != 0
        values = {
            "bytes_read": np.where(gone, np.nan, reads[:, begin:end].T * step),
            "bytes_written": np.where(gone, np.nan, writes[:, begin:end].T * step),
        }
        yield _rows(targets, times, times[begin:end], begin - 1, values)
    if "MDSOpsGroup" in file:
        yield from _h5lmt_metadata(file, times, targets, missing)


def _h5lmt_metadata(
    file: Any, times: NDArray[np.int64], osts: list[Target | None], missing: Counter[str]
) -> Iterator[pa.Table]:
    rates = file["MDSOpsGroup/MDSOpsDataSet"]
    names = [_text(name) for name in rates.attrs["OpNames"]]
    taken = [i for i, name in enumerate(names) if name in METADATA]
    targets = _metadata_targets([b""], osts, missing)
    load = file["MDSCPUGroup/MDSCPUDataSet"] if "MDSCPUGroup" in file else None
    for low, high in _blocks(len(times) - 1, len(names)):
        begin, end = low + 1, high + 1
        step = np.diff(times[begin - 1 : end]) / 1e6
        counts = rates[:, begin:end][taken] * step
        values = {"metadata_operations": np.nansum(counts, axis=0)[:, None]}
        if load is not None:
            values["cpu_share"] = load[begin:end][:, None] / 100
        yield _rows(targets, times, times[begin:end], begin - 1, values)


def _rows(
    targets: list[Target | None], times: NDArray[np.int64], ends: NDArray[np.int64], before: int,
    values: dict[str, Matrix],
) -> pa.Table:  # fmt: skip
    """Return rows of a block of steps that begins at `times[before]`: cells that say anything."""
    begins = times[before : before + len(ends)]
    known = np.array([target is not None for target in targets])
    says = np.zeros((len(ends), len(targets)), bool)
    for name in ("bytes_read", "bytes_written", "metadata_operations"):
        if name in values:
            says |= np.isfinite(values[name])
    which, at = np.nonzero((says & known & (ends > begins)[:, None]).T)
    columns = {
        name: pa.array(matrix[at, which], mask=~np.isfinite(matrix[at, which]))
        if name == "cpu_share"
        else whole_numbers(matrix[at, which])
        for name, matrix in values.items()
    }
    named = [target or Target("", "", None) for target in targets]
    return table_of(named, which, ends[at], (ends - begins)[at] / 1e6, columns)


def _ends(times: NDArray[np.int64], begin: int, end: int) -> NDArray[np.int64]:
    """Return where steps end: where the next begins, and the last as long as the one before."""
    step = times[-1] - times[-2] if len(times) > 1 else 5 * 10**6
    return np.append(times, times[-1] + step)[begin + 1 : end + 1]


def _fullness(
    file: Any, targets: list[Target | None], ends: NDArray[np.int64]
) -> dict[str, Matrix]:
    found: dict[str, Matrix] = {}
    if "fullness" not in file:
        return found
    group = file["fullness"]
    for column, used, total in (
        ("kbytes", "bytes", "bytestotal"), ("inodes", "inodes", "inodestotal"),
    ):  # fmt: skip
        if used in group and total in group and group[used].shape[1] == len(targets):
            now = _at_times(group, used, ends)
            found[f"{column}_used"] = now
            found[f"{column}_free"] = _at_times(group, total, ends) - now
    return found


def _at_times(group: Any, name: str, wanted: NDArray[np.int64]) -> Matrix:
    """Return a gauge at those times; not known where nobody looked then."""
    times = _times(group["timestamps"])
    at = np.minimum(np.searchsorted(times, wanted), len(times) - 1)
    there = times[at] == wanted
    low, high = int(at.min()), int(at.max()) + 1
    return np.where(there[:, None], _present(group[name][low:high])[at - low], np.nan)


def _present(values: Any) -> Matrix:
    """Return a matrix in which what is missing, written as -0.0, is not a number."""
    found = np.asarray(values, np.float64)
    return np.where((found == 0) & np.signbit(found), np.nan, found)


def _times(dataset: Any) -> NDArray[np.int64]:
    """Return times in microseconds."""
    if dataset.ndim != 1 or not 0 < dataset.shape[0] <= _MOST_STEPS:
        raise InputError(f"the HDF5 file has times of shape {dataset.shape}, which makes no sense")
    times = np.asarray(dataset[:], np.float64)
    if not (np.isfinite(times) & (times >= 0) & (times < 9e9)).all() or (np.diff(times) < 0).any():
        raise InputError("the HDF5 file has times that make no sense")
    return np.rint(times * 1e6).astype(np.int64)


def _named(names: Any, missing: Counter[str]) -> list[Target | None]:
    if len(names) > _MOST_TARGETS:
        raise InputError(f"the HDF5 file has {len(names)} targets, which makes no sense")
    found = [target_of(name) for name in names]
    if none := sum(target is None for target in found):
        missing["target whose name is not understood"] += none
    return found


def _metadata_targets(
    names: list[bytes | str], osts: list[Target | None], missing: Counter[str]
) -> list[Target | None]:
    """Return MDTs of their names; where servers are named and there is one, it has MDT0000."""
    systems = {target.filesystem for target in osts if target is not None}
    if len(names) == 1 and len(systems) == 1 and target_of(names[0]) is None:
        (system,) = systems
        return [Target(system, f"{system}-MDT0000", None, _text(names[0]) or None)]
    return _named(names, missing)


def _text(name: bytes | str) -> str:
    """Return a name as ASCII."""
    raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")
    return ascii_text(raw.rstrip(b"\0 "))


def _blocks(steps: int, width: int) -> Iterator[tuple[int, int]]:
    height = max(_AT_ONCE // max(width, 1), 1)
    for begin in range(0, steps, height):
        yield begin, min(begin + height, steps)
