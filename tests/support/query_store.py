"""A small store in a directory, whose every rate can be worked out by hand.

Two servers, two targets, three users in four minutes from 2022-10-27. Per second: user 1001 opens 1
and then 2 files, 1002 opens 0.5 and reads 1 MB; 0 opens 0.1 by a program with a hostile name.
"""

from pfscope.store.embedded import open_store
from tests.support.query_tables import named, one_series, used
from tests.support.store_rows import MINUTE_US, at, table

HOSTILE = "=cmd\x1b[31m[red]"
T0, T1, T2 = (at(minute=minute) for minute in (0, 2, 4))


def _of_user(number, target, user, **more):
    return one_series(number, target, user=user, job=f"7{number}", system=user == "0", **more)


def _quality():
    placed = [("scratch-MDT0000", "mds1"), ("scratch-OST0000", "oss1")]
    return [
        {"time": time, "target": target, "server": server, "class": "sound", "system": False,
         "entries": 2, "skipped": 0, "repeated": 0}
        for time in (T1, T2)
        for target, server in placed
    ]  # fmt: skip


ROWS = {
    "operations": named("open", ("read_bytes", "bytes")),
    "series": [
        _of_user(0, "scratch-MDT0000", "1001", node="r01c01"),
        _of_user(1, "scratch-MDT0000", "1002", node="r01c02"),
        _of_user(2, "scratch-OST0000", "1002", node="r01c02"),
        _of_user(3, "scratch-MDT0000", "0", executable=HOSTILE),
    ],
    "usage_mdt": [
        used(0, T0, T1, 120),
        used(0, T1, T2, 240),
        used(1, T0, T1, 60),
        used(3, T0, T1, 12),
    ],
    "usage_ost": [used(2, T0, T1, 30, total=120_000_000, operation=1)],
    "frames": [
        {"server": server, "epoch": "e", "sequence": n, "time": time, "state": "stored",
         "entries": 2}
        for server in ("mds1", "oss1")
        for n, time in enumerate((T0, T1, T2))
    ],
    "quality": _quality(),
}  # fmt: skip


def make_store(directory, **more):
    """Fill the store in a directory, and return the directory."""
    with open_store(directory) as store:
        store.commit({name: table(name, rows) for name, rows in {**ROWS, **more}.items()}, [])
    return directory


assert T1 - T0 == 2 * MINUTE_US
