"""What is known of one job: the questions that there are, put together about it.

A number of an array stands for all of its tasks. Means and shares are of the time in which the job
did something, not of the whole period that was looked at.
"""

from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from math import ceil
from typing import Any, Final

from pfscope.errors import InputError
from pfscope.query.data import Data
from pfscope.query.key_names import exactly
from pfscope.query.metrics import is_bytes
from pfscope.query.results import Result
from pfscope.times import iso
from pfscope.untrusted import printable
from pfscope.watch.advice import words_for
from pfscope.watch.archetype import Pattern, kind_of

Told = dict[str, Any]
POINTS: Final = 60
"""Rates over time are told in so many steps at most."""
METRICS: Final = ("iops", "metadata", "bytes")
_WHO: Final = ("user", "group", "project", "partition", "executable")
_MANY: Final = 10_000
_NEAR: Final = 3


def job_told(data: Data, job: str, start: str | None = None, end: str | None = None) -> Told:
    """Return everything that is known of a job."""
    active, key = _active(data, job, start, end)
    period = _period(data, active)
    who: Told = {key: exactly(job), **period}
    told = {
        "job": job,
        "is_array": key == "array",
        "tasks": sorted({row["job"] for row in active.to_pylist()}),
        "start": _text(period["start"]),
        "end": _text(period["end"]),
        **_members(data, who),
        "nodes": _rows(data.top("node", limit=_MANY, node="*", **who)),
        "targets": _rows(data.top("target", limit=_MANY, **who)),
        "operations": _operations(data, who),
        "shares": _shares(data, who, period),
        "load": _load(data, key, who),
        "series": _series(data, who, period),
        "sizes": _rows(data.sizes(by=key, **who)),
        "latency": _rows(data.latency(by="operation", limit=_MANY, **who)),
        "balance": _rows(data.balance(operation="bytes", kind="ost", **who)),
    }
    return told | _judged(told)


def incidents_of(data: Data, told: Told) -> list[Told]:
    """Return the incidents among whose causes a job is."""
    ids = {told["job"], *told["tasks"]}
    found = data.incidents(start=told["start"], end=told["end"]).to_pylist()
    return [
        {"id": row["id"], "start": _text(row["start"]), "severity": row["severity"],
         "kind": row["kind"], "targets": row["targets"], "state": row["state"]}
        for row in found
        if ids & {cause["job"] for cause in row["causes"]}
    ]  # fmt: skip


def _active(data: Data, job: str, start: str | None, end: str | None) -> tuple[Result, str]:
    """Return when a job did something, and whether its id is that of a job or of an array."""
    words: Told = {"start": start, "end": end}
    for key in ("job", "array"):
        chosen: Told = {key: exactly(job)}
        found = data.series(by=["job", "user"], step="observed", **chosen, **words)
        if len(found):
            return found, key
    raise _unknown(data, job, words)


def _unknown(data: Data, job: str, words: Told) -> InputError:
    rows = data.top(by="job", limit=_MANY, job="*", **words)
    known = [row["job"] for row in rows.to_pylist()]
    near = get_close_matches(job, known, _NEAR, cutoff=0.5) or known[:_NEAR]
    period = f"{iso(rows.about['from_us'])} to {iso(rows.about['to_us'])}"
    hint = f"did you mean {', '.join(near)}?" if near else "no job did: are ids without jobs?"
    return InputError(printable(f"job {job} did nothing from {period}; {hint}"))


def _period(data: Data, active: Result) -> Told:
    """Return from when to when a job did something, from the observation before the first."""
    times = active.table.column("time").to_pylist()
    first, last = min(times), max(times)
    begin = datetime.fromtimestamp(active.about["from_us"] / 1e6, UTC)
    seen = data.totals("filesystem", step="observed", start=begin, end=first)
    before = (time for time in seen.table.column("time").to_pylist() if time < first)
    return {"start": max(before, default=begin), "end": last}


def _members(data: Data, who: Told) -> Told:
    rows = data.top(by=_WHO, limit=_MANY, **who).to_pylist()
    named = {key: list(dict.fromkeys(r[key] for r in rows if r[key] is not None)) for key in _WHO}
    return {f"{key}s": names for key, names in named.items()}


def _operations(data: Data, who: Told) -> list[Told]:
    """Return every operation, those of requests first, each with its unit."""
    found: list[Told] = []
    for metric, unit in (("iops", "requests"), ("bytes", "bytes")):
        rows = _rows(data.top(by="operation", operation=metric, limit=_MANY, **who))
        found += [{**row, "unit": unit} for row in rows]
    return [{key: value for key, value in row.items() if key != "rank"} for row in found]


def _shares(data: Data, who: Told, period: Told) -> list[Told]:
    """Return which part of everything on its file systems the job did."""
    found: list[Told] = []
    for metric in METRICS:
        words = {"by": "filesystem", "operation": metric, "limit": _MANY}
        every = {
            row["filesystem"]: row["total"] for row in _rows(data.ask("top", **words, **period))
        }
        own = data.ask("top", **words, **who)
        found += [
            {
                "filesystem": row["filesystem"], "metric": metric, "unit": own.about["unit"],
                "total": row["total"], "rate_mean": row["rate_mean"], "rate_max": row["rate_max"],
                "share": row["total"] / every[row["filesystem"]] if row["total"] else 0.0,
            }
            for row in own.to_pylist()
        ]  # fmt: skip
    return found


def _load(data: Data, key: str, who: Told) -> list[Told]:
    """Return the load that it caused on each server, by the best estimate that there is."""
    found: dict[str, Told] = {}
    for row in data.load(by=key, limit=_MANY, **who).to_pylist():
        best = next((row[f"load_{name}"] for name in ("service", "learned", "equal")
                     if row[f"load_{name}"] is not None), None)  # fmt: skip
        server = found.setdefault(
            row["server"], {"server": row["server"], "load": row["load"], "caused": None}
        )
        if best is not None:
            server["caused"] = (server["caused"] or 0.0) + best
    return list(found.values())


def _series(data: Data, who: Told, period: Told) -> list[Told]:
    length_s = (period["end"] - period["start"]).total_seconds()
    step = timedelta(seconds=max(ceil(length_s / POINTS), 1))
    rows = data.series(by="operation", step=step, **who)
    return [{**row, "time": _text(row["time"])} for row in rows.to_pylist()]


def _judged(told: Told) -> Told:
    """Return what the job looks like, what speaks for it, and what its user could change."""
    most = {
        metric: max((r["share"] for r in told["shares"] if r["metric"] == metric), default=0.0)
        for metric in METRICS
    }
    rates = {row["operation"]: row["rate_mean"] for row in told["operations"]}
    spread = max(told["balance"], key=lambda row: row["max"] or 0.0, default=None)
    carried = spread["mean"] * spread["targets"] if spread else 0.0
    pattern = Pattern(
        {name: rate for name, rate in rates.items() if not is_bytes(name)},
        rates.get("read_bytes", 0.0), rates.get("write_bytes", 0.0),
        busiest=spread["max"] / carried if spread and carried else 0.0,
        targets=spread["targets"] if spread else 0,
        nodes=len(told["nodes"]),
        executables=tuple(told["executables"]),
    )  # fmt: skip
    kind, evidence = kind_of(pattern, data=most["bytes"] >= most["metadata"])
    return {"kind": kind, "evidence": list(evidence), "advice": words_for(kind)}


def _rows(result: Result) -> list[Told]:
    return result.to_pylist()


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
