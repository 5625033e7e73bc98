"""A query that takes too long is stopped, and the store goes on as if it had never been asked."""

import threading

import pytest

from pfscope.store.embedded import open_store
from pfscope.store.patience import OutOfPatienceError, Patience, waiting

ENDLESS = "SELECT count(*) AS n FROM range(300000) a, range(300000) b WHERE a.range + b.range < 0"


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_an_endless_query_is_stopped(store):
    with waiting(Patience(0.2)), pytest.raises(OutOfPatienceError, match="takes too long"):
        store.query(ENDLESS)
    assert store.query("SELECT 1 AS n").to_pylist() == [{"n": 1}]


def test_all_queries_of_a_block_share_it(store):
    with waiting(Patience(0.2)):
        for _ in range(2):
            with pytest.raises(OutOfPatienceError):
                store.query(ENDLESS)


def test_it_can_be_lost_from_elsewhere(store):
    patience = Patience(600)
    threading.Timer(0.2, patience.lose).start()
    with waiting(patience), pytest.raises(OutOfPatienceError):
        store.query(ENDLESS)


def test_who_has_patience_gets_the_answer(store):
    with waiting(Patience(60)):
        assert store.query("SELECT 1 AS n").num_rows == 1


def test_the_block_over_nobody_is_in_a_hurry(store):
    with waiting(Patience(0.001)):
        pass
    assert store.query("SELECT sum(range) AS n FROM range(3000000)").num_rows == 1
