"""A site for tests of the page: six hours of three servers, a storm, and names that would do harm.

User 1001 opens ten files a second; from 02:00 to 03:00 user 1002 opens 2000 a second, in job 72. A
week before 1001 opened five. Every hostile name is that of a user, a job, a node, a program and a
project, at each server.
"""

from contextlib import contextmanager

from pfscope.config import Config
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.watch.book import Book
from pfscope.watch.model import Advice, Cause, Incident, Severity, State
from pfscope.web.pages import routes
from tests.support.query_load import own
from tests.support.query_store import make_store
from tests.support.query_tables import named, one_series, used
from tests.support.server_world import server
from tests.support.store_rows import MINUTE_US, at

HOSTILE = (
    "<img src=x onerror=\"document.title='pwned'\">",
    "\"><script>document.title='pwned'</script>",
    "=cmd|'/C calc'!A0",
    "javascript:document.title='pwned'",
    "' autofocus onfocus=document.title='pwned' '",
    "\u202egnp.\u202dexe\u2066",
    "{{constructor.constructor('document.title=1')()}}",
    "../../sign-out?x=[a]*&y=%00#z",
    "n" * 4096,
)
STEP_US = 5 * MINUTE_US
END_US = at(hour=6)
STORM = (at(hour=2), at(hour=3))
STORM_RATE = 2000
PLACES = {"scratch-MDT0000": "mds1", "scratch-OST0000": "oss1", "scratch-OST000a": "oss2"}
INCIDENT = "20221027T0205-00ab01"
OPEN, READ_BYTES = 0, 1
WEEK = -7


def _series():
    rows = []
    for target in PLACES:
        for name in ("1001", "1002", *HOSTILE):
            job = {"1001": "71", "1002": "72"}.get(name, name)
            node = {"1001": "r01c01", "1002": "r01c02"}.get(name, name)
            row = one_series(len(rows), target, user=name, job=job, node=node, executable=name)
            rows.append(row)
    return rows


SERIES = _series()


def _rate(row, begin):
    """Return what a series does in a step that begins then, per second."""
    if row["user"] == "1001":
        return 10 if begin >= at() else 5
    if row["user"] == "1002":
        stormy = STORM[0] <= begin < STORM[1] and row["kind"] == "mdt"
        return STORM_RATE if stormy else 0.1
    return 1 - 0.1 * HOSTILE.index(row["user"])


def _usage(kind, ends):
    for row in (row for row in SERIES if row["kind"] == kind):
        for end in ends:
            samples = round(_rate(row, end - STEP_US) * STEP_US / 1e6)
            more = {"operation": OPEN} if kind == "mdt" else {
                "operation": READ_BYTES, "total": samples * 1_000_000}  # fmt: skip
            yield used(row["series"], end - STEP_US, end, samples, **more)


def _observed(ends):
    frames, quality, loads = [], [], []
    for target, name in PLACES.items():
        for n, end in enumerate(ends):
            frames.append({"server": name, "epoch": "e", "sequence": end // STEP_US, "time": end,
                           "state": "stored", "entries": len(HOSTILE)})  # fmt: skip
            quality.append({"time": end, "target": target, "server": name, "class": "sound",
                            "system": False, "entries": len(HOSTILE) + n % 3})  # fmt: skip
            loads.append({"time": end, "server": name, "load_1": 4.0, "cpu_busy": 0.1})
    return {"frames": frames, "quality": quality, "server_load": loads}


def _own():
    """Return what the MDT counted itself at the end: a fifth more than ids tell."""
    told = sum(_rate(row, END_US - STEP_US) for row in SERIES if row["kind"] == "mdt")
    row = own(1, round(told * STEP_US / 1e6 * 1.25))
    return [{**row, "begin": END_US - STEP_US, "time": END_US}]


def _jobs():
    names = ("71", "72", *HOSTILE)
    return [{"job": name, "project": f"project_{name}", "partition": name, "name": name,
             "state": "RUNNING", "submit": at(), "recorded": at()} for name in names]  # fmt: skip


def page_rows():
    """Return rows of all tables."""
    ends = range(at() + STEP_US, END_US + 1, STEP_US)
    before = range(at(WEEK, 1) + STEP_US, at(WEEK, 4) + 1, STEP_US)
    times = [*before, at(), *ends]
    return {
        "operations": named("open", ("read_bytes", "bytes")),
        "series": SERIES,
        "usage_mdt": [*_usage("mdt", before), *_usage("mdt", ends)],
        "usage_ost": [*_usage("ost", before), *_usage("ost", ends)],
        "target_totals": _own(),
        "jobs": _jobs(),
        **_observed(times),
    }


def incident(name=INCIDENT, user="1002", job="72", end_us=STORM[1], kind="metadata_storm"):
    """Return the storm as the watch would tell it."""
    return Incident(
        id=name, start_us=STORM[0], end_us=end_us, state=State.ENDED if end_us else State.ONGOING,
        severity=Severity.CRITICAL, filesystem="scratch", targets=("scratch-MDT0000",),
        operations=("open",), baseline=14.0, peak=2014.0, ratio=143.0,
        causes=(Cause(user, job, None, None, 0.99, 0.9),), kind=kind,
        advice=Advice("Open a file once.", "Talk to the user.", (f"scontrol show job '{job}'",)),
        evidence=(("sign", f"of {user}"),),
    )  # fmt: skip


def make_page_store(directory):
    """Fill a data directory with the site and its incidents; return the directory."""
    make_store(directory, **page_rows())
    book = Book(directory)
    book.keep(incident())
    book.keep(incident("20221027T0206-00ab02", HOSTILE[0], HOSTILE[1], None, HOSTILE[4]))
    return directory


@contextmanager
def page_server(directory, **more):
    """Serve a data directory with the page."""
    engine = Engine.open(directory, Config(), Limits(reorder_s=0))
    # The book's incidents are made up: the watch would not find them again, and drop them.
    engine._lookout._tell = lambda _sight: None
    with server(directory, engine=engine, pages=routes(), **more) as world:
        yield world


def job_stats(opened, time_us, job="73", user="1003"):
    """Return what `lctl get_param` prints of an MDT where one job opened so many files so far."""
    entry = f'- job_id:          "{job}:{user}:r01c03"\n  snapshot_time:   {time_us // 10**6}\n'
    counter = f"  open:            {{ samples: {opened:>11}, unit:  reqs }}\n"
    return f"mdt.scratch-MDT0000.job_stats=job_stats:\n{entry}{counter}".encode()
