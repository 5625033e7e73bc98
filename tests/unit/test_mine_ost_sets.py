"""Sets of OSTs as bitmaps are sets: in arrays, in Python and in DuckDB."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.mine.ost_sets import (
    DUCKDB,
    ost_count,
    ost_intersection,
    ost_list,
    ost_sets,
    ost_union,
)

FEW = settings(deadline=None, max_examples=40)
SETS = st.sets(st.integers(0, 300), max_size=20)


def bitmap(osts):
    listed = np.array(sorted(osts), np.int64)
    return ost_sets(np.zeros(len(listed), np.int64), listed, 1)[0].as_py()


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect()
    connection.execute(DUCKDB)
    return connection


def asked(engine, expression, *values):
    return engine.execute(f"SELECT {expression}", list(values)).fetchall()[0][0]


@FEW
@given(SETS)
def test_a_bitmap_is_as_long_as_its_highest_ost_asks_for(osts):
    raw = bitmap(osts)
    assert len(raw) == (max(osts) // 8 + 1 if osts else 0)
    assert ost_list(raw) == sorted(osts)


@FEW
@given(st.lists(SETS, max_size=5))
def test_many_are_made_and_counted_together(sets):
    owners = np.array([i for i, one in enumerate(sets) for _ in one], np.int64)
    osts = np.array([ost for one in sets for ost in one], np.int64)
    made = ost_sets(owners, osts, len(sets))
    assert [set(ost_list(raw)) for raw in made.to_pylist()] == sets
    assert ost_count(made).to_pylist() == [len(one) for one in sets]
    assert ost_count(made.slice(1)).to_pylist() == [len(one) for one in sets[1:]]


@FEW
@given(SETS, SETS)
def test_union_and_intersection(engine, first, second):
    a, b = bitmap(first), bitmap(second)
    assert set(ost_list(ost_union([a, b]))) == first | second
    assert set(ost_list(ost_intersection(a, b))) == first & second
    assert set(ost_list(asked(engine, "ost_union($1, $2)", a, b))) == first | second
    assert set(ost_list(asked(engine, "ost_intersection($1, $2)", a, b))) == first & second
    assert asked(engine, "ost_overlap($1, $2)", a, b) == len(first & second)
    assert asked(engine, "ost_count($1)", a) == len(first)
    assert asked(engine, "ost_list($1)", a) == sorted(first)


@FEW
@given(st.lists(st.one_of(st.none(), SETS), min_size=1, max_size=6))
def test_a_union_of_rows(engine, sets):
    raw = [None if one is None else bitmap(one) for one in sets]
    known = [one for one in sets if one is not None]
    engine.register("sets", pa.table({"osts": pa.array(raw, pa.binary())}))
    ((found,),) = engine.execute("SELECT ost_union_all(osts) FROM sets").fetchall()
    for union in (found, ost_union(raw)):
        if known:
            assert set(ost_list(union)) == set().union(*known)
        else:
            assert union is None


def test_null_is_not_empty(engine):
    sets = pa.array([None, b"", b"\x81"], pa.binary())
    assert ost_count(sets).to_pylist() == [None, 0, 2]
    assert ost_intersection(None, b"\1") is None
    assert asked(engine, "ost_count($1::BLOB)", None) is None
    assert asked(engine, "ost_union($1::BLOB, $2)", None, b"\1") is None
