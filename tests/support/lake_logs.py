"""Logs of Darshan for tests of the lake: said in a few words, taken into a lake's files."""

from pfscope.logs.darshan.layouts import words
from pfscope.mine.darshan_import import write_logs
from pfscope.mine.inputs import Found, Period, digest
from tests.support.darshan_logs import counted, dxt, save
from tests.support.lake_rows import rows


def posix(*records, version=4):
    named = [{k if k in ("id", "rank") else f"POSIX_{k}": v for k, v in r.items()} for r in records]
    return ("POSIX", version, counted(words("POSIX", version), "<", named))


def counts(module, version, *records):
    return (module, version, counted(words(module, version), "<", list(records)))


def wrote(record, rank, size, begin, end, **more):
    return {
        "id": record, "rank": rank, "WRITES": 1, "BYTES_WRITTEN": size,
        "F_WRITE_START_TIMESTAMP": begin, "F_WRITE_END_TIMESTAMP": end, "F_WRITE_TIME": end - begin,
        **more,
    }  # fmt: skip


def take(root, *logs, period=Period()):  # noqa: B008
    """Take logs into files of the lake below `root`; return what became of each."""
    found = []
    for i, log in enumerate(logs):
        path = save(root / "logs" / f"user_ior_id{i}_1-1-1-1_1.darshan", log)
        found.append(Found(str(path), len(log), 0, digest(str(path))))
    return write_logs(root, "batch", found, period)


def one(root, name, **wanted):
    """Return the only row with these values."""
    (row,) = [r for r in rows(root, name) if all(r[k] == v for k, v in wanted.items())]
    return row


def traced(segments=3):
    writes = [(i, 10, 9.0 - i, 9.5 - i) for i in range(segments)]
    return dxt("<", [(5, 1, b"n\xff", writes, []), (5, 0, b"n1", [], [(0, 4, 1.0, 2.0)])])
