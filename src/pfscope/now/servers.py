"""What each server and target is under and does, who has most of it, and what no id tells."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfscope.now.measures import without_own
from pfscope.now.sight import Server
from pfscope.now.table import LOAD, Column, Seen, number
from pfscope.now.wish import Wish

Told = dict[str, Any]


def places(seen: Seen, wish: Wish) -> Told:
    """Return `servers` and `targets`, worked out once for all who see the same columns of them."""
    columns = seen.shown(wish)
    key = tuple(column.name for column in columns)
    if key not in seen.places:
        seen.places[key] = {"servers": _servers(seen, columns), "targets": _targets(seen, columns)}
    return seen.places[key]


def with_parts(told: Told, seen: Seen, wish: Wish) -> Told:
    """Return the same, and with each server those who have most of it, as somebody may see them."""
    if not wish.parts:
        return told
    both = zip(told["servers"], _parts(seen, wish), strict=True)
    return {**told, "servers": [{**server, "parts": parts} for server, parts in both]}


def _servers(seen: Seen, columns: Sequence[Column]) -> list[Told]:
    """Return what each server is under, does, and is not told about."""
    load, how = seen.sight.load
    found = []
    for place, server in enumerate(seen.sight.servers):
        here = seen.sight.server == place
        targets = [name for name, at in seen.sight.targets.items() if at == place]
        told = {
            "server": server.name,
            "targets": sorted(targets),
            "load": number(server.load),
            "load_told": number(load[here].sum()) if how[place] else None,
            "estimate": how[place],
            **_figures(server),
            **_counted(seen, columns, here, targets),
        }
        found.append(_times(server) | told)
    return found


def _targets(seen: Seen, columns: Sequence[Column]) -> list[Told]:
    """Return what each target does, and what of it no id is told for."""
    of = seen.names("target")
    found = []
    for target, place in sorted(seen.sight.targets.items()):
        at = of.texts.index(target) if target in of.texts else -1
        server = seen.sight.servers[place].name
        counted = _counted(seen, columns, of.places == at, [target])
        told = {"target": target, "kind": _kind(target), "server": server}
        found.append(told | counted)
    return found


def _parts(seen: Seen, wish: Wish) -> list[list[list[str | float | int | None]]]:
    """Return of each server those with the largest parts, by the column that decides."""
    chosen = np.flatnonzero(seen.chosen(wish))
    members, group = seen.grouped(wish.by, chosen)
    values = seen.column(seen.sort(wish)).values[chosen]
    at = seen.sight.server[chosen]
    found = []
    for place in range(len(seen.sight.servers)):
        here = at == place
        sums = np.bincount(group[here], values[here], len(members))
        largest = np.argsort(-sums, kind="stable")[: wish.parts]
        found.append([[*members[n], number(sums[n])] for n in largest.tolist() if sums[n] > 0])
    return found


def _counted(
    seen: Seen, columns: Sequence[Column], here: NDArray[np.bool_], targets: Sequence[str]
) -> Told:
    """Return rates by metric as ids tell them, and the share of requests that none tells."""
    rates = {
        column.name: number(column.values[here].sum()) for column in columns if column.name != LOAD
    }
    return {"rates": rates, "unattributed": _unattributed(seen, columns, here, targets)}


def _unattributed(
    seen: Seen, columns: Sequence[Column], here: NDArray[np.bool_], targets: Sequence[str]
) -> dict[str, float | int | None]:
    """Return by metric which share of what targets counted themselves no id is told for."""
    sight = seen.sight
    own = [(name, *sight.own[name]) for name in targets if name in sight.own]
    told_of = {column.name for column in columns}
    shares: dict[str, float | int | None] = {}
    for measure in (m for m in seen.measures if m.is_metric and m.name in told_of):
        fair = without_own(measure, sight.operations)
        counted = sum(
            float(fair.of(samples, totals, np.array([_kind(name)])).sum())
            for name, samples, totals in own
        )
        told = fair.of(sight.samples[here], sight.totals[here], seen.kinds[here])
        left = max(counted - float(told.sum()), 0.0)
        shares[measure.name] = number(left / counted) if counted else None
    return shares


def _kind(target: str) -> str:
    return "ost" if "-OST" in target else "mdt"


def _times(server: Server) -> Told:
    interval_s = server.interval_us / 1e6 if server.interval_us else None
    return {"time_us": server.time_us, "interval_s": interval_s, "silent": server.silent}


def _figures(server: Server) -> dict[str, float | int | None]:
    names = ("load_1", "load_5", "load_15", "cpu_busy", "cpu_iowait")
    sizes = ("memory_total", "memory_available")
    figures = server.figures
    return {name: number(figures.get(name)) for name in names} | {n: figures.get(n) for n in sizes}
