"""What is said of runs: each rule speaks where it should, and is silent where it should not."""

import pytest

from pfscope.mine.ost_sets import ost_sets
from pfscope.mine.schema import table_schema
from tests.support.mine_runs import START, facts_of, found
from tests.support.mine_tables import rows, written

import numpy as np  # isort: skip

MIB = 2**20
SMALL = {
    "posix_writes": 2000, "posix_size_write_0_100": 1800, "posix_size_write_100_1k": 0,
    "posix_size_write_1k_10k": 0, "posix_size_write_10k_100k": 0,
}  # fmt: skip


def on_ost(ost, start, end, **more):
    return written(start, end, MIB, osts=ost_sets(np.array([0]), np.array([ost]), 1)[0].as_py(),
                   ost_count=1, stripe_count=1, **more)  # fmt: skip


def test_a_slow_ost_is_named(tmp_path):
    given = [on_ost(ost, 0, 100 if ost == 5 else 2, rank=ost) for ost in range(8)]
    said = found(tmp_path, given, {"ost_count": 8, "nprocs": 8})
    slow = said["slow-ost"]
    assert slow.severity == "critical"
    assert slow.text.startswith("OST 5 is the cause of 100.0 % of the critical time with 12.5 %")
    assert slow.evidence["slowness"] == 50
    assert next(iter(said)) == "slow-ost", "the worst comes first"


def test_an_ost_is_not_slow_because_it_had_more_to_do(tmp_path):
    given = [on_ost(ost, 0, 2) for ost in range(8)] + [on_ost(5, i, i + 2) for i in range(2, 99)]
    assert "slow-ost" not in found(tmp_path, given)


@pytest.mark.parametrize(
    ("ranks", "stripes", "coll", "severity"),
    [(64, 2, 0, "critical"), (16, 2, 0, "warning"), (64, 2, 1, "info"), (4, 2, 0, None)],
)
def test_processes_that_share_few_osts(tmp_path, ranks, stripes, coll, severity):
    file = written(0, 9, ranks=ranks, stripe_count=stripes, mpiio_coll_writes=coll)
    said = found(tmp_path, [file], {"nprocs": ranks}).get("few-osts")
    assert (said.severity if said else None) == severity
    if said:
        assert said.evidence["top_file_stripe_count"] == 2


@pytest.mark.parametrize(
    ("consecutive", "severity"), [(100, "critical"), (1900, "info")], ids=["scattered", "in a row"]
)
def test_small_accesses_matter_less_where_they_follow_one_another(tmp_path, consecutive, severity):
    counted = {**SMALL, "posix_consec_writes": consecutive}
    said = found(tmp_path, [written(0, 9, **counted)], counted)
    assert said["small-accesses"].severity == severity
    assert said["small-accesses"].drishti == ("P06",)
    assert said["small-accesses"].evidence["posix_size_write_0_100"] == 1800
    assert ("scattered-accesses" in said) == (consecutive == 100)
    assert ("consecutive-accesses" in said) == (consecutive == 1900)


def test_few_accesses_are_no_cause(tmp_path):
    counted = {**SMALL, "posix_writes": 20, "posix_size_write_0_100": 20, "posix_consec_writes": 0}
    assert list(found(tmp_path, [written(0, 9, **counted)], counted)) == ["nothing-found"]


@pytest.mark.parametrize(
    ("counters", "code", "drishti"),
    [
        ({"mpiio_coll_writes": 5}, "collective", ("M05",)),
        ({"mpiio_coll_writes": 0, "mpiio_indep_writes": 5}, "no-collective", ("M03",)),
        ({}, "no-mpi-io", ("M01",)),
    ],
)
def test_whether_processes_that_share_files_act_together(tmp_path, counters, code, drishti):
    said = found(tmp_path, [written(0, 9, ranks=4, **counters)], counters)
    assert {"collective", "no-collective", "no-mpi-io"} & set(said) == {code}
    assert said[code].drishti == drishti


def test_files_that_nobody_shares_need_no_collective_calls(tmp_path):
    given = [written(0, 9, rank=rank) for rank in range(4)]
    assert not {"collective", "no-collective", "no-mpi-io"} & set(found(tmp_path, given))


