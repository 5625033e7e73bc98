"""A quiet file system of which one user makes something else for a while, minute by minute.

One server, one target. User 1001 opens ten files a second, more or less; from minute 120 to 140
user 1002 opens 2000 a second, in job 77 on node r01c02.
"""

from pfscope.store.embedded import open_store
from tests.support.query_tables import named, one_series, used
from tests.support.store_rows import MINUTE_US, at, table

SERVER, TARGET = "mds1", "scratch-MDT0000"
BEGIN, END, MINUTES = 120, 140, 200
CULPRIT, JOB, NODE = "1002", "77", "r01c02"
START_US = at()


def minute_us(minute):
    return START_US + minute * MINUTE_US


def _usage(minute):
    begin, end = minute_us(minute - 1), minute_us(minute)
    yield used(0, begin, end, 600 + minute % 7 * 10)
    if BEGIN < minute <= END:
        yield used(1, begin, end, 120_000)


def site_rows(minutes=MINUTES, silent=()):
    """Return rows of all tables; in `silent` minutes nobody read the target."""
    seen = [m for m in range(minutes + 1) if m not in silent]
    series = [
        one_series(0, TARGET, user="1001", job="76", node="r01c01"),
        one_series(1, TARGET, user=CULPRIT, job=JOB, node=NODE),
    ]
    return {
        "operations": named("open"),
        "series": series,
        "usage_mdt": [row for m in seen if m for row in _usage(m)],
        "frames": [
            {"server": SERVER, "epoch": "e", "sequence": m, "time": minute_us(m),
             "state": "stored", "entries": 2}
            for m in seen
        ],
        "quality": [
            {"time": minute_us(m), "target": TARGET, "server": SERVER, "class": "sound",
             "system": False, "entries": 2, "skipped": 0, "repeated": 0}
            for m in seen
        ],
    }  # fmt: skip


def make_site(directory, **more):
    """Fill a store in a directory with it, and return the directory."""
    with open_store(directory) as store:
        store.commit({name: table(name, rows) for name, rows in site_rows(**more).items()}, [])
    return directory
