"""Is a running server sound: what it says of itself over HTTP, as the findings of `doctor`.

A server tells how it fares, not whether its files are whole: those are read where they lie.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pfscope.errors import InputError
from pfscope.remote import Connection
from pfscope.store.check import Finding
from pfscope.untrusted import printable

_SAMPLE: Final = re.compile(r'pfscope_(\w+)(?:\{part="(\w+)"\})? ([0-9.e+-]+)')
Metrics = Mapping[str, Mapping[str, float]]


def findings(connection: Connection) -> Iterator[Finding]:
    """Yield what a server says of itself; one that does not answer is an `InputError`."""
    try:
        yield from _findings(connection)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{connection.url} does not answer as pfscope does") from None


def _findings(connection: Connection) -> Iterator[Finding]:
    version = printable(str(_json(connection, "/health")["version"]))
    yield Finding("server", True, f"{connection.url} lives, version {version}")
    yield _ready(connection)
    metrics = _metrics(connection.get("/metrics", "text/plain").decode("utf-8", "replace"))
    yield _parts(metrics)
    yield _journal(metrics)
    yield _ledger(_json(connection, "/api/v1/ledger")["ledger"])
    yield Finding("space", True, f"{metrics['disk_free_bytes'][''] / 1e9:,.1f} GB are free")


def _json(connection: Connection, path: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(connection.get(path))
    return told


def _ready(connection: Connection) -> Finding:
    try:
        connection.get("/ready")
    except InputError as error:
        return Finding("ready", False, str(error))
    return Finding("ready", True, "frames are taken and stored")


def _metrics(text: str) -> Metrics:
    """Return samples by name and part; all that have other labels are left out."""
    samples: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in text.splitlines():
        if found := _SAMPLE.fullmatch(line):
            samples[found[1]][found[2] or ""] = float(found[3])
    return samples


def _parts(metrics: Metrics) -> Finding:
    wrong = [part for part, there in metrics["trouble"].items() if there]
    if wrong:
        return Finding("parts", False, f"in trouble, its log says why: {', '.join(wrong)}")
    return Finding("parts", True, f"{', '.join(metrics['trouble'])} do their work")


def _journal(metrics: Metrics) -> Finding:
    frames, damaged = metrics["journal_frames"][""], metrics["journal_damaged"][""]
    text = f"{frames:.0f} frames wait in it"
    if damaged:
        text += f", and damage was met {damaged:.0f} times; copies are in quarantine"
    return Finding("journal", not damaged, text)


def _ledger(lines: list[dict[str, Any]]) -> Finding:
    """Compare what came with what became of it."""
    left: Counter[tuple[str, str, str]] = Counter()
    for line in lines:
        sign = 1 if line["outcome"] == "received" else -1
        for unit in ("frames", "entries"):
            left[str(line["stage"]), str(line["server"]), unit] += sign * int(line[unit])
    wrong = [f"{stage} {server}: {n:+} {unit}" for (stage, server, unit), n in left.items() if n]
    if wrong:
        return Finding("ledger", False, f"the sums differ: {printable('; '.join(wrong[:3]))}")
    return Finding(
        "ledger", True,
        "received = stored + duplicate + rejected + dropped, for every stage and server",
    )  # fmt: skip
