"""What goes wrong on a real site, on request: in the ids, in a read, on a server.

Faults in ids change only the name under which a request is booked; faults in a read only what is
seen. A server loses its counters right after an observation, so that no request that was counted
goes unseen. Everything that was injected can be told afterwards.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfscope.errors import UsageError
from pfscope.lab.dialects import Dialect
from pfscope.lab.site import Site
from pfscope.lab.sources import Ids, Ints, Origins
from pfscope.lab.tables import TargetTable

FAULTS = {
    "missing-job": "processes whose job id is lost",
    "mangled": "ids cut, overwritten or lengthened, on OSTs, always a few and now and then many",
    "qualified": "the host with its domain, on OSTs",
    "skipped": "entries that one read leaves out (releases up to 2.15)",
    "repeated": "entries that one read shows twice (releases up to 2.15)",
    "reboot": "a server that restarts: its counters begin anew, snapshots are missing",
    "failover": "a target that moves to another server and back, its counters begin anew",
    "clock-step": "servers whose clock jumps, one forward, one back",
    "agent-outage": "snapshots that are missing though the server works",
    "hostile": "ids that were written to break a reader",
}
IDENTITY_FAULTS = frozenset({"missing-job", "mangled", "qualified"})

HOSTILE = (
    b"=cmd|'/C calc'!A0", b"=cmd():%u:%h", b"@SUM(1+1).%u", b"+1+1.%u", b"-2+3.%u",
    b"<script>alert(1)</script>", b"<img src=x onerror=a>.%u", b"&amp;<b>.%u",
    b"\x1b[31mred\x1b[0m.%u", b"\x1b]0;title\x07.%u", b"\x9b31m.%u", b"caf\xc3\xa9.%u",
    b"\xff\xfe\x80.%u", b"\xd7\xf7.%u", b"a\"b'c.%u", b"back\\slash.%u", b"\\x3A.%u", b"\\",
    b"\"quoted\"", b"- job_id: x", b"job_stats:", b"null", b"~", b"no", b"0777", b"12:30:45",
    b"1e5", b"!!python/object:x", b"{ samples: 1 }", b"a,b;c|d.%u", b"tab\there.%u", b"\tlead",
    b"", b" ", b" lead", b"trail ", b"a b c.%u", b"x" * 31, b"12345678:1234567890123:a-long-host",
    b"::", b":", b".", b"..", b"../../etc/passwd", b"%s%n.%u", b"${jndi:ldap}",
    b"'; DROP TABLE x;--", b"#comment", b"*", b"\x7f\x01\x02.%u", b"99999999999:%u:%h",
    b"%j:%u:%h:extra", b"%u",
)  # fmt: skip
"""%u, %h and %j stand for the user, the host and the job that are really behind the id."""

_STEADY_PER_S = {"job": 0.105, "system": 0.004}
"""Mangled ids on a site of Puhti's size, by what the id was before."""
_BURSTS_PER_DAY, _BURST_S, _BURST_FACTOR = 3, 1200.0, 15.0


def parse_faults(text: str) -> frozenset[str]:
    """Return the faults that `--faults` names."""
    if text in ("none", "all"):
        return frozenset(FAULTS if text == "all" else ())
    names = frozenset(name.strip() for name in text.split(","))
    unknown = sorted(names - set(FAULTS))
    if unknown:
        raise UsageError(f"no fault {unknown[0]!r}: use none, all, or some of {', '.join(FAULTS)}")
    return names


class Mangler:
    """Lustre's race between threads that write one id."""

    def __init__(self, site: Site, ids: Ids, origins: Origins, rng: np.random.Generator) -> None:
        self._scale, self._ids, self._origins, self._rng = site.scale, ids, origins, rng
        self.bursts: list[tuple[float, float]] = []
        self.count = 0

    def new_day(self, begin_s: float, day_s: float) -> None:
        """Decide when the bursts of a day are."""
        for start in np.sort(self._rng.random(_BURSTS_PER_DAY)) * (day_s - _BURST_S):
            self.bursts.append((begin_s + float(start), begin_s + float(start) + _BURST_S))

    def mangle(self, entry_id: Ints, origin: Ints, begin_s: float, end_s: float) -> Ints:
        """Return the ids of a step's rows, some of them mangled."""
        has_job = self._origins.with_job(origin)
        rate = (end_s - begin_s) * self._scale
        if any(first < end_s and begin_s < last for first, last in self.bursts):
            rate *= _BURST_FACTOR
        result = entry_id.copy()
        for kind, rows in (("job", has_job), ("system", ~has_job & (origin >= 0))):
            candidates = np.flatnonzero(rows & (entry_id >= 0))
            wanted = int(self._rng.poisson(_STEADY_PER_S[kind] * rate))
            if not len(candidates) or not wanted:
                continue
            for row in np.unique(self._rng.choice(candidates, wanted)).tolist():
                raw = self._ids.raw[entry_id[row]]
                if has_job[row] == raw[:1].isdigit():
                    result[row] = self._ids.number(self._shape(raw))
                    self.count += 1
        return result

    def _shape(self, raw: bytes) -> bytes:
        """Return what the race leaves of an id: the shapes of the thesis' table 8."""
        job, _, rest = raw.partition(b":")
        user = rest.partition(b":")[0]
        if not rest:
            return (job.partition(b".")[0], job.partition(b".")[0] + b".")[self._rng.integers(2)]
        if not job:
            return (b":" + user, b":" + user + b":")[self._rng.integers(2)]
        extra = b"%d" % self._rng.integers(10)
        shapes = (
            job, job + b":", job + b":" + user, job + b":" + user + b":", job + extra,
            b":" + raw[1:],
        )  # fmt: skip
        shares = (0.23, 0.24, 0.16, 0.17, 0.12, 0.08)
        return shapes[int(self._rng.choice(len(shapes), p=shares))]


