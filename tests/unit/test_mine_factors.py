"""Factors of runs that are made by hand, so that each can be worked out on paper."""

import numpy as np
import pyarrow as pa
import pytest

from pfscope.errors import UsageError
from pfscope.mine.factors import work_out
from pfscope.mine.factors_files import files_measured, runs_measured
from pfscope.mine.factors_osts import ost_use
from pfscope.mine.factors_others import others_on
from pfscope.mine.factors_ranks import rank_shares
from pfscope.mine.factors_rules import rules
from pfscope.mine.sweep_files import Spans
from tests.support.mine_tables import expression, files, jobs, run_expression, written

MIB = 2**20
FIGURE_3 = (written(0, 10), written(6, 12), written(4, 8), written(16, 18))


def worked(given, job=None, *, traced=None, **asked):
    wanted = rules(**asked)
    measured = run_expression(files_measured(expression(files(*given)), wanted))
    return work_out(jobs(job or {}), measured, wanted, traced)


def factors(given, job=None, **asked):
    return worked(given, job, **asked).runs.to_pylist()[0]


def test_figure_3_of_the_paper():
    path = worked(FIGURE_3).path
    assert path.row.tolist() == [0, 1, 3]
    assert list(zip(path.start, path.end, strict=True)) == [(0, 10), (10, 12), (16, 18)]
    found = factors(FIGURE_3)
    assert (found["span_s"], found["critical_s"], found["critical_files"]) == (18, 14, 3)
    assert found["files"] == 4
    assert found["idle_pct"] == pytest.approx(100 * 4 / 18)


def test_both_bandwidths():
    found = factors([written(0, 2, 3 * MIB), written(6, 8, 5 * MIB)])
    assert found["bytes"] == 8 * MIB
    assert found["bandwidth_span_mib_s"] == 1.0
    assert found["bandwidth_critical_mib_s"] == 2.0


def test_a_factor_is_weighted_with_exclusive_time():
    """Equation 2: 8 s of a file with 75 % and 2 s of one with 25 % small writes are 65 %."""
    sizes = {"posix_size_write_0_100": 0, "posix_size_write_100_1k": 0,
             "posix_size_write_1k_10k": 0}  # fmt: skip
    first = written(0, 8, posix_writes=4, posix_size_write_10k_100k=3, **sizes)
    second = written(4, 10, posix_writes=8, posix_size_write_10k_100k=2, **sizes)
    hidden = written(1, 2, posix_writes=8, posix_size_write_10k_100k=8, **sizes)
    unknown = written(20, 90)
    assert factors([first, second, hidden, unknown])["small_pct"] == pytest.approx(65)


def test_what_is_small_is_a_parameter():
    file = written(0, 1, posix_writes=4, posix_size_write_0_100=1, posix_size_write_100_1k=1,
                   posix_size_write_1k_10k=1, posix_size_write_10k_100k=1)  # fmt: skip
    assert factors([file], small_bytes=1024)["small_pct"] == 50
    with pytest.raises(UsageError, match="Darshan does not count accesses up to 1000 bytes"):
        rules(small_bytes=1000)


def test_a_first_access_can_be_forgiven():
    file = written(0, 1, posix_writes=10, posix_consec_writes=6, ranks=2)
    assert factors([file])["nonconsec_pct"] == pytest.approx(40)
    assert factors([file], first_counts=False)["nonconsec_pct"] == pytest.approx(25)
    once = written(0, 1, posix_writes=2, posix_consec_writes=0, ranks=2)
    assert factors([once])["nonconsec_pct"] == 100
    assert factors([once], first_counts=False)["nonconsec_pct"] is None


def test_processes_per_ost_without_stripes_is_not_known():
    shared = written(0, 3, ranks=64, stripe_count=4)
    on_the_mdt = written(3, 4, ranks=64, stripe_count=0)
    assert factors([shared, on_the_mdt, written(4, 9)])["proc_per_ost"] == 16
    assert factors([on_the_mdt])["proc_per_ost"] is None


