"""Everything that is asked of a lake has equal answers on DuckDB and on a real cluster of Spark.

The cluster is standalone, on loopback: one master, two workers. It needs Java 17 and the extra
`spark`; `make test-spark` runs this.
"""

import math
import os

import pytest

import pfscope.mine
from pfscope.errors import InputError
from tests.support.mine_month import month, truth_of
from tests.support.mine_questions import QUESTIONS, tables
from tests.support.mine_truth import assert_statistics
from tests.support.spark_cluster import cluster

DAYS = 2


@pytest.fixture(scope="module")
def lake():
    return month(500, days=DAYS)


@pytest.fixture(scope="module")
def spark(lake, tmp_path_factory):
    options = {"spark.executor.memory": "768m", "spark.sql.shuffle.partitions": "4"}
    with (
        cluster(tmp_path_factory.mktemp("cluster")) as address,
        pfscope.mine.open(lake, engine=address, options=options) as miner,
    ):
        yield miner


@pytest.fixture(scope="module")
def duckdb(lake):
    with pfscope.mine.open(lake) as miner:
        yield miner


def alike(a, b):
    """Say whether two values are equal, but for the order in which floats were summed."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return a == b


def assert_equal(here, there):
    assert here.schema == there.schema
    assert here.num_rows == there.num_rows
    for name in here.column_names:
        pairs = zip(here[name].to_pylist(), there[name].to_pylist(), strict=True)
        different = [pair for pair in pairs if not alike(*pair)]
        assert not different, (name, different[:3])


@pytest.mark.parametrize("name", QUESTIONS)
def test_both_engines_give_the_same(name, duckdb, spark):
    here, there = (QUESTIONS[name](tables(miner)).to_arrow() for miner in (duckdb, spark))
    assert here.num_rows
    assert_equal(here, there)


def test_the_work_is_done_by_both_workers(spark):
    def where(nprocs: int) -> int:
        return __import__("os").getpid()

    executors = spark.table("darshan_file").project(pid=where).group("pid").to_arrow()
    assert os.getpid() not in executors["pid"].to_pylist()
    assert executors.num_rows >= 2


def test_statistics_equal_the_known_answers(lake, spark):
    assert_statistics(spark, truth_of(lake))


def test_factors_are_the_same(duckdb, spark):
    here, there = (
        miner.table("darshan_job").filter("bytes_written > 10GB")
        .extract_perf_factors("0", "1GB", "write").to_arrow()
        for miner in (duckdb, spark)
    )  # fmt: skip
    assert here.num_rows
    assert_equal(here, there)


def test_a_function_that_raises_is_told_in_one_line(spark):
    def broken(nprocs: int) -> int:
        return nprocs // 0

    with pytest.raises(InputError, match="ZeroDivisionError") as caught:
        spark.table("darshan_job").project(x=broken).to_arrow()
    assert "\n" not in str(caught.value)


def test_a_table_without_rows_is_there(spark):
    assert spark.table("darshan_dxt").group(n="count()").to_arrow()["n"].to_pylist() == [0]


def test_a_day_is_the_same_chosen_by_a_period_or_by_a_condition(lake, spark):
    with pfscope.mine.open(lake, start="2018-01-02", end="2018-01-02") as day:
        (expected,) = day.table("darshan_job").group(n="count()").to_arrow()["n"].to_pylist()
    found = spark.table("darshan_job").filter("date = '2018-01-02'").group(n="count()").to_arrow()
    assert found["n"].to_pylist() == [expected]
