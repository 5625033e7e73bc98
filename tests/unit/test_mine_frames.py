"""Frames give what plain Python works out from the same rows, and errors that say what to do."""

import csv
from importlib.util import find_spec
from statistics import quantiles

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pfscope.mine
from pfscope.errors import InputError, UsageError
from pfscope.mine.ost_sets import ost_list
from tests.support.mine_month import month
from tests.support.mine_questions import HOSTILE, QUESTIONS, spread, tables


@pytest.fixture(scope="module")
def miner():
    with pfscope.mine.open(month()) as opened:
        yield opened


@pytest.fixture(scope="module")
def frames(miner):
    return tables(miner)


@pytest.fixture(scope="module")
def rows(frames):
    wanted = (
        "log", "job_id", "executable", "user", "nprocs", "bytes_written", "bytes_read", "file_id",
        "osts", "ost_count", "start", "meta_start_s", "meta_end_s", "stripe_count", "kind",
    )  # fmt: skip
    return [
        frame.project(*[name for name in wanted if name in frame.columns]).to_arrow().to_pylist()
        for frame in frames[:2]
    ]


def ask(name, frames):
    return QUESTIONS[name](frames).to_arrow().to_pylist()


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_is_answered(name, frames):
    answer = QUESTIONS[name](frames)
    table = answer.to_arrow()
    assert table.num_rows > 0
    assert table.schema == answer.arrow_schema()


def test_the_papers_workload_bins(frames, rows):
    found = {row["workload"]: row for row in ask("bin, group and percentile", frames)}
    for label, low, high in (("0..1GB", 0, 1e9), ("1GB..10GB", 1e9, 1e10), ("10GB..", 1e10, 1e30)):
        written = [r["bytes_written"] for r in rows[0] if low <= r["bytes_written"] < high]
        assert found[label]["count"] == len(written)
        half = quantiles(written, n=2, method="inclusive")[0]
        assert found[label]["p50"] == pytest.approx(half)


def test_the_union_of_osts_is_that_of_plain_sets(frames, rows):
    expected = {}
    for row in rows[1]:
        osts = expected.setdefault(row["job_id"], set())
        osts |= set(ost_list(row["osts"] or b""))
    for row in ask("union of OSTs", frames):
        assert (row["osts"] or 0) == len(expected[row["job_id"]])
        assert ost_list(row["all"] or b"") == sorted(expected[row["job_id"]])


def test_a_join_multiplies_no_row_though_slurm_queued_jobs_again(miner, frames, rows):
    records = miner.table("slurm_all").group(n="count()").to_arrow()["n"][0].as_py()
    jobs = miner.table("slurm").group(n="count()").to_arrow()["n"][0].as_py()
    assert records > jobs == 2 * len(rows[0])
    joined = ask("join", frames)
    assert [row["job_id"] for row in joined] == sorted(row["job_id"] for row in rows[0])
    states = miner.table("slurm").group("state").to_arrow()["state"].to_pylist()
    assert "NODE_FAIL" not in states


def test_neighbours_are_those_of_a_nested_loop(frames, rows):
    def spans(chosen):
        return [
            (r["log"], r["file_id"], r["start"].timestamp() + r["meta_start_s"] - 43200,
             r["start"].timestamp() + r["meta_end_s"] + 43200, set(ost_list(r["osts"] or b"")))
            for r in chosen
        ]  # fmt: skip

    some = spans(row for row in rows[1] if row["job_id"] < "10000010")
    others = spans(rows[1])
    expected = sorted(
        (a[0], a[1], b[0], b[1])
        for a in some
        for b in others
        if a[0] != b[0] and a[2] < b[3] and b[2] < a[3] and a[4] & b[4]
    )
    found = ask("interval and OST join", frames)
    assert expected
    assert [tuple(list(row.values())[:4]) for row in found] == expected
    assert all(row["seconds"] > 0 and row["osts_in_common"] >= 1 for row in found)


def test_a_pair_with_many_common_osts_appears_once(frames, rows):
    found = ask("OST join", frames)
    pairs = [(row["file_id"], row["file_id_wide"]) for row in found]
    assert len(set(pairs)) == len(pairs)
    some = [r for r in rows[1] if r["job_id"] < "10000030"]
    wide = [r for r in rows[1] if (r["stripe_count"] or 0) > 4]
    expected = {
        (a["file_id"], b["file_id"])
        for a in some
        for b in wide
        if set(ost_list(a["osts"] or b"")) & set(ost_list(b["osts"] or b""))
    }
    assert set(pairs) == expected


def test_divisions_and_logarithms_without_answer_are_null(frames):
    row = ask("nothing has an answer", frames)[0]
    assert [row[name] for name in "abcd"] == [None] * 4
    assert row["e"] is not None


def test_functions_of_groups_get_all_values(frames, rows):
    written = {}
    for row in rows[1]:
        written.setdefault(row["job_id"], []).append(row["bytes_written"])
    found = {row["job_id"]: row["spread"] for row in ask("Python functions of groups", frames)}
    assert found == {job: spread(values) for job, values in written.items()}


def test_texts_reach_no_sql(frames):
    row = ask("hostile texts", frames)[0]
    assert row["a"] == HOSTILE
    assert row["b"] is row["c"] is False


def test_a_named_function_can_be_called_in_texts(miner, frames):
    @miner.function
    def tenth(value: int) -> float:
        return value / 10

    found = frames[0].project("nprocs", t="tenth(nprocs) + 1").limit(3).to_arrow().to_pylist()
    assert [row["t"] for row in found] == [row["nprocs"] / 10 + 1 for row in found]


