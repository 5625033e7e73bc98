"""Objects, moments and traces of Darshan's logs in the lake; logs together, bad ones, real ones."""

import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest

from pfscope.mine import darshan_import
from pfscope.mine.darshan_import import write_logs
from pfscope.mine.inputs import Found, Period, digest
from pfscope.mine.schema import TABLES
from tests.support.darshan_logs import (
    WHEEL,
    heatmap,
    lustre_1,
    write_log,
)
from tests.support.lake_logs import counts, posix, take, traced, wrote
from tests.support.lake_rows import rows, table

DAY = 1_600_000_000


def test_objects_in_files(tmp_path):
    log = write_log(
        [
            counts("H5D", 2, {"id": 50, "rank": -1, "file_id": 5, "H5D_READS": 3,
                              "H5D_BYTES_READ": 9, "H5D_F_READ_START_TIMESTAMP": 1.0,
                              "H5D_F_READ_END_TIMESTAMP": 2.0}),
            counts("PNETCDF_VAR", 1, {"id": 60, "rank": 0, "file_id": 6,
                                      "PNETCDF_VAR_COLL_WRITES": 2,
                                      "PNETCDF_VAR_INDEP_WRITES": 1}),
            counts("DAOS", 1, {"id": 70, "rank": 0, "DAOS_OBJ_FETCHES": 4, "DAOS_KV_GETS": 1}),
        ],
        [(50, "/lus/a:data")],
    )  # fmt: skip
    take(tmp_path, log)
    found = rows(tmp_path, "darshan_object", "module", "object_id", "file_id", "reads", "writes",
                 "coll_writes", "ranks", "name", "read_end_s")  # fmt: skip
    assert found == [
        ("DAOS", 70, None, 5, 0, None, 1, None, None),
        ("H5D", 50, 5, 3, 0, None, 4, "/lus/a:data", 2.0),
        ("PNETCDF_VAR", 60, 6, 0, 3, 2, 1, None, None),
    ]
    assert rows(tmp_path, "darshan_file") == []


def test_traces_are_in_order_of_time(tmp_path):
    take(tmp_path, write_log([posix({"id": 5, "rank": 0}), ("DXT_POSIX", 2, traced())]))
    found = rows(
        tmp_path, "darshan_dxt", "rank", "operation", "offset", "length", "start_s", "host"
    )
    assert found == [
        (0, "read", 0, 4, 1.0, "n1"),
        (1, "write", 2, 10, 7.0, "n\\xFF"),
        (1, "write", 1, 10, 8.0, "n\\xFF"),
        (1, "write", 0, 10, 9.0, "n\\xFF"),
    ]


def test_a_heat_map(tmp_path):
    raw = heatmap("<", [(1, 0, 0.5, [0, 7], [2, 0])])
    take(tmp_path, write_log([("HEATMAP", 1, raw)], [(1, "heatmap:MPIIO")]))
    found = rows(tmp_path, "darshan_heatmap", "module", "start_s", "end_s", "bytes_read",
                 "bytes_written")  # fmt: skip
    assert found == [("MPI-IO", 0.0, 0.5, 2, 0), ("MPI-IO", 0.5, 1.0, 0, 7)]


