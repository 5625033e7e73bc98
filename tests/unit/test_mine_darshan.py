"""What a lake says of Darshan's logs: by job, file, rank, object and moment."""

import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest

from pfscope.logs.darshan.layouts import words
from pfscope.mine import darshan_import
from pfscope.mine.darshan_import import write_logs
from pfscope.mine.inputs import Found, Period, digest
from pfscope.mine.ost_sets import ost_list
from pfscope.mine.schema import TABLES
from tests.support.darshan_logs import (
    WHEEL,
    counted,
    dxt,
    heatmap,
    lustre_1,
    lustre_2,
    save,
    write_log,
)
from tests.support.lake_rows import rows, table

DAY = 1_600_000_000


def posix(*records, version=4):
    named = [{k if k in ("id", "rank") else f"POSIX_{k}": v for k, v in r.items()} for r in records]
    return ("POSIX", version, counted(words("POSIX", version), "<", named))


def counts(module, version, *records):
    return (module, version, counted(words(module, version), "<", list(records)))


def wrote(record, rank, size, begin, end, **more):
    return {
        "id": record, "rank": rank, "WRITES": 1, "BYTES_WRITTEN": size,
        "F_WRITE_START_TIMESTAMP": begin, "F_WRITE_END_TIMESTAMP": end, "F_WRITE_TIME": end - begin,
        **more,
    }  # fmt: skip


def take(root, *logs, period=Period()):  # noqa: B008
    """Take logs into files of the lake below `root`; return what became of each."""
    found = []
    for i, log in enumerate(logs):
        path = save(root / "logs" / f"user_ior_id{i}_1-1-1-1_1.darshan", log)
        found.append(Found(str(path), len(log), 0, digest(str(path))))
    return write_logs(root, "batch", found, period)


def one(root, name, **wanted):
    """Return the only row with these values."""
    (row,) = [r for r in rows(root, name) if all(r[k] == v for k, v in wanted.items())]
    return row


def test_a_run(tmp_path):
    log = write_log(
        [posix(wrote(5, -1, 100, 1.0, 2.0), wrote(6, 2, 50, 3.0, 7.0))],
        [(5, "/lus/a"), (6, "/home/b")], version="3.21", start=DAY, end=DAY + 99,
    )  # fmt: skip
    (record,) = take(tmp_path, log)
    assert (record.state, record.rows, record.job_id) == ("whole", 3, "17")
    row = one(tmp_path, "darshan_job")
    assert (row["bytes_written"], row["files"], row["files_written"], row["files_read"]) == (
        150, 2, 2, 0,
    )  # fmt: skip
    assert (row["write_start_s"], row["write_end_s"], row["write_s"]) == (1.0, 7.0, 5.0)
    assert (row["nprocs"], row["run_s"], row["executable"], row["user"]) == (
        4,
        100.0,
        "ior",
        "user",
    )
    assert (row["posix_writes"], row["stdio_writes"], row["osts"]) == (2, None, None)
    assert str(row["date"]) == "2020-09-13"


def test_a_record_of_all_ranks_is_of_all_processes(tmp_path):
    shared = wrote(
        5, -1, 100, 1.0, 2.0, FASTEST_RANK=3, FASTEST_RANK_BYTES=7, SLOWEST_RANK=1,
        SLOWEST_RANK_BYTES=9, F_FASTEST_RANK_TIME=0.25, F_SLOWEST_RANK_TIME=0.5,
        F_VARIANCE_RANK_TIME=0.125,
    )  # fmt: skip
    take(tmp_path, write_log([posix(shared)], nprocs=8))
    row = one(tmp_path, "darshan_file")
    assert (row["ranks"], row["shared"], row["rank"]) == (8, True, None)
    assert (row["fastest_rank"], row["slowest_rank"], row["slowest_rank_s"]) == (3, 1, 0.5)
    assert row["variance_rank_s"] == 0.125
    assert rows(tmp_path, "darshan_rank") == []


