"""Statistics of a synthetic month equal what is known of it; its lake is like an imported one."""

import pyarrow.parquet as pq
import pytest

import pfscope.mine
from pfscope.mine.lake import Lake
from pfscope.mine.schema import TABLES, table_schema
from tests.support.mine_month import month, truth_of
from tests.support.mine_truth import assert_statistics


@pytest.fixture(scope="module")
def lake():
    return month(1000)


def test_statistics_equal_the_known_answers(lake):
    known = truth_of(lake)
    assert known["low_read"]
    assert known["low_written"]
    assert known["stripes"]["customised"]
    with pfscope.mine.open(lake) as miner:
        assert_statistics(miner, known)


@pytest.mark.parametrize("table", ["darshan_job", "darshan_file", "slurm", "lmt"])
def test_a_month_has_the_declared_layout(lake, table):
    files = Lake(lake).files(table)
    assert len(files) >= 31
    for file in files[:3]:
        rows = pq.read_table(file, partitioning=None)
        assert rows.schema == table_schema(table)
        assert rows == rows.sort_by([(name, "ascending") for name in TABLES[table].key])
        days = {value.date().isoformat() for value in rows[TABLES[table].when].to_pylist()}
        assert days == {file.parent.name.removeprefix("date=")}


def test_runs_are_the_sums_of_their_files(lake):
    with pfscope.mine.open(lake) as miner:
        jobs, files = miner.load("darshan_job", "darshan_file")
        summed = [
            name for name in jobs.columns
            if (name in files.columns and name.startswith("posix_")) or name.startswith("bytes_")
        ]  # fmt: skip
        sums = {name: f"sum({name})" for name in summed}
        whole, parts = (frame.group(**sums).to_arrow().to_pylist()[0] for frame in (jobs, files))
        assert whole == pytest.approx(parts)
        union = files.group("log", n=pfscope.mine.ost_count, m="count()")
        odd = jobs.join(union, "log").filter(
            "coalesce(n, -1) != coalesce(ost_count, -1) or m != files"
        )
        assert odd.group(runs="count()").to_arrow().to_pylist() == [{"runs": 0}]


def test_the_same_seed_makes_the_same_month(lake, tmp_path):
    assert truth_of(month(50, 1, 2)) != truth_of(month(50, 2, 2))
    from pfscope.mine.synth import synthesize

    assert synthesize(tmp_path / "again", 50, 1, 2) == truth_of(month(50, 1, 2))


def test_a_lake_without_lmt_and_slurm_has_no_coverage(tmp_path):
    from pfscope.mine.lake import writing
    from pfscope.mine.statistics import coverage, totals

    with writing(tmp_path / "empty"):
        pass
    with pfscope.mine.open(tmp_path / "empty") as miner:
        assert totals(miner)["runs"] == 0
        assert [row["share"] for row in coverage(miner).to_pylist()] == [None] * 4