def test_standard_streams_take_no_part():
    stream = written(0, 1000, 10**9, kind="stream", name="<STDOUT>")
    assert factors([*FIGURE_3, stream]) == factors(FIGURE_3)


def test_a_file_that_moved_nothing_takes_no_part():
    opened = {"bytes_written": 0, "write_start_s": 0.0, "write_end_s": 99.0}
    assert factors([*FIGURE_3, opened]) == factors(FIGURE_3)


def test_a_run_without_such_files_has_no_factors():
    found = factors(FIGURE_3, operation="read")
    assert (found["files"], found["critical_s"], found["bytes"]) == (0, 0, 0)
    assert found["bandwidth_critical_mib_s"] is None
    assert found["small_pct"] is None


def test_flushes_can_belong_to_writes():
    files_ = [written(0, 1, write_flush_end_s=7.0), written(3, 4, write_flush_end_s=4.0)]
    assert factors(files_)["critical_s"] == 2
    assert factors(files_, intervals="flush")["critical_s"] == 7


def test_traces_tell_when_files_were_really_in_use():
    traced = pa.table({
        "log": ["a"] * 4, "file_id": [0, 0, 0, 1], "operation": ["write"] * 3 + ["read"],
        "start_s": [0.0, 1.0, 9.0, 0.0], "end_s": [1.5, 2.0, 10.0, 50.0],
    })  # fmt: skip
    found = factors([written(0, 10), written(4, 5)], traced=traced, intervals="exact")
    assert found["critical_s"] == pytest.approx(2 + 1 + 1), "file 1 has no traced write: its span"
    assert found["span_s"] == 10


def test_all_operations_together():
    file = {**written(0, 2, MIB), "bytes_read": MIB, "read_start_s": 1.0, "read_end_s": 5.0,
            "posix_f_open_start_timestamp": 0.0, "posix_f_open_end_timestamp": 0.5,
            "posix_f_close_start_timestamp": 8.0, "posix_f_close_end_timestamp": 9.0}  # fmt: skip
    found = factors([file], operation="all")
    assert (found["span_s"], found["critical_s"]) == (9, 6)
    assert found["bandwidth_critical_mib_s"] == pytest.approx(2 / 6)
    metadata = factors([file], operation="metadata")
    assert (metadata["span_s"], metadata["critical_s"]) == (9, 1.5)
    assert metadata["bandwidth_critical_mib_s"] is None


def test_old_logs_do_not_tell_when_opens_ended():
    file = {"posix_f_open_start_timestamp": 1.0, "meta_start_s": 1.0, "meta_s": 6.0, "ranks": 3,
            "meta_end_s": 20.0}  # fmt: skip
    assert factors([file], operation="metadata")["critical_s"] == 2


@pytest.mark.parametrize(
    ("given", "percent"),
    [
        ([written(0, 1, rank=r, write_s=1.0) for r in range(4)], 0),
        ([written(0, 1, rank=0, write_s=1.0)], 75),
        ([written(0, 1, rank=0, write_s=2.0), written(0, 1, rank=1, write_s=2.0)], 50),
        ([written(0, 1, ranks=4, write_s=8.0, slowest_rank=2, slowest_rank_s=5.0)], 60),
        ([written(0, 1, ranks=4, write_s=8.0)], 0),
    ],
    ids=["even", "one of four", "two of four", "slowest of a shared file", "not told apart"],
)
def test_imbalance_is_what_the_mean_rank_lacks(given, percent):
    assert factors(given)["imbalance_pct"] == pytest.approx(percent)


def test_the_share_of_metadata():
    found = factors(FIGURE_3, {"meta_s": 3.0, "read_s": 1.0, "write_s": None})
    assert found["metadata_pct"] == 75