def test_a_rank_that_writes_for_all(tmp_path):
    given = [written(0, 100, 90 * MIB, rank=0, write_s=95.0)]
    given += [written(0, 1, MIB, rank=rank, write_s=1.0) for rank in range(1, 8)]
    said = found(tmp_path, given, {"nprocs": 8})["imbalance"]
    assert said.severity == "warning"
    assert said.drishti == ("P19", "P18")
    assert (said.evidence["rank"], said.evidence["rank_time_share"]) == (0, 1)


def test_metadata(tmp_path):
    job = {"meta_s": 70.0, "write_s": 30.0, "posix_opens": 10**6}
    said = found(tmp_path, [written(0, 9)], job)["metadata"]
    assert (said.severity, said.drishti) == ("critical", ("P17",))
    assert said.evidence["posix_opens"] == 10**6
    assert "metadata" not in found(tmp_path / "few", [written(0, 9)], {**job, "write_s": 300.0})


def test_flushes_that_take_longer_than_writes(tmp_path):
    said = found(tmp_path, [written(0, 2, write_flush_end_s=50.0)])["flushes"]
    assert said.text == "Writes take 2 s, with their flushes (fsync, close) 50 s."


def test_files_in_use_one_after_another(tmp_path):
    given = [written(i, i + 1) for i in range(20)]
    said = found(tmp_path, given)
    assert said["one-after-another"].evidence["files_at_once"] == 1
    overlapping = [written(i, i + 3) for i in range(20)]
    assert "one-after-another" not in found(tmp_path / "more", overlapping)


def test_time_in_which_nothing_happens(tmp_path):
    assert (
        "In 80 % of the time"
        in found(tmp_path, [written(0, 1), written(9, 10)])["idle-between"].text
    )


def test_one_file_of_many(tmp_path):
    said = found(tmp_path, [written(0, 95, name="/lus/log"), written(90, 100), written(3, 4)])
    assert said["one-file"].text.endswith("95 % of the critical time: /lus/log")


def test_bytes_through_stdio_and_bytes_written_again(tmp_path):
    file = written(0, 9, posix_bytes_written=60 * MIB, posix_max_byte_written=20 * MIB - 1)
    job = {"bytes_written": 100 * MIB, "stdio_bytes_written": 40 * MIB}
    said = found(tmp_path, [file], job)
    assert said["stdio"].text.startswith("40 % of bytes go through STDIO")
    assert said["stdio"].drishti == ("S01",)
    assert said["write-again"].text == "Every byte is written 3 times in the mean."
    assert said["write-again"].drishti == ("P10",)


def test_accesses_that_are_not_aligned(tmp_path):
    counted = {"posix_writes": 5000, "posix_reads": 0, "posix_file_not_aligned": 4000,
               "posix_consec_writes": 5000}  # fmt: skip
    said = found(tmp_path, [written(0, 9, ranks=4, **counted)], counted)["misaligned-accesses"]
    assert (said.severity, said.drishti) == ("warning", ("P08",))
    assert said.text.startswith("80 % of accesses")


def test_a_partial_log_says_so(tmp_path):
    job = {"partial": True, "partial_modules": "POSIX"}
    assert found(tmp_path, [written(0, 9)], job)["partial-log"].text.endswith("missing: POSIX.")


def test_a_run_that_did_nothing_of_the_kind(tmp_path):
    assert list(found(tmp_path, [written(0, 9)], operation="read")) == ["nothing-done"]


def test_neighbours_that_lmt_saw(tmp_path):
    steps = [
        {"time": START.replace(second=second), "step_s": 5.0, "filesystem": "scratch",
         "target": "scratch-OST0003", "ost": 3, "bytes_written": 2 * MIB}
        for second in range(5, 55, 5)
    ]  # fmt: skip
    lmt = rows("lmt", steps, {})
    assert lmt.schema == table_schema("lmt")
    given = [on_ost(3, 0, 10)]
    with facts_of(tmp_path, given, tables={"lmt": lmt}) as facts:
        assert facts.others.all_bytes.tolist() == [4 * MIB]
        assert facts.others.own_bytes.tolist() == [MIB]
    said = found(tmp_path / "again", given, tables={"lmt": lmt})["neighbours"]
    assert said.evidence["others_pct"] == 75


def test_programs_with_few_runs_are_not_compared(tmp_path):
    said = found(tmp_path, [written(0, 9)], among=True)["cohort"]
    assert said.text == "One run of this program is known, too few to tell slow from fast."
