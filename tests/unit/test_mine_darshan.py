"""What a lake says of Darshan's logs: by job, file, rank, object and moment."""

import numpy as np
import pytest

from pfscope.mine.ost_sets import ost_list
from tests.support.darshan_logs import (
    lustre_1,
    lustre_2,
    write_log,
)
from tests.support.lake_logs import counts, one, posix, take, wrote
from tests.support.lake_rows import rows

DAY = 1_600_000_000


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
