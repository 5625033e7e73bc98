"""The truth as files: what really happened, written beside what a site shows.

    usage.parquet   time, target, entry_id, job, user, node, executable, operation, increment
    load.parquet    time, server, job, user, load
    jobs.parquet    one row for each job that ran
    incidents.json  faults.json

Times are UTC by the laboratory's own clock, which no clock step touches; an increment stands at the
observation that ends its interval. `increment` is requests, and bytes for read_bytes and
write_bytes; parts of `rename` have rows of their own. Without a job, `job` is null; requests of
processes that get no id are in the load alone, with user null. Parquet is written as it comes.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.cluster import Cluster, Observation
from pfscope.lab.dialects import KINDS
from pfscope.lab.incidents import told
from pfscope.lab.text_ids import spelled_id
from pfscope.lab.workload import Job
from pfscope.untrusted import ascii_text

ROWS_PER_GROUP = 1_000_000
_TIME = pa.timestamp("ms", tz="UTC")
_WORD = pa.dictionary(pa.int32(), pa.string())
USAGE = pa.schema(
    [("time", _TIME)]
    + [(name, _WORD) for name in ("target", "entry_id", "job", "user", "node", "executable")]
    + [("operation", _WORD), ("increment", pa.int64())]
)
LOAD = pa.schema(
    [("time", _TIME), ("server", _WORD), ("job", _WORD), ("user", _WORD), ("load", pa.float64())]
)
JOBS = pa.schema(
    [
        ("job", pa.string()), ("slurm_id", pa.string()), ("array_job", pa.string()),
        ("array_task", pa.int32()), ("user", pa.string()), ("user_name", pa.string()),
        ("project", pa.string()), ("gid", pa.int64()), ("partition", pa.string()),
        ("name", pa.string()), ("executable", pa.string()), ("archetype", pa.string()),
        ("nodes", pa.list_(pa.string())), ("submit", _TIME), ("start", _TIME), ("end", _TIME),
        ("state", pa.string()), ("incident", pa.int32()),
    ]
)  # fmt: skip
Codes = NDArray[Any]
Columns = dict[str, Codes]


class Truth:
    """Writes the files of one run of a cluster into a directory."""

    def __init__(self, directory: Path, cluster: Cluster) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory, self._cluster = directory, cluster
        site = cluster.site
        self._targets = {name: i for i, name in enumerate([*site.mdts, *site.osts])}
        self._lossy = np.zeros(len(self._targets), np.int64)
        """Whether the release that each target is on prints `?` for what it cannot show."""
        self._usage = _Table(directory / "usage.parquet", USAGE, self._usage_table)
        self._load = _Table(directory / "load.parquet", LOAD, self._load_table)

    def __enter__(self) -> "Truth":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._usage.close()
        self._load.close()

    def add(self, observation: Observation) -> None:
        """Write what happened until an observation."""
        time_ms = observation.time_ns // 1_000_000
        for snapshot in observation.snapshots:
            for table in snapshot.tables:
                self._lossy[self._targets[table.target]] = snapshot.dialect.quoting == "question"
        for kind, usage in observation.usage.items():
            count, code = len(usage.origin), KINDS.index(kind)
            target = usage.target + code * len(self._cluster.site.mdts)
            self._usage.add(
                {
                    "time": np.full(count, time_ms),
                    "target": target,
                    "spelling": 2 * usage.entry_id.astype(np.int64) + self._lossy[target],
                    "origin": usage.origin,
                    "operation": usage.operation + code * len(OPERATIONS["mdt"]),
                    "increment": usage.increment.astype(np.int64),
                }
            )
        load = observation.load
        columns = {"server": load.server, "account": load.account, "load": load.load}
        self._load.add({"time": np.full(len(load.load), time_ms), **columns})

    def finish(self, begin_s: float, end_s: float) -> list[Job]:
        """Write what is known at the end; return the jobs that ran between the two times."""
        jobs = self._cluster.world.staging.jobs
        ran = [job for job in jobs if job.start_s < end_s and job.end_s > begin_s]
        pq.write_table(_jobs_table(self._cluster, ran), self._directory / "jobs.parquet")
        staging, site = self._cluster.world.staging, self._cluster.site
        incidents = [
            told(incident, staging.incident_jobs[incident.number], site)
            for incident in self._cluster.incidents
            if incident.start_s < end_s and incident.end_s > begin_s
        ]
        _write_json(self._directory / "incidents.json", incidents)
        _write_json(self._directory / "faults.json", self._cluster.faults_told())
        return ran

    def _usage_table(self, columns: Columns) -> pa.Table:
        staging = self._cluster.world.staging
        origins, origin = _distinct(columns["origin"])
        people = [staging.origins.all[number] for number in origins]
        words = {
            "target": _words(columns["target"], list(self._targets)),
            "entry_id": _spelled(columns["spelling"], self._shown_id),
            "job": _words(origin, [o.job for o in people]),
            "user": _words(origin, [o.user for o in people]),
            "node": _words(origin, [o.node for o in people]),
            "executable": _words(origin, [o.executable for o in people]),
            "operation": _words(columns["operation"], [*OPERATIONS["mdt"], *OPERATIONS["ost"]]),
        }
        plain = {"time": pa.array(columns["time"], _TIME), "increment": columns["increment"]}
        return pa.table({name: (words | plain)[name] for name in USAGE.names}, schema=USAGE)

    def _shown_id(self, spelling: int) -> str:
        raw = self._cluster.world.staging.ids.raw[spelling // 2]
        return ascii_text(spelled_id("question", raw) if spelling % 2 else raw)

    def _load_table(self, columns: Columns) -> pa.Table:
        accounts, account = _distinct(columns["account"] + 1)
        known = [(None, None), *self._cluster.world.staging.origins.accounts]
        people = [known[number] for number in accounts]
        servers = [server.name for server in self._cluster.site.servers]
        return pa.table(
            {
                "time": pa.array(columns["time"], _TIME),
                "server": _words(columns["server"], servers),
                "job": _words(account, [job for job, _ in people]),
                "user": _words(account, [user for _, user in people]),
                "load": columns["load"],
            },
            schema=LOAD,
        )


class _Table:
    """A Parquet file that grows by row groups; what waits is numbers only."""

    def __init__(self, path: Path, schema: pa.Schema, make: Callable[[Columns], pa.Table]) -> None:
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self._make, self._rows = make, 0
        self._waiting: list[Columns] = []

    def add(self, columns: Columns) -> None:
        self._waiting.append(columns)
        self._rows += len(next(iter(columns.values())))
        if self._rows >= ROWS_PER_GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            names = self._waiting[0]
            joined = {name: np.concatenate([c[name] for c in self._waiting]) for name in names}
            self._writer.write_table(self._make(joined), row_group_size=ROWS_PER_GROUP)
        self._waiting, self._rows = [], 0


def _distinct(codes: Codes) -> tuple[list[int], Codes]:
    """Return the numbers in use, and for each row which of them it has."""
    used = np.zeros(int(codes.max(initial=-1)) + 1, bool)
    used[codes] = True
    return np.flatnonzero(used).tolist(), (np.cumsum(used) - 1)[codes]


def _words(codes: Codes, words: Sequence[str | None]) -> pa.DictionaryArray:
    """Return a word for each row; equal words share one place in the dictionary."""
    encoded = pa.array(words, pa.string()).dictionary_encode()
    indices = encoded.indices.take(pa.array(codes, pa.int32()))
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary)


def _spelled(codes: Codes, spell: Callable[[int], str]) -> pa.DictionaryArray:
    numbers, place = _distinct(codes)
    return _words(place, [spell(number) for number in numbers])


def _jobs_table(cluster: Cluster, jobs: Iterable[Job]) -> pa.Table:
    site = cluster.site
    rows = []
    for job in jobs:
        user = site.users[job.user]
        rows.append(
            {
                "job": str(job.raw_id),
                "slurm_id": job.slurm_id,
                "array_job": None if job.array_id is None else str(job.array_id),
                "array_task": job.array_task,
                "user": str(user.uid),
                "user_name": user.name,
                "project": user.project,
                "gid": user.gid,
                "partition": job.partition,
                "name": job.name,
                "executable": job.executable,
                "archetype": job.archetype.name,
                "nodes": [site.compute[node].name for node in job.nodes],
                "submit": int(job.submit_s) * 1000,
                "start": int(job.start_s) * 1000,
                "end": int(job.end_s) * 1000,
                "state": job.state,
                "incident": job.incident,
            }
        )
    columns = {name: [row[name] for row in rows] for name in JOBS.names}
    return pa.table(columns, schema=JOBS)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")
