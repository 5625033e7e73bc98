"""The short way from the laboratory to the watch, for long times: no text, no counters.

What was done becomes rates of signals at once, and rows of usage as the ingest would store them,
of the last hours only: more is never asked of the past by who looks for causes. A test holds both
against the way through text, ingest and store. Ids are read by the product's own reader.
"""

from collections import deque

import duckdb
import numpy as np
import pyarrow as pa

from pfscope.config import Config
from pfscope.ingest.ids import Ids
from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.cluster import LONGEST_STEP_S
from pfscope.lab.dialects import BYTES_OPERATIONS, KINDS
from pfscope.lab.site import FILE_SYSTEM
from pfscope.query.asked import Site
from pfscope.query.data import Data
from pfscope.query.engine import StoreEngine
from pfscope.query.local import LocalSource
from pfscope.query.metrics import PARTS_OF_RENAME, SHIPPED
from pfscope.store.schema import FRAMES, SERIES, TABLES, USAGE
from pfscope.watch.model import Signal

KEPT_US = 11 * 1800 * 10**6
PAST_US = 3 * 3600 * 10**6
STEP_US = LONGEST_STEP_S * 10**6
_LINES = {"read": "read_bytes", "write": "write_bytes"}
_PLACE = 2**20
"""More ids than a run has."""


class Rates:
    """Turns what was done into the values of all signals of a site."""

    def __init__(self, site):
        self._places = {kind: site.targets(kind) for kind in KINDS}
        self._of = {kind: _weights(kind) for kind in KINDS}
        measures = [name for kind in KINDS for name in self._of[kind]]
        self._measures = list(dict.fromkeys(measures))
        targets = [
            _signal("target", target, name)
            for kind in KINDS for target in self._places[kind] for name in self._of[kind]
        ]  # fmt: skip
        whole = [_signal("filesystem", FILE_SYSTEM, name) for name in self._measures]
        self.signals = (*targets, *whole)

    def __call__(self, used):
        """Return a rate for each signal."""
        each, whole = [], dict.fromkeys(self._measures, 0.0)
        for kind in KINDS:
            usage, count = used[kind], len(OPERATIONS[kind])
            places = len(self._places[kind])
            cell = usage.target.astype(np.int64) * count + usage.operation
            done = np.bincount(cell, usage.increment.astype(float), places * count)
            rates = done.reshape(places, count) / LONGEST_STEP_S
            values = rates @ np.stack(list(self._of[kind].values()), axis=1)
            each.append(values.ravel())
            for name, total in zip(self._of[kind], values.sum(axis=0), strict=True):
                whole[name] += total
        return np.concatenate([*each, list(whole.values())])