def test_long_traces_are_written_as_they_come_and_taken_back_if_the_log_is_bad(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(darshan_import, "_TRACED", 2)
    good = write_log([posix({"id": 5, "rank": 0}), ("DXT_POSIX", 2, traced(500))])
    bad = write_log([("DXT_POSIX", 2, traced(500)), ("DXT_MPIIO", 3, traced(2)[:-8])], job_id=18)
    states = {record.job_id: record.state for record in take(tmp_path, good, bad)}
    assert states == {"17": "whole", None: "quarantined"}
    assert set(rows(tmp_path, "darshan_dxt", "job_id")) == {("17",)}
    assert len(rows(tmp_path, "darshan_dxt")) == 501
    assert not list(tmp_path.rglob("*.tmp"))


def test_one_bad_log_leaves_nothing_and_stops_no_other(tmp_path):
    good = write_log([posix(wrote(5, 0, 1, 1.0, 2.0))])
    bad = [b"", b"nothing", good[:-20], write_log([posix({"id": 1, "rank": 99})], nprocs=2)]
    records = take(tmp_path, bad[0], good, *bad[1:])
    assert sorted(record.state for record in records) == [*["quarantined"] * 4, "whole"]
    assert all(record.reason for record in records if record.state == "quarantined")
    assert len(rows(tmp_path, "darshan_job")) == 1


def test_a_log_outside_the_period_is_passed_by(tmp_path):
    log = write_log([posix(wrote(5, 0, 1, 1.0, 2.0))], start=DAY, end=DAY + 1)
    begin = DAY * 10**6
    (record,) = take(tmp_path, log, period=Period(begin + 10**6))
    assert (record.state, record.start // 10**6, record.rows) == ("outside", DAY, 0)
    (record,) = take(tmp_path, log, period=Period(begin, begin + 10**6))
    assert record.state == "whole"


def random_log(random, number):
    """Return a log whose files, ranks and values are anything."""
    records = [
        wrote(int(random.integers(-3, 4)), int(rank), int(random.integers(0, 99)),
              float(random.random() + 1), float(random.random() + 3),
              READS=int(random.integers(-1, 5)), F_META_TIME=float(random.random()))
        for rank in random.permutation(np.arange(-1, 6))[: random.integers(1, 7)]
    ]  # fmt: skip
    osts = random.choice(40, random.integers(0, 4), replace=False).tolist()
    stripes = lustre_1("<", [(int(random.integers(-3, 4)), 0, 0, 9, osts)])
    return write_log(
        [posix(*records), ("LUSTRE", 1, stripes)],
        [(i, f"/lus/{number}/{i}") for i in range(-3, 3)],
        nprocs=8, job_id=int(random.integers(1, 9)),
        start=DAY + int(random.integers(0, 4)) * 86400, end=DAY + 10 * 86400,
    )  # fmt: skip


def test_logs_together_say_what_each_says_alone(tmp_path):
    random = np.random.default_rng(4)
    logs = [random_log(random, i) for i in range(25)]
    take(tmp_path / "together", *logs)
    for i, log in enumerate(logs):
        take(tmp_path / "alone" / str(i), log)
    for name in ("darshan_job", "darshan_file", "darshan_rank"):
        together = rows(tmp_path / "together", name)
        key = [[row[k] for k in TABLES[name].key] for row in together]
        alone = [row for i in range(25) for row in rows(tmp_path / "alone" / str(i), name)]
        alone.sort(key=lambda row: [row[k] for k in TABLES[name].key])
        assert key == sorted(key)
        for ours, theirs in zip(together, alone, strict=True):
            # Names of users come from the files' names, which differ.
            assert {**ours, "user": None} == {**theirs, "user": None}


def test_rows_of_a_file_are_in_order_of_the_key(tmp_path):
    random = np.random.default_rng(5)
    take(tmp_path, *(random_log(random, i) for i in range(12)))
    for name in ("darshan_job", "darshan_file", "darshan_rank"):
        for path in (tmp_path / name).rglob("*.parquet"):
            part = pq.ParquetFile(path).read()
            keys = list(zip(*(part[k].to_pylist() for k in TABLES[name].key), strict=True))
            assert keys == sorted(set(keys))


SMALL = sorted(p for p in WHEEL.rglob("*.darshan") if 0 < p.stat().st_size < 60_000)


def test_sums_of_real_logs_are_those_of_pydarshan(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import darshan

        distinct = {digest(str(p)): p for p in SMALL}
        found = [Found(str(p), p.stat().st_size, 0, log) for log, p in distinct.items()]
        write_logs(tmp_path, "batch", found, Period())
        jobs = {row["log"]: row for row in table(tmp_path, "darshan_job").to_pylist()}
        compared = 0
        for one_found in found:
            row = jobs[one_found.digest]
            with darshan.DarshanReport(one_found.path, read_all=False) as report:
                for module, prefix in (("POSIX", "POSIX"), ("STDIO", "STDIO"), ("MPI-IO", "MPIIO")):
                    if module not in report.modules:
                        assert row[f"{prefix.lower()}_f_write_time"] is None
                        continue
                    report.mod_read_all_records(module, dtype="pandas")
                    frames = report.records[module][0]
                    for name, kind in (("BYTES_WRITTEN", "counters"), ("BYTES_READ", "counters"),
                                       ("F_META_TIME", "fcounters")):  # fmt: skip
                        theirs = frames[kind][f"{prefix}_{name}"].clip(lower=0).sum()
                        assert row[f"{prefix}_{name}".lower()] == pytest.approx(theirs, rel=1e-9)
                        compared += 1
    assert compared > 30


def test_a_log_that_fails_when_it_is_put_together_stops_no_other(tmp_path, monkeypatch):
    real = darshan_import.job_rows

    def fragile(batch, sums):
        if any(run.job.job_id == 13 for run in batch.runs):
            raise MemoryError
        return real(batch, sums)

    monkeypatch.setattr(darshan_import, "job_rows", fragile)
    traces = ("DXT_POSIX", 2, traced())
    modules = [posix(wrote(5, 0, 1, 1.0, 2.0)), traces]
    records = take(tmp_path, *(write_log(modules, job_id=i) for i in (12, 13, 14)))
    assert {r.job_id: (r.state, r.rows) for r in records} == {
        "12": ("whole", 6), "13": ("quarantined", 0), "14": ("whole", 6),
    }  # fmt: skip
    for name in ("darshan_job", "darshan_file", "darshan_dxt"):
        assert set(rows(tmp_path, name, "job_id")) == {("12",), ("14",)}


def test_osts_that_no_site_has_are_refused(tmp_path):
    stripes = lustre_1("<", [(i, 0, 0, 9, [65535]) for i in range(33_000)])
    (record,) = take(tmp_path, write_log([("LUSTRE", 1, stripes)]))
    assert "sets of OSTs" in record.reason
