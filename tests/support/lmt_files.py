"""Writes some minutes of LMT's data in all its forms, from one truth: what each target did when.

It is written from the formats, not from the readers. Tables are SQL that SQLite and MySQL take.
"""

import sqlite3
from contextlib import closing
from datetime import datetime
from zoneinfo import ZoneInfo

import h5py
import numpy as np

STEP_S = 5
OPERATIONS = ("open", "close", "getattr", "ping")
TABLES = (
    "CREATE TABLE FILESYSTEM_INFO (FILESYSTEM_ID INTEGER, FILESYSTEM_NAME VARCHAR(64))",
    "CREATE TABLE OST_INFO (OST_ID INTEGER, OSS_ID INTEGER, OST_NAME VARCHAR(64),"
    " HOSTNAME VARCHAR(64))",
    "CREATE TABLE OSS_INFO (OSS_ID INTEGER, FILESYSTEM_ID INTEGER, HOSTNAME VARCHAR(64))",
    "CREATE TABLE MDS_INFO (MDS_ID INTEGER, FILESYSTEM_ID INTEGER, MDS_NAME VARCHAR(64),"
    " HOSTNAME VARCHAR(64))",
    "CREATE TABLE OPERATION_INFO (OPERATION_ID INTEGER, OPERATION_NAME VARCHAR(64))",
    "CREATE TABLE TIMESTAMP_INFO (TS_ID INTEGER, TIMESTAMP DATETIME)",
    "CREATE TABLE OST_DATA (OST_ID INTEGER, TS_ID INTEGER, READ_BYTES BIGINT, WRITE_BYTES BIGINT,"
    " PCT_CPU FLOAT, KBYTES_FREE BIGINT, KBYTES_USED BIGINT, INODES_FREE BIGINT,"
    " INODES_USED BIGINT)",
    "CREATE TABLE OSS_DATA (OSS_ID INTEGER, TS_ID INTEGER, PCT_CPU FLOAT, PCT_MEMORY FLOAT)",
    "CREATE TABLE MDS_DATA (MDS_ID INTEGER, TS_ID INTEGER, PCT_CPU FLOAT, KBYTES_FREE BIGINT,"
    " KBYTES_USED BIGINT, INODES_FREE BIGINT, INODES_USED BIGINT)",
    "CREATE TABLE MDS_OPS_DATA (MDS_ID INTEGER, TS_ID INTEGER, OPERATION_ID INTEGER,"
    " SAMPLES BIGINT, SUM BIGINT, SUMSQUARES BIGINT)",
)


class Truth:
    """What happened: bytes in each step [step, OST], operations [step, kind], samples' gauges."""

    def __init__(self, steps=36, osts=3, start=1_517_126_400, zone="America/Los_Angeles", seed=1):
        random = np.random.default_rng(seed)
        self.start, self.zone = start, zone
        self.read = random.integers(0, 1 << 33, (steps, osts)).astype(np.int64)
        self.written = random.integers(0, 1 << 33, (steps, osts)).astype(np.int64)
        self.operations = random.integers(0, 9000, (steps, len(OPERATIONS)))
        self.cpu = random.integers(0, 100, steps + 1) / 4
        self.used = random.integers(1 << 30, 1 << 34, (steps + 1, osts))
        self.total = 1 << 36
        # Keys of the tables are in another order than the indices in the names.
        self.names = [f"scratch-OST{i + 9:04x}" for i in range(osts)]
        self.keys = [osts - i for i in range(osts)]

    @property
    def steps(self):
        return len(self.read)

    def times(self):
        """Seconds since 1970 of all samples: one more than there are steps."""
        return self.start + STEP_S * np.arange(self.steps + 1)

    def local(self):
        """The same as LMT's clock shows them."""
        zone = ZoneInfo(self.zone)
        return [datetime.fromtimestamp(t, zone).strftime("%F %T") for t in self.times().tolist()]

    def metadata(self):
        """Operations of metadata in each step; a ping is none."""
        return self.operations[:, :3].sum(axis=1)