def test_runs_are_worked_out_apart():
    both = [{**file, "log": log} for log in "ab" for file in FIGURE_3]
    both[4] = {**both[4], "write_end_s": 3.0}
    measured = run_expression(files_measured(expression(files(*both)), rules()))
    found = work_out(jobs({"log": "b"}, {"log": "a"}), measured, rules()).runs.to_pylist()
    assert [(row["log"], row["critical_s"]) for row in found] == [("b", 13), ("a", 14)]


def test_the_ratio_over_the_span_bounds_the_bandwidth():
    (row,) = run_expression(runs_measured(expression(files(*FIGURE_3)), rules())).to_pylist()
    assert row == {"log": "a", "moved": 400, "span_s": 18.0}


def test_time_is_shared_by_the_osts_of_a_file():
    osts = pa.chunked_array([[b"\x03", b"\x00\x01", None]])
    exclusive, in_use = np.array([6.0, 2, 2]), np.array([6.0, 4, 2])
    use = ost_use(osts, exclusive, in_use, np.array([200.0, 100, 100]))
    assert use.ost.tolist() == [0, 1, 8]
    assert use.time_share.tolist() == [0.3, 0.3, 0.2]
    assert use.bytes_share.tolist() == [0.25, 0.25, 0.25]
    assert np.isnan(use.slowness).all(), "three are too few to call one of them slow"


@pytest.mark.parametrize("others", [3, 4, 7, 8])
def test_slowness_is_against_the_median_of_the_others(others):
    times = np.array([*np.arange(1.0, others + 1), 50.0])
    osts = pa.chunked_array([[bytes([*[0] * (i // 8), 1 << i % 8]) for i in range(others + 1)]])
    use = ost_use(osts, times, times, np.ones(others + 1))
    for i, time in enumerate(times):
        assert use.slowness[i] == pytest.approx(time / np.median(np.delete(times, i)))


def test_ranks_of_files_that_are_theirs_and_of_shared_ones():
    given = files(written(0, 4, rank=0), written(3, 5, rank=1), written(0, 9, ranks=2))
    measured = run_expression(files_measured(expression(given), rules()))
    spans = Spans(np.arange(3), np.array([0.0, 3, 0]), np.array([4.0, 5, 9]))
    single = Spans(np.array([1]), np.array([4.5]), np.array([9.0]))
    shares = rank_shares(measured, spans, single, single.row, 9.0)
    assert shares == {0: pytest.approx(4 / 9), 1: pytest.approx(5 / 9)}
    nothing = Spans(np.empty(0, np.int64), np.empty(0), np.empty(0))
    assert rank_shares(measured, spans, nothing, nothing.row, 9.0) == {
        0: pytest.approx(4 / 9), 1: pytest.approx(1 / 9),
    }  # fmt: skip


def test_what_others_did_on_the_same_osts_in_the_same_time():
    use = ost_use(pa.chunked_array([[b"\x01"]]), np.ones(1), np.ones(1), np.array([100.0]))
    steps = pa.table({
        "ost": [0, 0, 0, 1], "end_s": [5.0, 10.0, 15.0, 10.0], "step_s": [5.0] * 4,
        "bytes": [1000, 200, 400, 10**6],
    })  # fmt: skip
    found = others_on(use, steps, 5.0, 12.5)
    assert found.all_bytes.tolist() == [400], "all of the second step, half of the third"
    assert found.others_bytes.tolist() == [300]
    assert found.share == 0.75
    assert found.covered == 1
    assert others_on(use, steps, 100.0, 110.0) is None


def test_osts_may_be_many_and_far_apart(monkeypatch):
    """A file on OST 65000 makes no table of 65000 columns for each of the others."""
    monkeypatch.setattr("pfscope.mine.factors_osts._AT_ONCE", 3)
    far = bytes(8125) + b"\x01"
    osts = pa.chunked_array([[b"\x01", None, b"\x03", far], [b"", b"\x02", far]])
    ones = np.ones(7)
    use = ost_use(osts, ones, ones, ones)
    assert use.ost.tolist() == [0, 1, 65000]
    assert (use.time_share * 7).tolist() == pytest.approx([1.5, 1.5, 2])
