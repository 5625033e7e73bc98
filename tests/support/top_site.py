"""A small site for the terminal's window, and a source that pushes or is replayed at will.

Three servers, six targets, twelve minutes. User 1001's job 77 opens a lot on four nodes, 1002 reads
a lot, others do a little; one has a program whose name is an attack on a terminal.
"""

import queue
import threading
from functools import cache

from pfscope.errors import InputError
from pfscope.now.now import Now
from pfscope.now.wish import Wish
from pfscope.query.asked import Site
from pfscope.query.metrics import SHIPPED
from tests.support.query_tables import MemoryStore, named, one_series, used
from tests.support.store_rows import at

HOSTILE = "[red]x\x1b[2J\u202e\u5bbde\u0301[/red]"
MINUTES = 12
END_US = at(minute=MINUTES)
_PLACES = {
    "scratch-MDT0000": "mds1", "scratch-MDT0001": "mds1", "scratch-OST0000": "oss1",
    "scratch-OST0001": "oss1", "home-OST0000": "oss2", "home-MDT0000": "oss2",
}  # fmt: skip
_OPEN, _READ, _CLOSE = 0, 1, 2
_WHO = [
    *(("1001", "77", f"r01c0{n}", "python", "scratch-MDT0000", 300.0, 0) for n in range(1, 5)),
    ("1002", "78", "r01c05", "ior", "scratch-OST0000", 40.0, 4 << 20),
    ("1002", "79", "r01c06", "ior", "scratch-OST0001", 10.0, 1 << 20),
    ("1003", "80", "r01c07", HOSTILE, "home-MDT0000", 20.0, 0),
    ("1003", None, "login1", "vim", "home-OST0000", 0.5, 4096),
    ("0", None, "r01c01", "kworker", "scratch-MDT0001", 0.2, 0),
]


def _series(number, user, job, node, program, target):
    more = {"filesystem": target.partition("-")[0], "system": user == "0"}
    return one_series(number, target, user=user, job=job, node=node, executable=program, **more)


def _usage(minute, names=_WHO):
    begin, end = at(minute=minute - 1), at(minute=minute)
    for number, (*_who, target, rate, size) in enumerate(names):
        count = round(60 * rate * (1 + minute % 4 / 4))
        operation = _READ if size else _OPEN
        row = used(number, begin, end, count, total=count * size, operation=operation)
        yield ("usage_ost" if "-OST" in target else "usage_mdt"), row


def rows(minutes=MINUTES):
    """Return rows of all tables."""
    tables = {
        "operations": named("open", ("read_bytes", "bytes"), "close", ("write_bytes", "bytes")),
        "series": [_series(n, *who[:5]) for n, who in enumerate(_WHO)],
        "usage_mdt": [], "usage_ost": [], "frames": [], "quality": [], "server_load": [],
    }  # fmt: skip
    for minute in range(minutes + 1):
        for name, row in _usage(minute) if minute else ():
            tables[name].append(row)
        for server, load in (("mds1", 30.0), ("oss1", 8.0), ("oss2", 0.5)):
            time = at(minute=minute)
            tables["frames"].append({"server": server, "epoch": "e", "sequence": minute,
                                     "time": time, "state": "stored", "entries": 9})  # fmt: skip
            tables["server_load"].append({"time": time, "server": server, "load_1": load})
        tables["quality"] += [
            {"time": at(minute=minute), "target": target, "server": server, "class": "sound",
             "system": False, "entries": 9}
            for target, server in _PLACES.items()
        ]  # fmt: skip
    return tables


INCIDENT = {
    "id": "20221027T0001-abcdef", "start": "2022-10-27T00:01:00Z", "end": None, "state": "ongoing",
    "severity": "critical", "filesystem": "scratch", "targets": ["scratch-MDT0000"],
    "operations": ["open"], "kind": "metadata_storm", "baseline": 1.0, "peak": 9.0, "ratio": 9.0,
    "causes": [{"user": "1001", "job": "77", "node": None, "executable": None, "share": 0.97,
                "confidence": 0.9}],
    "advice": {"user": "Open files once.", "admin": "", "commands": [], "link": ""},
}  # fmt: skip


_ONE_AT_A_TIME = threading.Lock()


@cache
def _now():
    return Now(MemoryStore(rows()), Site(SHIPPED))


class StoreSource:
    """Answers from rows, as a server or a directory would; what is pushed is said by the test."""

    where = "http://127.0.0.1:8470"

    def __init__(self, *, pushes=True, incidents=(INCIDENT,)):
        self.pushes = pushes
        self.found = incidents
        self.asked = []
        self.fails = []
        """Errors to come instead of answers, one each."""
        self._now = _now()
        self._coming = queue.Queue()

    def now(self, words):
        self.asked.append(dict(words))
        if self.fails:
            raise self.fails.pop(0)
        with _ONE_AT_A_TIME:
            return self._now.document(Wish.read(words))

    def live(self, words):
        self._coming = coming = queue.Queue()
        yield self.now(words)
        while self.pushes:
            told = coming.get(timeout=30)
            if told is None:
                raise InputError(f"{self.where} ended the connection")
            yield self.now({**words, "at": [told]})

    def push(self, moment):
        """Let a live picture come, that of a moment."""
        self._coming.put(moment)

    def incidents(self, _words):
        if self.found is None:
            raise InputError("this is not for you")
        return self.found

    def cut(self):
        self._coming.put(None)

    def close(self):
        self.cut()
