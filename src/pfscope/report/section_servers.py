"""The servers: what they were asked, what load they were under, and who caused it."""

from collections import defaultdict
from typing import Any, Final

from pfscope.report import draw, numbers
from pfscope.report.digest import Digest
from pfscope.report.markup import Child, element, table

_WAYS: Final = {
    "load_service": "time",
    "load_learned": "what was learned",
    "load_equal": "requests",
}
"""From the best estimate of what somebody causes to the plainest, and what each goes by."""
_TOLD_AT_LEAST: Final = 0.1
"""Of a server's load: who causes less is not named."""
_NAMED: Final = 3


def servers(digest: Digest) -> Child:
    """Return a table of the servers, where it is known which these were."""
    result = digest.asking.maybe("top", by="server", operation="iops", limit=1000)
    known = [row for row in result.to_pylist() if row["server"]] if result is not None else []
    if not known:
        return None
    loads = _loads(digest)
    rows: list[list[Child]] = [
        [
            row["server"], numbers.rate(row["rate_mean"], "requests"),
            numbers.rate(row["rate_max"], "requests"), numbers.share(row["share"]),
            *_load(loads.get(row["server"], [])),
        ]
        for row in known
    ]  # fmt: skip
    head = ("server", "requests", "highest", "share", "load", "mostly caused by")
    if not any(row["load"] for found in loads.values() for row in found):
        rows = [cells[:4] for cells in rows]
        return table("Servers", head[:4], rows, numeric=(1, 2, 3), heading=True)
    note = (
        "Load is the mean of the server's own load average. Who causes it goes by the time that "
        "requests took where Lustre tells it, else by what the load has taught, else by the number "
        "of requests."
    )
    listed = table("Servers", head, rows, numeric=(1, 2, 3, 4), heading=True)
    return [listed, element("p", note)]


def _loads(digest: Digest) -> dict[str, list[dict[str, Any]]]:
    """Return who causes the load of each server."""
    result = digest.asking.maybe("load", by="user", limit=_NAMED)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in result.to_pylist() if result is not None else ():
        found[row["server"]].append(row)
    return found


def _load(rows: list[dict[str, Any]]) -> list[Child]:
    """Return a server's load, and the users who caused a good part of it."""
    load = rows[0]["load"] if rows else None
    way = next((way for way in _WAYS if any(row[way] is not None for row in rows)), None)
    if way is None or not load:
        return [numbers.si(load), numbers.NOTHING]
    largest = sorted(rows, key=lambda row: -(row[way] or 0.0))
    named = [
        f"{draw.whose(row['user'])} ({numbers.si(row[way])})"
        for row in largest
        if (row[way] or 0.0) >= _TOLD_AT_LEAST * load
    ]
    said = f"{numbers.listed(named)}, by {_WAYS[way]}" if named else "many, each with little"
    return [numbers.si(load), said]
