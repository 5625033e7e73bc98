"""Effective load: which part of what a server is under each job, user or node causes.

Three estimates side by side, means over the window in the unit of the load average: `load_equal`
(every request weighs the same), `load_service` (the mean number of requests being served) and
`load_learned` (requests weigh what the server's own load has taught). What they leave unexplained,
and why one is missing, is told beside the rows.
"""

from typing import Any, Final

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.query.asked import Asked
from pfscope.query.load_costs import Costs, learned_costs
from pfscope.query.load_server import Lines
from pfscope.query.load_share import ESTIMATES, Sharing, loads
from pfscope.query.prepared import Build
from pfscope.query.selection import Selection
from pfscope.query.window import GivenSteps, Steps, Window

TIMED_AT_LEAST: Final = 0.9
"""Of a server's requests must tell their time; less would be a sum of what happens to be told."""
Floats = NDArray[np.float64]
_NO_LOAD: Final = "no load was collected"


def load(asked: Asked) -> pa.Table:
    """Return `server`, the keys, `load`, `load_equal`, `load_service` and `load_learned`."""
    lines, keys = Lines.of(asked.catalog.operations), _keys(asked)
    costs = learned_costs(asked, lines)

    def share(steps: Steps, horizon_us: int | None) -> ir.Table:
        everything = _everything(asked, steps.window, horizon_us)
        sharing = Sharing(everything, steps, lines, costs.prices, costs.bases)
        chosen = asked.selection(steps.window, horizon_us), lines.only(asked.metric)
        return sharing.members(*chosen, keys)

    known = _run(asked, "loads", lambda s, h: loads(_everything(asked, s.window, h), s))
    shared = _run(asked, "members", share, once=bool(costs.prices))
    whole = shared.column("whole")
    servers = Servers(known, shared.filter(whole), asked.window.length_us / 1e6, costs)
    asked.notes |= {"unit": "load", "unexplained": servers.unexplained(), "why": servers.why()}
    asked.notes["fit"] = {server: round(fit.fit, 3) for server, (_, fit) in costs.fits.items()}
    if asked.option("costs"):
        asked.notes["costs"] = costs.told()
    members = servers.of(shared.filter(pc.invert(whole)))
    return _ranked(members, keys, asked.option("limit"))


def _everything(asked: Asked, window: Window, horizon_us: int | None) -> Selection:
    """Return all usage of the servers that are meant."""
    where = {key: p for key, p in dict(asked.request.where).items() if key == "server"}
    return Selection(window, where, horizon_us=horizon_us)


def _keys(asked: Asked) -> list[str]:
    """Return the keys beside the server; a job has a user."""
    keys = [key for key in asked.by if key != "server"]
    return [*keys, "user"] if "job" in keys and "user" not in keys else keys


