"""LMT's tables (MySQL schema 1.1), asked by SQL: of a live database, or of a file of SQLite.

`OST_DATA` holds counters for each `OST_ID` and `TS_ID`, in steps of 5 s; `OST_ID` is a key, the
OST's index stands in `OST_NAME`. Times are those of a clock on a wall, which a time zone makes
instants: of an hour that it showed twice, `TS_ID` tells which one is meant.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.errors import InputError
from pfscope.logs.lmt_rows import METADATA, Target, increments, table_of, target_of
from pfscope.logs.slurm_values import times

Ask = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a query and returns its rows."""
Columns = dict[str, pa.Array]
_STEPS: Final = 720
"""Steps of time that are read together: an hour."""
_BEFORE: Final = 60
_OSTS: Final = "SELECT OST_ID, OST_NAME, HOSTNAME, OSS_ID FROM OST_INFO ORDER BY OST_ID"
_MDTS: Final = "SELECT MDS_ID, MDS_NAME, HOSTNAME FROM MDS_INFO ORDER BY MDS_ID"
_TIMES: Final = "SELECT TS_ID, TIMESTAMP FROM TIMESTAMP_INFO ORDER BY TS_ID"
_OST_DATA: Final = """
    SELECT OST_ID, TS_ID, READ_BYTES, WRITE_BYTES, KBYTES_USED, KBYTES_FREE, INODES_USED,
           INODES_FREE
    FROM OST_DATA WHERE TS_ID BETWEEN {first} AND {last} ORDER BY OST_ID, TS_ID
"""
_OSS_DATA: Final = """
    SELECT OSS_ID, TS_ID, PCT_CPU FROM OSS_DATA WHERE TS_ID BETWEEN {first} AND {last}
    ORDER BY OSS_ID, TS_ID
"""
_MDS_DATA: Final = """
    SELECT MDS_ID, TS_ID, PCT_CPU, KBYTES_USED, KBYTES_FREE, INODES_USED, INODES_FREE
    FROM MDS_DATA WHERE TS_ID BETWEEN {first} AND {last} ORDER BY MDS_ID, TS_ID
"""
_MDS_OPS: Final = """
    SELECT MDS_ID, TS_ID, OPERATION_ID, SAMPLES FROM MDS_OPS_DATA
    WHERE TS_ID BETWEEN {first} AND {last} AND OPERATION_ID IN ({operations})
    ORDER BY MDS_ID, OPERATION_ID, TS_ID
"""
_OPERATIONS: Final = "SELECT OPERATION_ID, OPERATION_NAME FROM OPERATION_INFO"


def iter_tables(
    ask: Ask, time_zone: str, missing: Counter[str], period: tuple[int | None, int | None]
) -> Iterator[pa.Table]:
    """Yield rows, an hour or so at a time; what was not understood is counted in `missing`.

    `period` is the first time that is wanted and the one behind the last, in microseconds.
    """
    ids, instants = _times(ask, time_zone)
    osts = _targets(ask(_OSTS), missing)
    mdts = _targets(ask(_MDTS), missing)
    operations = [int(number) for number, name in ask(_OPERATIONS) if name in METADATA]
    low = 0 if period[0] is None else int(np.searchsorted(instants, period[0]))
    high = len(ids) if period[1] is None else int(np.searchsorted(instants, period[1]))
    for begin in range(max(low, 1), high, _STEPS):
        # Counters of the first step grew from those before; a target may have missed some steps.
        some = slice(max(begin - _BEFORE, 0), min(begin + _STEPS, high))
        span = {"first": int(ids[some][0]), "last": int(ids[some][-1])}
        clock = _Clock(ids[some], instants[some], int(instants[begin]))
        yield _ost_rows(ask, osts, clock, span)
        yield _mdt_rows(ask, mdts, clock, span, operations)


class _Clock(NamedTuple):
    """Ids of steps in order, the time of each, and the first that is wanted."""

    ids: NDArray[np.int64]
    times: NDArray[np.int64]
    first_us: int