def test_records_of_single_ranks_are_put_together(tmp_path):
    log = write_log(
        [posix(
            wrote(5, 3, 10, 4.0, 6.0, F_META_TIME=1.0), wrote(5, 0, 30, 1.0, 2.0),
            {"id": 5, "rank": 1, "F_WRITE_START_TIMESTAMP": 0.5, "F_WRITE_END_TIMESTAMP": 99.0},
        )],
        nprocs=4,
    )  # fmt: skip
    take(tmp_path, log)
    row = one(tmp_path, "darshan_file")
    assert (row["bytes_written"], row["ranks"], row["shared"]) == (40, 3, True)
    # Rank 1 wrote nothing: its times are not those of writes.
    assert (row["write_start_s"], row["write_end_s"]) == (1.0, 6.0)
    assert (row["fastest_rank"], row["fastest_rank_bytes"]) == (1, 0)
    assert (row["slowest_rank"], row["slowest_rank_bytes"], row["slowest_rank_s"]) == (3, 10, 3.0)
    assert row["variance_rank_s"] == pytest.approx(np.var([3.0, 1.0, 0.0]))
    assert row["variance_rank_bytes"] == pytest.approx(np.var([10, 30, 0]))
    found = rows(tmp_path, "darshan_rank", "rank", "bytes_written", "posix_writes")
    assert found == [(0, 30, 1), (1, 0, 0), (3, 10, 1)]


def test_accesses_of_ranks_are_counted_together(tmp_path):
    log = write_log(
        [posix(
            {"id": 5, "rank": 0, "ACCESS1_ACCESS": 8, "ACCESS1_COUNT": 5, "ACCESS2_ACCESS": 64,
             "ACCESS2_COUNT": 3},
            {"id": 5, "rank": 1, "ACCESS1_ACCESS": 64, "ACCESS1_COUNT": 4},
        )],
    )  # fmt: skip
    take(tmp_path, log)
    row = one(tmp_path, "darshan_file")
    assert [row[f"posix_access{i}_access"] for i in (1, 2, 3)] == [64, 8, None]
    assert [row[f"posix_access{i}_count"] for i in (1, 2, 3)] == [7, 5, None]


def test_what_was_not_monitored_is_null_and_in_no_sum(tmp_path):
    log = write_log(
        [posix(
            {"id": 5, "rank": 0, "READS": -1, "WRITES": 4, "F_READ_TIME": -1.0},
            {"id": 5, "rank": 1, "READS": 3, "WRITES": -1},
            {"id": 6, "rank": 1, "READS": -1},
        )],
    )  # fmt: skip
    take(tmp_path, log)
    assert rows(tmp_path, "darshan_file", "file_id", "posix_reads", "posix_writes") == [
        (5, 3, 4), (6, None, 0),
    ]  # fmt: skip
    row = one(tmp_path, "darshan_job")
    assert (row["posix_reads"], row["posix_writes"]) == (3, 4)


def test_times_that_never_came_are_null(tmp_path):
    take(tmp_path, write_log([posix({"id": 5, "rank": 0, "F_OPEN_START_TIMESTAMP": 0.5})]))
    row = one(tmp_path, "darshan_file")
    assert (row["read_start_s"], row["write_end_s"], row["write_flush_end_s"]) == (None,) * 3
    assert (row["meta_start_s"], row["meta_end_s"]) == (0.5, None)
    assert row["posix_f_close_end_timestamp"] is None


def test_each_byte_counts_once(tmp_path):
    log = write_log(
        [
            posix(wrote(5, 0, 100, 1.0, 2.0)),
            counts("MPI-IO", 3, {"id": 5, "MPIIO_BYTES_WRITTEN": 100, "MPIIO_COLL_WRITES": 2}),
            counts("STDIO", 2, {"id": 5, "STDIO_BYTES_WRITTEN": 7, "STDIO_F_WRITE_TIME": 0.5}),
        ]
    )
    take(tmp_path, log)
    row = one(tmp_path, "darshan_file")
    assert (row["bytes_written"], row["write_s"], row["mpiio_coll_writes"]) == (107, 1.5, 2)
    assert (row["modules"], row["ranks"]) == ("POSIX,MPI-IO,STDIO", 1)


def test_flushes_end_writes_later_but_not_after_the_close(tmp_path):
    log = write_log(
        [posix(
            wrote(1, -1, 9, 1.0, 2.0, F_WRITE_TIME=40.0, F_CLOSE_END_TIMESTAMP=30.0),
            wrote(2, -1, 9, 1.0, 2.0, F_WRITE_TIME=400.0, F_CLOSE_END_TIMESTAMP=30.0),
            wrote(3, -1, 9, 1.0, 2.0, F_WRITE_TIME=0.4, F_CLOSE_END_TIMESTAMP=30.0),
        )],
        nprocs=4,
    )  # fmt: skip
    take(tmp_path, log)
    assert rows(tmp_path, "darshan_file", "write_flush_end_s") == [(11.0,), (30.0,), (2.0,)]