def hostile_ids(user: int, host: str, job: int) -> list[bytes]:
    """Return the hostile ids of one user."""
    values = {b"%u": str(user), b"%h": host, b"%j": str(job)}
    made = []
    for text in HOSTILE:
        for code, value in values.items():
            text = text.replace(code, value.encode())  # noqa: PLW2901
        made.append(text)
    return made


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens right after an observation."""

    fault: str
    observation: int
    server: int
    target: int = -1
    """Index within the server's kind, where a target is concerned."""
    other_server: int = -1
    amount: float = 0.0
    """Seconds of a clock step, a reboot, a burst of mangled ids; observations of an outage."""


def plan(
    faults: frozenset[str], site: Site, observations: int, interval_s: float, cleanup_s: int,
    rng: np.random.Generator,
) -> list[Event]:  # fmt: skip
    """Return the events of a run, one of each kind in every day, in order."""
    per_day = max(1, round(86_400 / interval_s))
    events: list[Event] = []
    for first in range(0, observations, per_day):
        length = min(per_day, observations - first)
        servers = rng.permutation(len(site.servers)).tolist()
        free = first
        for event, fraction in _day_of_events(site, servers, interval_s, cleanup_s, rng):
            # One after the other: who loses counters must have been observed just before.
            at = max(free, first + round(fraction * length))
            if event.fault in faults and at < first + length - 1:
                events.append(replace(event, observation=at))
                free = at + 1 + _observations_lost(event, interval_s)
    return events


def _observations_lost(event: Event, interval_s: float) -> int:
    if event.fault == "reboot":
        return int(np.ceil(event.amount / interval_s))
    return int(event.amount) if event.fault == "agent-outage" else 0


def _day_of_events(
    site: Site, servers: list[int], interval_s: float, cleanup_s: int, rng: np.random.Generator
) -> Iterator[tuple[Event, float]]:
    def of(nth: int) -> int:
        return servers[nth % len(servers)]

    most = 3 if not cleanup_s else max(1, min(3, int(cleanup_s / interval_s) - 1))
    missing = int(rng.integers(min(2, most), most + 1))
    forward, back = rng.uniform(40.0, 4000.0), -rng.uniform(40.0, 400.0)
    yield Event("agent-outage", 0, of(0), amount=missing), 0.15 + 0.1 * rng.random()
    yield Event("clock-step", 0, of(1), amount=forward), 0.3 + 0.05 * rng.random()
    yield Event("clock-step", 0, of(2), amount=back), 0.37 + 0.05 * rng.random()
    osts = [s for s in servers if site.servers[s].kind == "ost"]
    target = site.servers[osts[0]].targets[int(rng.integers(len(site.servers[osts[0]].targets)))]
    away = 0.45 + 0.05 * rng.random()
    if len(osts) > 1:
        yield Event("failover", 0, osts[0], target, osts[1]), away
        yield Event("failover", 0, osts[1], target, osts[0]), away + 0.12
    down_s = max(90.0, 1.5 * interval_s)
    yield Event("reboot", 0, of(3), amount=down_s), 0.7 + 0.1 * rng.random()


def misread(
    table: TargetTable, dialect: Dialect, faults: frozenset[str], skipped_ns: tuple[int, int],
    rng: np.random.Generator, tell: Callable[[str, list[bytes]], None],
) -> TargetTable:  # fmt: skip
    """Return a table as a read shows it that skips or repeats a few entries now and then.

    Only entries that were updated last between the times `skipped_ns` are skipped.
    """
    draws = rng.random(2), rng.integers(1, 4, 2)
    old = not dialect.since("2.16")
    for fault, chance, count in zip(("skipped", "repeated"), *draws, strict=True):
        rows = rng.integers(0, max(1, len(table.ids)), int(count))
        if fault not in faults or not old or chance > 0.06 or len(table.ids) < 10:
            continue
        rows = np.unique(rows)
        if fault == "skipped":
            updated_ns = table.snapshot_ns[rows]
            rows = rows[(skipped_ns[0] < updated_ns) & (updated_ns <= skipped_ns[1])]
        if not len(rows):
            continue
        tell(fault, [table.ids[row] for row in rows])
        everything = np.arange(len(table.ids))
        order = np.delete(everything, rows) if fault == "skipped" else np.sort(
            np.concatenate((everything, rows))
        )  # fmt: skip
        table = _rows_of(table, order)
    return table


def _rows_of(table: TargetTable, rows: NDArray[np.intp]) -> TargetTable:
    arrays: dict[str, Any] = {
        name: getattr(table, name)[rows]
        for name in (
            "snapshot_ns", "start_ns", "samples", "minimum", "maximum", "total", "sumsq",
        )
    }  # fmt: skip
    histograms = None if table.histograms is None else table.histograms[rows]
    ids = [table.ids[row] for row in rows.tolist()]
    return replace(table, ids=ids, histograms=histograms, **arrays)


def described(faults: Iterable[str]) -> str:
    """Return one line for each fault, for help texts."""
    return "\n".join(f"  {name:<14}{FAULTS[name]}" for name in faults)