def _times(ask: Ask, time_zone: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    times(time_zone)  # refuses a zone that there is not
    rows = ask(_TIMES)
    ids = _numbers([row[0] for row in rows], pa.int64(), "TIMESTAMP_INFO").to_numpy()
    try:
        texts = pa.array([str(row[1])[:19].replace("T", " ") for row in rows], pa.string())
        local = texts.cast(pa.timestamp("us"))
        early, late = (
            pc.assume_timezone(local, time_zone, ambiguous=which, nonexistent="latest")
            .cast(pa.int64())
            .to_numpy()
            for which in ("earliest", "latest")
        )
    except pa.ArrowInvalid as error:
        raise InputError("TIMESTAMP_INFO has a time that makes no sense") from error
    if not len(ids):
        return ids, early
    before = np.concatenate([[np.iinfo(np.int64).min], np.maximum.accumulate(early)[:-1]])
    return ids, np.where(early <= before, late, early)


def _targets(rows: Sequence[Sequence[Any]], missing: Counter[str]) -> dict[int, tuple[Target, int]]:
    """Return targets by the key of their rows, with the key of an OST's server."""
    found = {}
    for key, name, server, *oss in rows:
        target = target_of(str(name), None if server is None else ascii_name(str(server)))
        if target is None:
            missing["target whose name is not understood"] += 1
        else:
            found[int(key)] = (target, int(oss[0]) if oss and oss[0] is not None else -1)
    return found


def ascii_name(text: str) -> str:
    """Return a server's name as ASCII."""
    return text.encode("ascii", "backslashreplace").decode()


def _read(ask: Ask, query: str, names: Sequence[str], table: str) -> Columns:
    rows = ask(query)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {
        name: _numbers(column, pa.float64() if name == "cpu" else pa.int64(), table)
        for name, column in zip(names, columns, strict=True)
    }


def _numbers(values: Sequence[Any], kind: pa.DataType, table: str) -> pa.Array:
    try:
        return pa.array(values, kind, from_pandas=False)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise InputError(f"{table} has a value that is no such number: {error}") from error


def _ost_rows(
    ask: Ask, osts: dict[int, tuple[Target, int]], clock: _Clock, span: dict[str, int]
) -> pa.Table:
    names = ("key", "ts", "read", "write", "kbytes_used", "kbytes_free", "inodes_used",
             "inodes_free")  # fmt: skip
    rows = _read(ask, _OST_DATA.format(**span), names, "OST_DATA")
    cpu = _read(ask, _OSS_DATA.format(**span), ("key", "ts", "cpu"), "OSS_DATA")
    found = _Steps(rows, osts, clock)
    server = np.array([oss for _, oss in osts.values()], np.int64)[found.which]
    values = {
        "bytes_read": increments(rows["read"], found.fresh),
        "bytes_written": increments(rows["write"], found.fresh),
        "cpu_share": _share_at(cpu, server, found.ts),
        **{name: rows[name] for name in names[4:]},
    }
    return found.table(values)


def _mdt_rows(
    ask: Ask, mdts: dict[int, tuple[Target, int]], clock: _Clock, span: dict[str, int],
    operations: list[int],
) -> pa.Table:  # fmt: skip
    names = ("key", "ts", "cpu", "kbytes_used", "kbytes_free", "inodes_used", "inodes_free")
    rows = _read(ask, _MDS_DATA.format(**span), names, "MDS_DATA")
    listed = ", ".join(map(str, operations)) or "-1"
    query = _MDS_OPS.format(**span, operations=listed)
    ops = _read(ask, query, ("key", "ts", "operation", "samples"), "MDS_OPS_DATA")
    found = _Steps(rows, mdts, clock)
    values = {
        "metadata_operations": _operations_at(ops, found),
        "cpu_share": pc.divide(rows["cpu"], 100.0),
        **{name: rows[name] for name in names[3:]},
    }
    return found.table(values)


class _Steps:
    """Rows in order of target and time: which of them begin a series, and the length of steps."""

    def __init__(
        self, rows: Columns, targets: dict[int, tuple[Target, int]], clock: _Clock
    ) -> None:
        self._targets = [target for target, _ in targets.values()]
        keys = np.array(list(targets), np.int64)
        self.key = _plain(rows["key"])
        self.ts = _plain(rows["ts"])
        order = np.argsort(keys)
        at = np.searchsorted(keys[order], self.key)
        at = np.minimum(at, max(len(keys) - 1, 0))
        self.which = order[at] if len(keys) else at
        self._known = (keys[self.which] == self.key) if len(keys) else np.zeros(len(at), bool)
        place = np.minimum(np.searchsorted(clock.ids, self.ts), len(clock.ids) - 1)
        self._time = clock.times[place]
        self._known &= (clock.ids[place] == self.ts) & (self._time >= clock.first_us)
        self.fresh = np.ones(len(self.key), bool)
        self.fresh[1:] = self.key[1:] != self.key[:-1]

    def table(self, values: Columns) -> pa.Table:
        step_us = self._time - np.roll(self._time, 1)
        taken = ~self.fresh & self._known & (step_us > 0)
        mask = pa.array(taken)
        return table_of(
            self._targets,
            self.which[taken],
            self._time[taken],
            step_us[taken] / 1e6,
            {name: column.filter(mask) for name, column in values.items()},
        )


def _plain(column: pa.Array) -> NDArray[np.int64]:
    found: NDArray[np.int64] = column.fill_null(-1).to_numpy()
    return found


def _share_at(cpu: Columns, key: NDArray[np.int64], ts: NDArray[np.int64]) -> pa.Array:
    """Return the share of a server's CPU that was busy, at its rows' times."""
    have = _pairs(_plain(cpu["key"]), _plain(cpu["ts"]))
    if not len(have):
        return pa.nulls(len(key), pa.float64())
    wanted = _pairs(key, ts)
    order = np.argsort(have)
    at = np.minimum(np.searchsorted(have[order], wanted), len(have) - 1)
    there = have[order][at] == wanted
    shares = pc.divide(cpu["cpu"], 100.0).take(pa.array(order[at]))
    return pc.if_else(pa.array(there), shares, None)


def _pairs(key: NDArray[np.int64], ts: NDArray[np.int64]) -> NDArray[np.int64]:
    return (key << 40) + ts


def _operations_at(ops: Columns, found: _Steps) -> pa.Array:
    """Return how many operations all kinds together grew by, at the rows of an MDT."""
    key, ts = _plain(ops["key"]), _plain(ops["ts"])
    operation = _plain(ops["operation"])
    fresh = np.ones(len(key), bool)
    fresh[1:] = (key[1:] != key[:-1]) | (operation[1:] != operation[:-1])
    grown = increments(ops["samples"], fresh)
    summed = pa.table({"pair": _pairs(key, ts), "grown": grown}).group_by("pair")
    sums = summed.aggregate([("grown", "sum")])
    at = pc.index_in(pa.array(_pairs(found.key, found.ts)), sums["pair"].combine_chunks())
    return sums["grown_sum"].combine_chunks().take(at)
