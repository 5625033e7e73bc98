"""Questions in SQL can read the lake and nothing else, change nothing, and end."""

import time

import pytest

from pfscope.errors import PfscopeError
from pfscope.mine.sql import Bounds, asked
from tests.support.mine_month import month


def ask(question, **bounds):
    with asked(month(), question, Bounds(**bounds)) as answer:
        return answer.to_arrow().to_pylist()


def test_the_tables_and_the_functions_are_there():
    (row,) = ask("SELECT count(*) AS n, max(ost_count(osts)) AS most FROM darshan_job")
    assert row["n"] == 400
    assert 1 < row["most"] <= 248
    (row,) = ask("SELECT count(*) AS n, count(DISTINCT job_id) AS jobs FROM slurm")
    assert row["n"] == row["jobs"] == 800
    (row,) = ask("SELECT count(*) AS n FROM slurm_all")
    assert row["n"] > 800


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled by configuration"),
        ("SELECT * FROM '/etc/passwd'", "the lake has no table"),
        ("SELECT * FROM glob('/*')", "disabled by configuration"),
        ("COPY darshan_job TO 'x.csv'", "one SELECT"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'", "one SELECT"),
        ("SET memory_limit = '9GB'", "one SELECT"),
        ("ATTACH 'x.db'", "one SELECT"),
        ("INSTALL httpfs", "one SELECT"),
        ("CREATE TABLE x AS SELECT 1", "one SELECT"),
        ("SELECT 1; SELECT 2", "one SELECT"),
        ("", "one SELECT"),
        ("selec 1", "that is no SQL"),
        ("SELECT * FROM darshan_jobs", "did you mean darshan_job?"),
        ("SELECT byte_read FROM darshan_job", "did you mean bytes_read?"),
        ("SELECT CAST('x' AS INT)", "could not answer"),
    ],
)
def test_what_does_not_read_the_lake_is_refused(question, said):
    with pytest.raises(PfscopeError) as caught:
        ask(question)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_question_ends_when_its_time_is_over():
    begun = time.monotonic()
    with pytest.raises(PfscopeError, match=r"no answer within 0\.5 s"):
        ask("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b", seconds=0.5)
    assert time.monotonic() - begun < 30


def test_rows_are_bounded_and_it_is_told():
    with asked(month(), "SELECT * FROM range(100000)", Bounds(rows=7)) as answer:
        assert answer.to_arrow().num_rows == 7
        assert answer.cut
    with asked(month(), "SELECT * FROM range(7)", Bounds(rows=7)) as answer:
        assert answer.to_arrow().num_rows == 7
        assert not answer.cut