def statements(truth, resets=(), lost=()):
    """Yield SQL with its rows. `resets` are (step, OST): its counters begin anew before that step;
    `lost` are (sample, OST) that were not stored."""
    for table in TABLES:
        yield table, None
    yield _insert("FILESYSTEM_INFO", 2), [(1, "scratch")]
    osts = list(zip(truth.keys, truth.names, strict=True))
    yield _insert("OST_INFO", 4), [(key, 40 + key, name, f"oss{key}") for key, name in osts]
    yield _insert("OSS_INFO", 3), [(40 + key, 1, f"oss{key}") for key, _ in osts]
    yield _insert("MDS_INFO", 4), [(1, 1, "scratch-MDT0000", "mds1")]
    yield _insert("OPERATION_INFO", 2), [(10 + i, name) for i, name in enumerate(OPERATIONS)]
    yield _insert("TIMESTAMP_INFO", 2), [(900 + i, t) for i, t in enumerate(truth.local())]
    yield _insert("OST_DATA", 9), list(_ost_data(truth, resets, lost))
    yield (
        _insert("OSS_DATA", 4),
        [(40 + key, 900 + i, cpu, 1.0) for key in truth.keys for i, cpu in enumerate(truth.cpu)],
    )
    yield (
        _insert("MDS_DATA", 7),
        [(1, 900 + i, cpu, 70, 30, 7, 3) for i, cpu in enumerate(truth.cpu.tolist())],
    )
    counters = 10**12 + np.vstack([[0] * len(OPERATIONS), truth.operations.cumsum(axis=0)])
    yield (
        _insert("MDS_OPS_DATA", 6),
        [
            (1, 900 + i, 10 + kind, count, 0, 0)
            for i, row in enumerate(counters.tolist())
            for kind, count in enumerate(row)
        ],
    )


def _insert(table, columns):
    return f"INSERT INTO {table} VALUES ({', '.join(['?'] * columns)})"


def _ost_data(truth, resets, lost):
    for ost, key in enumerate(truth.keys):
        read, written = 10**13, 2 * 10**13
        for sample in range(truth.steps + 1):
            if sample:
                if (sample - 1, ost) in resets:
                    read = written = 0
                read += int(truth.read[sample - 1, ost])
                written += int(truth.written[sample - 1, ost])
            if (sample, ost) not in lost:
                used = int(truth.used[sample, ost])
                yield (key, 900 + sample, read, written, 0.0, truth.total - used, used, 90, 10)


def write_sqlite(path, truth, **faults):
    with closing(sqlite3.connect(path)) as base:
        for statement, rows in statements(truth, **faults):
            base.executemany(statement, rows) if rows is not None else base.execute(statement)
        base.commit()
    return path


def write_tokio(path, truth, missing=()):
    """Write TOKIO's HDF5: bytes in the step that begins; `units` says something else. `missing`
    are (step, OST), stored as -0.0."""
    begins = truth.times()[:-1]
    with h5py.File(path, "w") as file:
        for name, values in (("readbytes", truth.read), ("writebytes", truth.written)):
            stored = values.astype(float)
            for step, ost in missing:
                stored[step, ost] = -0.0
            _matrix(file, f"datatargets/{name}", stored, truth.names, "bytes/sec")
        used = truth.used[:-1].astype(float)
        _matrix(file, "fullness/bytes", used, truth.names, "KiB")
        _matrix(file, "fullness/bytestotal", np.full_like(used, truth.total), truth.names, "KiB")
        for kind, name in enumerate(OPERATIONS[:3]):
            counts = truth.operations[:, kind : kind + 1].astype(float)
            _matrix(file, f"mdtargets/{name}s", counts, ["mds1"], "ops")
        _matrix(file, "mdservers/cpuload", truth.cpu[:-1, None], ["mds1"], "%")
        for group in ("datatargets", "fullness", "mdtargets", "mdservers"):
            file[f"{group}/timestamps"] = begins
    return path


def _matrix(file, name, values, columns, units):
    file[name] = values
    file[name].attrs["columns"] = [column.encode() for column in columns]
    file[name].attrs["units"] = units


def write_h5lmt(path, truth, missing=()):
    """Write H5LMT: bytes in a second, under the time at which the step ends."""
    osts = len(truth.names)
    absent = np.zeros((osts, truth.steps + 1), "i4")
    for step, ost in missing:
        absent[ost, step + 1] = 1
    with h5py.File(path, "w") as file:
        for kind, values in (("Read", truth.read), ("Write", truth.written)):
            rates = np.vstack([np.zeros(osts), values / STEP_S]).T
            name = f"OST{kind}Group/OSTBulk{kind}DataSet"
            file[name] = rates
            file[name].attrs["OSTNames"] = [text.encode() for text in truth.names]
        file["FSStepsGroup/FSStepsDataSet"] = truth.times().astype("i4")
        file["FSMissingGroup/FSMissingDataSet"] = absent
        rates = np.vstack([np.zeros(len(OPERATIONS)), truth.operations / STEP_S]).T
        file["MDSOpsGroup/MDSOpsDataSet"] = rates
        file["MDSOpsGroup/MDSOpsDataSet"].attrs["OpNames"] = [o.encode() for o in OPERATIONS]
        file["MDSCPUGroup/MDSCPUDataSet"] = truth.cpu
    return path