def test_a_function_that_raises_is_told_in_one_line(frames):
    def broken(nprocs: int) -> int:
        return nprocs // 0

    with pytest.raises(InputError, match="ZeroDivisionError") as caught:
        frames[0].project(x=broken).to_arrow()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            lambda _, j: j.filter("byte_written < 1GB"),
            "'byte_written', did you mean bytes_written?",
        ),
        (lambda _, j: j.project("jobid"), "did you mean job_id?"),
        (lambda m, _: m.load("darshan_jobs"), "did you mean darshan_job?"),
        (lambda _, j: j.filter("bytes_written < 'abc'"), "bytes_written is a number, and 'abc' is"),
        (lambda _, j: j.filter("start > 'monday'"), "'monday' is no time"),
        (lambda _, j: j.filter("nprocs"), "'nprocs' is not true or false"),
        (lambda _, j: j.group("user", x="bytes_read"), "has many values in a group"),
        (lambda _, j: j.filter("sun(bytes_read) > 1"), "did you mean sum?"),
        (lambda _, j: j.filter("sum(bytes_read) > 1"), "is of a group of rows"),
        (lambda _, j: j.project(x=pfscope.mine.ost_count), "is of a group of rows"),
        (lambda _, j: j.project(**{'a"b': "1"}), "cannot be the name of a column"),
        (lambda _, j: j.project(x="hour(nprocs)"), "hour(): nprocs is not a time"),
        (lambda _, j: j.project(x="least(nprocs)"), "least() takes 2 or more, not 1"),
        (lambda _, j: j.project(x="executable + 1"), "executable is not a number"),
        (lambda _, j: j.group(x="percentile(nprocs, 101)"), "between 0 and 100"),
        (lambda _, j: j.group(x="percentile(nprocs, files)"), "must be a number"),
        (lambda _, j: j.bin("b", ["1GB", "0"], "nprocs"), "must ascend"),
        (lambda _, j: j.bin("b", ["many"], "nprocs"), "'many' is no quantity"),
        (lambda _, j: j.join(j.project("job_id"), "job"), "did you mean job_id?"),
        (lambda _, j: j.join(j), "needs keys, overlap or osts"),
        (lambda _, j: j.join(j, "job_id", how="outer"), "inner, left, semi or anti"),
        (lambda _, j: j.join(j, overlap=("start",)), "overlap is (begin, end)"),
        (lambda _, j: j.join(j, osts=("nprocs", "osts")), "nprocs is not a set of OSTs"),
        (lambda _, j: j.project(x=lambda nprocs: nprocs), "annotate it"),
        (lambda _, j: j.sort("-nproc"), "did you mean nprocs?"),
        (lambda _, j: j.group("user", user="count()"), "is a key of the group"),
    ],
)
def test_errors_name_what_is_wrong_and_what_is_near(asked, said, miner, frames):
    with pytest.raises(UsageError) as caught:
        asked(miner, frames[0])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_opened_is_said(tmp_path):
    with pytest.raises(InputError, match="is no lake"):
        pfscope.mine.open(tmp_path)
    with pytest.raises(UsageError, match="there is no engine 'duck'"):
        pfscope.mine.open(month(), engine="duck")
    with pytest.raises(UsageError, match="'january' is no day"):
        pfscope.mine.open(month(), start="january")


def test_a_period_limits_the_days(rows):
    with pfscope.mine.open(month(), start="2018-01-05", end="2018-01-06") as some:
        days = some.table("darshan_job").group("date", n="count()").sort("date").to_arrow()
    expected = [r for r in rows[0] if r["start"].strftime("%d") in ("05", "06")]
    assert [day.isoformat() for day in days["date"].to_pylist()] == ["2018-01-05", "2018-01-06"]
    assert sum(days["n"].to_pylist()) == len(expected)


def test_results_come_in_every_form(frames, tmp_path):
    asked = frames[0].project("job_id", "executable", "osts", "start", "ost_count").sort("job_id")
    table = asked.to_arrow()
    assert asked.to_pandas()["job_id"].tolist() == table["job_id"].to_pylist()
    asked.to_parquet(tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet") == table
    asked.to_csv(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [row["executable"] for row in written] == table["executable"].to_pylist()
    assert written[0]["start"] == table["start"][0].as_py().isoformat().replace("+00:00", "Z")
    with pytest.raises(InputError, match="cannot write to"):
        asked.to_csv(tmp_path / "no" / "rows.csv")


def test_polars_gives_the_same_or_is_told_to_be_missing(frames):
    asked = frames[0].project("job_id").sort("job_id")
    if find_spec("polars"):
        assert asked.to_polars()["job_id"].to_list() == asked.to_arrow()["job_id"].to_pylist()
    else:
        with pytest.raises(InputError, match="pip install polars"):
            asked.to_polars()


def test_frames_are_lazy_and_tell_their_columns(frames):
    asked = frames[0].project("job_id", x="nprocs * 2").filter("x > 4")
    assert asked.columns == ["job_id", "x"]
    assert repr(asked) == "<darshan_job: job_id, x>"
    assert "SELECT" in asked.sql
    assert isinstance(asked.arrow_schema(), pa.Schema)


def test_factors_are_those_of_runs_within_the_bandwidth(frames):
    slow = (
        frames[0]
        .filter("bytes_written > 10GB")
        .extract_perf_factors(low="0", high="1GB", operation="write")
    )
    found = slow.to_arrow()
    assert len(slow) == found.num_rows > 0
    rates = [mib * 2**20 for mib in found["bandwidth_critical_mib_s"].to_pylist()]
    assert all(rate < 1e9 for rate in rates)
    all_runs = frames[0].filter("bytes_written > 10GB").extract_perf_factors("0", "1PB/s", "write")
    assert len(all_runs) > len(slow)