class Recent:
    """What was done in the last hours, as a store that questions can be put to."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._names = [(kind, n) for kind in KINDS for n in cluster.site.targets(kind)]
        lines = dict.fromkeys(_LINES.get(n, n) for kind in KINDS for n in OPERATIONS[kind])
        self._operations = {name: number for number, name in enumerate(lines)}
        self._ids, self._kept = Ids(Config()), deque()
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        for name, schema in TABLES.items():
            self._database.register("empty", schema.empty_table())
            self._database.execute(f"CREATE TABLE {name} AS FROM empty")
        lines = [{"operation": number, "name": name, "unit": _unit(name)}
                 for name, number in self._operations.items()]  # fmt: skip
        self._replace("operations", pa.Table.from_pylist(lines, TABLES["operations"]))
        self.data = Data(LocalSource(StoreEngine(self), Site(SHIPPED, ()), self.close))
        self._old, self._filled_us, self._known = True, 0, np.zeros(0, np.int64)

    def add(self, time_us, used):
        """Take what was done in a step, and forget what is long ago."""
        self._kept.append((time_us, used))
        while self._kept[0][0] < time_us - KEPT_US:
            self._kept.popleft()
        self._old = True

    def query(self, sql, parameters=()):
        """Return rows, as a store does."""
        if self._old:
            self._old = False
            self._fill()
        return self._database.sql(sql, params=list(parameters)).to_arrow_table()

    def founded(self, incident, until_us):
        """Tell whether, in truth, the user that is named first makes most of a large increase."""
        user = incident.causes[0].user if incident.causes else None
        measure = dict(incident.evidence)["measure"]
        during, before = {}, {}
        for time_us, used in self._kept:
            late = incident.start_us < time_us - STEP_US // 2 and time_us <= until_us
            early = incident.start_us - PAST_US < time_us - STEP_US // 2 <= incident.start_us
            for kind in KINDS if late or early else ():
                self._add_by_user(during if late else before, kind, used[kind], incident, measure)
        length = max(until_us - incident.start_us, STEP_US) / PAST_US
        rose = {u: n - before.get(u, 0.0) * length for u, n in during.items()}
        usual = sum(before.values()) * length
        large = sum(during.values()) >= 2 * usual
        return large and rose.get(user, 0.0) >= 0.5 * sum(rose.values())

    def _add_by_user(self, sums, kind, usage, incident, measure):
        weights = _weights(kind).get(measure)
        wanted = [n for n, name in enumerate(self._cluster.site.targets(kind))
                  if name in incident.targets]  # fmt: skip
        if weights is None or not wanted:
            return
        rows = np.isin(usage.target, wanted) & (weights[usage.operation] > 0)
        people = self._cluster.world.staging.origins.all
        amounts = usage.increment[rows] * weights[usage.operation[rows]]
        origins, place = np.unique(usage.origin[rows], return_inverse=True)
        for origin, amount in zip(origins, np.bincount(place, amounts, len(origins)), strict=True):
            user = people[origin].user
            sums[user] = sums.get(user, 0.0) + amount

    def close(self):
        """Let go of the database."""
        self._database.close()

    def _fill(self):
        """Bring the tables up to what is kept now."""
        fresh = [each for each in self._kept if each[0] > self._filled_us]
        self._filled_us = self._kept[-1][0]
        for kind in KINDS:
            new = pa.concat_tables([self._rows(kind, t, used[kind]) for t, used in fresh])
            self._replace(f"usage_{kind}", new.cast(USAGE))
            numbers = np.unique(new["series"].to_numpy())
            unknown = numbers[~np.isin(numbers, self._known)]
            self._known = np.concatenate([self._known, unknown])
            if len(unknown):
                self._replace("series", self._series(unknown))
        times = [time - STEP_US * (not n) for n, (time, _) in enumerate(fresh)]
        frames = [{"server": "mds1", "epoch": "e", "sequence": t // STEP_US, "time": t,
                   "state": "stored"} for t in times]  # fmt: skip
        self._replace("frames", pa.Table.from_pylist(frames, FRAMES))

    def _replace(self, name, rows):
        """Add rows, and let those go that are too old."""
        self._database.register("fresh", rows)
        self._database.execute(f"INSERT INTO {name} FROM fresh")
        if "time" in rows.column_names:
            oldest = self._kept[0][0] - STEP_US
            self._database.execute(f"DELETE FROM {name} WHERE epoch_us(time) < ?", [oldest])

    def _rows(self, kind, time_us, usage):
        first = 0 if kind == "mdt" else len(self._names) - len(self._cluster.site.osts)
        names = OPERATIONS[kind]
        line = np.array([self._operations[_LINES.get(n, n)] for n in names])
        carried = np.isin(names, BYTES_OPERATIONS)[usage.operation]
        amount, count = usage.increment.astype(np.int64), len(usage.target)
        columns = {
            "time": np.full(count, time_us), "begin": np.full(count, time_us - STEP_US),
            "series": (first + usage.target.astype(np.int64)) * _PLACE + usage.entry_id,
            "operation": line[usage.operation],
            "samples": np.where(carried, 0, amount), "total": np.where(carried, amount, 0),
            "sumsq": np.zeros(count), "minimum": np.zeros(count, np.int64),
            "maximum": np.zeros(count, np.int64),
            "restarted": np.zeros(count, bool), "baseline": np.zeros(count, bool),
        }  # fmt: skip
        return pa.table(columns)

    def _series(self, numbers):
        places, entries = np.divmod(numbers, _PLACE)
        raw = self._cluster.world.staging.ids.raw
        said = self._ids.rows(self._ids.places(FILE_SYSTEM, [raw[n] for n in entries.tolist()]))
        kinds, targets = zip(*(self._names[place] for place in places.tolist()), strict=True)
        count = len(numbers)
        more = {
            "series": numbers, "filesystem": [FILE_SYSTEM] * count, "target": list(targets),
            "kind": list(kinds), "first_seen": np.zeros(count, np.int64),
        }  # fmt: skip
        columns = {name: said.column(name) for name in said.column_names} | more
        return pa.table({name: columns[name] for name in SERIES.names}).cast(SERIES)


def _unit(operation):
    return "bytes" if operation in BYTES_OPERATIONS else "reqs"


def _signal(scope, name, measure):
    unit = "bytes" if measure == "bytes" or measure in BYTES_OPERATIONS else "requests"
    return Signal(FILE_SYSTEM, scope, name, measure, unit)


def _weights(kind):
    """Return how much each operation counts in each measure of a kind of target."""
    names = OPERATIONS[kind]
    found = {
        name: (np.array(names) == name).astype(float)
        for name in names if name not in PARTS_OF_RENAME
    }  # fmt: skip
    for metric in ("iops", "bytes", "metadata"):
        shipped = SHIPPED[metric]
        if kind not in shipped.kinds:
            continue
        others = 0.0 if shipped.unit == "bytes" else shipped.weights.get("*", 0.0)
        weights = [
            0.0 if n in PARTS_OF_RENAME
            else shipped.weights.get(n, 0.0 if n in BYTES_OPERATIONS else others)
            for n in names
        ]  # fmt: skip
        found[metric] = np.array(weights)
    return found