class Servers:
    """The servers' loads and sums, which turn load times seconds into means."""

    def __init__(self, loads_: pa.Table, sums: pa.Table, window_s: float, costs: Costs) -> None:
        self.names = sorted({*_names(loads_), *_names(sums)})
        load_s, covered_s = (self._added(loads_, name) for name in ("load_s", "covered_s"))
        covered = np.where(covered_s > 0, covered_s, np.nan)
        self._load = load_s / covered
        with np.errstate(divide="ignore", invalid="ignore"):
            self._timed = self._added(sums, "timed") / self._added(sums, "requests")
        self._refused = costs.refused
        learned = np.array([name in costs.fits for name in self.names], bool)
        self._seconds = {
            "equal": covered,
            "service": np.where(self._timed >= TIMED_AT_LEAST, window_s, np.nan),
            "learned": np.where(learned, covered, np.nan),
        }
        self._sums = {name: self._added(sums, name) / self._seconds[name] for name in ESTIMATES}

    def _added(self, rows: pa.Table, name: str) -> Floats:
        """Return the sums of a column, by server."""
        place = pc.index_in(rows.column("server"), pa.array(self.names, pa.string())).to_numpy()
        sums: Floats = np.bincount(place, _floats(rows, name), len(self.names)).astype(np.float64)
        return sums

    def of(self, members: pa.Table) -> pa.Table:
        """Return members with their loads; what is not available is null."""
        place = pc.index_in(members.column("server"), pa.array(self.names, pa.string())).to_numpy()
        columns = {"load": self._load[place]}
        for name in ESTIMATES:
            columns[f"load_{name}"] = _floats(members, name) / self._seconds[name][place]
        kept = members.drop_columns([*ESTIMATES, "timed"])
        for name, values in columns.items():
            kept = kept.append_column(name, pa.array(values, from_pandas=True))
        return kept

    def unexplained(self) -> dict[str, dict[str, Any]]:
        """Return for each server its load, and what of it is in no member's estimate."""
        return {
            server: {"load": _plain(self._load[i])}
            | {name: self._left(name, i) for name in ESTIMATES if np.isfinite(self._sums[name][i])}
            for i, server in enumerate(self.names)
        }

    def why(self) -> list[str]:
        """Return a sentence for each reason why columns are empty."""
        servers: dict[tuple[str, str], list[str]] = {}
        for place, server in enumerate(self.names):
            for column, reason in self._reasons(place).items():
                servers.setdefault((column, reason), []).append(server)
        return [f"{c} is empty on {', '.join(found)}: {r}" for (c, r), found in servers.items()]

    def _left(self, name: str, place: int) -> dict[str, float | None]:
        load = self._load[place]
        left = load - self._sums[name][place]
        return {"load": _plain(left), "share": _plain(left / load) if load > 0 else None}

    def _reasons(self, place: int) -> dict[str, str]:
        found, timed = {}, self._timed[place]
        if not np.isfinite(self._load[place]):
            found["load"] = found["load_equal"] = _NO_LOAD
        if np.isnan(timed):
            found["load_service"] = "no id tells of any request"
        elif timed == 0:
            found["load_service"] = "no request tells its time: Lustre 2.14 and later do"
        elif timed < TIMED_AT_LEAST:
            found["load_service"] = (
                f"{timed:.0%} of the requests tell their time; it takes {TIMED_AT_LEAST:.0%}"
            )
        if not np.isfinite(self._seconds["learned"][place]):
            found["load_learned"] = self._refused.get(self.names[place], _NO_LOAD)
        return found


def _ranked(members: pa.Table, keys: list[str], limit: int) -> pa.Table:
    """Return the first of each server by the best estimate that it has."""
    best = pc.coalesce(
        *(members.column(f"load_{name}") for name in ("service", "learned", "equal"))
    )
    members = members.append_column("best", pc.fill_null(best, 0.0))
    order = [("server", "ascending"), ("best", "descending"), ("requests", "descending")]
    members = members.sort_by([*order, *((key, "ascending") for key in keys)])
    codes = members.column("server").combine_chunks().dictionary_encode().indices.to_numpy()
    place = np.arange(len(codes)) - np.searchsorted(codes, codes)
    estimates = [f"load_{name}" for name in ESTIMATES]
    return members.filter(pa.array(place < limit)).select(["server", *keys, "load", *estimates])


def _run(asked: Asked, part: str, build: Build, *, once: bool = False) -> pa.Table:
    """Return the rows of a part of the answer; what holds learned costs is compiled for once."""
    steps, horizon_us = asked.steps, asked.horizon_us
    if once or isinstance(steps, GivenSteps):
        return asked.engine.run(build(steps, horizon_us))
    key = asked.name, part, asked.request_key, asked.catalog.operations
    return asked.engine.run_prepared(key, build, steps, horizon_us)


def _names(rows: pa.Table) -> list[str]:
    names: list[str] = rows.column("server").unique().to_pylist()
    return names


def _floats(rows: pa.Table, name: str) -> Floats:
    values = rows.column(name).cast(pa.float64()).fill_null(0.0)
    return np.asarray(values.to_numpy(), np.float64)


def _plain(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
