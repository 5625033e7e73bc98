"""What single ranks did: the fastest and slowest of a file, its accesses, and `darshan_rank`."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pfscope.mine.darshan_batch import Batch, Columns, activity, as_table, run_columns
from pfscope.mine.darshan_runs import Records, days
from pfscope.mine.merging import Ints, Known, Part, Placed, distinct, fresh_rows
from pfscope.mine.parts import ROWS
from pfscope.mine.schema_darshan import RANK_COUNTERS

_MODULES = ("POSIX", "MPI-IO", "STDIO")


def extremes(part: Part) -> Columns:
    """Return the fastest and the slowest rank of each file, and the variances among its ranks.

    A record of all ranks says so itself; of records of single ranks, they are found here.
    """
    reduced = np.zeros(part.size, bool)
    reduced[part.row[part.words("rank") < 0]] = True
    found = {
        column: part.merged(f"POSIX_{column.upper()}", "max").where(reduced)
        for column in ("fastest_rank", "fastest_rank_bytes", "slowest_rank", "slowest_rank_bytes")
    }
    for column, name in (
        ("fastest_rank_s", "FASTEST_RANK_TIME"), ("slowest_rank_s", "SLOWEST_RANK_TIME"),
        ("variance_rank_s", "VARIANCE_RANK_TIME"), ("variance_rank_bytes", "VARIANCE_RANK_BYTES"),
    ):  # fmt: skip
        found[column] = part.merged(f"POSIX_F_{name}", "max").where(reduced)
    several = np.zeros(part.size, bool)
    several[part.present[part.counts > 1]] = True
    several &= ~reduced
    if several.any():
        _single_ranks(part, several, found)
    return {name: column.arrow() for name, column in found.items()}


def _single_ranks(part: Part, several: np.ndarray, found: dict[str, Known]) -> None:
    """Fill in what records of single ranks say of those rows."""
    taken = several[part.row]
    row = part.row[taken]
    ranks = part.words("rank")[taken]
    spent = sum(_known(part, f"POSIX_F_{way}_TIME")[taken] for way in ("READ", "WRITE", "META"))
    moved = sum(_known(part, f"POSIX_BYTES_{way}")[taken] for way in ("READ", "WRITTEN"))
    order = np.lexsort((ranks, spent, row))
    first = fresh_rows([row[order]])
    last = np.append(first[1:], [True])
    for which, at in (("fastest", order[first]), ("slowest", order[last])):
        for column, values in (("rank", ranks), ("rank_bytes", moved), ("rank_s", spent)):
            _put(found, f"{which}_{column}", row[at], values[at])
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(order)))
    for column, values in (("variance_rank_s", spent), ("variance_rank_bytes", moved)):
        ordered = np.asarray(values[order], np.float64)
        mean = np.add.reduceat(ordered, starts) / counts
        square = (ordered - np.repeat(mean, counts)) ** 2
        _put(found, column, row[order[first]], np.add.reduceat(square, starts) / counts)


def _known(part: Part, name: str) -> np.ndarray:
    found = part.raw(name)
    return np.where(found.known, found.values, 0)


def _put(found: dict[str, Known], column: str, rows: Ints, values: np.ndarray) -> None:
    old = found[column]
    new = old.values.astype(values.dtype)
    known = old.known.copy()
    new[rows], known[rows] = values, True
    found[column] = Known(new, known)


def accesses(part: Part) -> Columns:
    """Return the four most frequent sizes of accesses to each file, and how many there were."""
    sizes = np.concatenate([part.words(f"POSIX_ACCESS{i}_ACCESS") for i in (1, 2, 3, 4)])
    counts = np.concatenate([part.words(f"POSIX_ACCESS{i}_COUNT") for i in (1, 2, 3, 4)])
    rows = np.tile(part.row, 4)
    there = counts > 0
    if not there.any():
        return {}
    (row, size), (place,) = distinct([(rows[there], sizes[there])])
    count = np.zeros(len(row), np.int64)
    np.add.at(count, place, counts[there])
    order = np.lexsort((size, -count, row))
    row, size, count = row[order], size[order], count[order]
    starts = np.flatnonzero(fresh_rows([row]))
    nth = np.arange(len(row)) - np.repeat(starts, np.diff(np.append(starts, len(row))))
    columns = {}
    for i in range(4):
        taken = nth == i
        absent = np.ones(part.size, bool)
        absent[row[taken]] = False
        for what, values in (("access", size), ("count", count)):
            out = np.zeros(part.size, np.int64)
            out[row[taken]] = values[taken]
            columns[f"posix_access{i + 1}_{what}"] = pa.array(out, mask=absent)
    return columns


def rank_rows(batch: Batch) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of `darshan_rank`, by day: of files that several ranks used."""
    several = batch.ranks[0] > 1
    records = {}
    for module in _MODULES:
        if module in batch.records:
            whole = batch.records[module]
            taken = several[batch.places[module]] & (whole.ranks >= 0)
            if taken.any():
                words = whole.words[:, taken]
                records[module] = Records(whole.names, whole.run[taken], words)
    if not records:
        return
    parts = [(found.run, found.ids, found.ranks) for found in records.values()]
    (run, ids, ranks), places = distinct(parts)
    placed = {
        module: Placed(found, place)
        for (module, found), place in zip(records.items(), places, strict=True)
    }
    for date, first, behind in days(batch.runs):
        low, high = np.searchsorted(run, [first, behind]).tolist()
        for begin in range(low, high, ROWS):
            end = min(begin + ROWS, high)
            parts_here = {module: one.between(begin, end) for module, one in placed.items()}
            columns = run_columns(batch, run[begin:end]) | activity(parts_here)
            columns |= {"file_id": pa.array(ids[begin:end]), "rank": pa.array(ranks[begin:end])}
            columns |= {
                counter.column: parts_here[counter.module]
                .merged(counter.name, counter.merge)
                .arrow()
                for counter in RANK_COUNTERS
                if counter.module in parts_here
            }
            yield date, as_table("darshan_rank", columns, end - begin)