@pytest.mark.parametrize("version", [1, 2])
def test_stripes_and_osts(tmp_path, version):
    raw = {
        1: lambda: lustre_1("<", [(5, 0, -1, 1 << 20, [3, 17]), (9, 0, 0, 1 << 22, []),
                                  (6, 0, 0, 1 << 20, [3])]),
        2: lambda: lustre_2("<", [(5, 0, [(1 << 19, 0, [3]), (1 << 20, 0, [17])]),
                                  (9, 0, []), (6, 0, [(1 << 20, 0, [3])])]),
    }[version]()  # fmt: skip
    take(tmp_path, write_log([posix(wrote(5, 0, 1, 1.0, 2.0), wrote(7, 0, 1, 1.0, 2.0)),
                              ("LUSTRE", version, raw)]))  # fmt: skip
    both = one(tmp_path, "darshan_file", file_id=5)
    assert (ost_list(both["osts"]), both["ost_count"]) == ([3, 17], 2)
    assert both["stripe_size"] == 1 << 20
    assert both["stripe_offset"] == (-1 if version == 1 else None)
    none = one(tmp_path, "darshan_file", file_id=9)
    assert (none["osts"], none["ost_count"], none["modules"]) == (b"", 0, "LUSTRE")
    assert one(tmp_path, "darshan_file", file_id=7)["osts"] is None
    job = one(tmp_path, "darshan_job")
    assert (ost_list(job["osts"]), job["ost_count"], job["files"]) == ([3, 17], 2, 4)


def test_a_partial_module_marks_its_rows_and_the_job(tmp_path):
    log = write_log(
        [posix(wrote(5, 0, 1, 1.0, 2.0)), counts("STDIO", 2, {"id": 6})], partial=["STDIO"]
    )
    (record,) = take(tmp_path, log)
    assert (record.state, record.reason) == ("partial", "STDIO without all records")
    assert rows(tmp_path, "darshan_file", "file_id", "partial") == [(5, False), (6, True)]
    assert one(tmp_path, "darshan_job")["partial_modules"] == "STDIO"


def test_kinds_and_mounts(tmp_path):
    names = ["/lus/scratch/x", "/lus/scratchy", "/proc/self/maps", "/usr/lib/a.so.6", "<STDOUT>",
             "/lus/\x1b[2J\nhome", b"/lus/\xff"]  # fmt: skip
    log = write_log(
        [posix(*({"id": i + 1, "rank": 0} for i in range(len(names) + 1)))],
        [(i + 1, name) for i, name in enumerate(names)],
        mounts=(("lustre", "/lus/scratch"), ("nfs", "/lus"), ("ext4", "/")),
    )
    take(tmp_path, log)
    assert rows(tmp_path, "darshan_file", "name", "kind", "mount", "fs_type") == [
        ("/lus/scratch/x", "file", "/lus/scratch", "lustre"),
        ("/lus/scratchy", "file", "/lus", "nfs"),
        ("/proc/self/maps", "system", "/", "ext4"),
        ("/usr/lib/a.so.6", "library", "/", "ext4"),
        ("<STDOUT>", "stream", None, None),
        ("/lus/\\x1B[2J\\x0Ahome", "file", "/lus", "nfs"),
        ("/lus/\\xFF", "file", "/lus", "nfs"),
        (None, "unknown", None, None),
    ]


def test_mounts_that_look_like_patterns_are_taken_at_their_word(tmp_path):
    log = write_log(
        [posix({"id": 1, "rank": 0}, {"id": 2, "rank": 0})], [(1, "/a.c/x"), (2, "/abc/x")],
        mounts=(("lustre", "/a.c"), ("x", "(("), ("y", "/[a-z")),
    )  # fmt: skip
    take(tmp_path, log)
    assert rows(tmp_path, "darshan_file", "mount") == [("/a.c",), (None,)]


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


def traced(segments=3):
    writes = [(i, 10, 9.0 - i, 9.5 - i) for i in range(segments)]
    return dxt("<", [(5, 1, b"n\xff", writes, []), (5, 0, b"n1", [], [(0, 4, 1.0, 2.0)])])


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
