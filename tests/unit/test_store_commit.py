"""Commits to the embedded store: all of a batch or nothing, seen at once, and still there later."""

import threading
from contextlib import contextmanager

import pyarrow as pa
import pytest

from pfscope.errors import InputError, UsageError
from pfscope.store.embedded import open_store
from pfscope.store.protocol import CommitDoubtError, LedgerChange, StoreError
from pfscope.store.schema import TABLES
from tests.support.store_rows import at, frames, operations, series, table, usage, whole_batch


def count(store, name="usage_ost"):
    return store.query(f"SELECT count(*) AS n FROM {name}").column("n")[0].as_py()


def test_every_table_comes_back_as_it_was_given(tmp_path):
    given = {}
    for name, schema in TABLES.items():
        row = {f.name: at() for f in schema if pa.types.is_timestamp(f.type)}
        row |= {f.name: True for f in schema if pa.types.is_boolean(f.type)}
        row |= {f.name: 0.5 for f in schema if pa.types.is_floating(f.type)}
        row |= {f.name: "x" for f in schema if f.type == pa.string()}
        row |= {f.name: 7 for f in schema if pa.types.is_integer(f.type)}
        given[name] = table(name, [row])
    ledger = given.pop("ledger")
    with open_store(tmp_path) as store:
        store.commit(given, [LedgerChange(*ledger.to_pylist()[0].values())])
    with open_store(tmp_path) as store:
        for name, rows in {**given, "ledger": ledger}.items():
            found = store.query(f"SELECT * FROM {name}")
            assert found.to_pylist() == rows.to_pylist(), name
            assert [f.type for f in found.schema] == [f.type for f in TABLES[name]], name


def test_a_batch_that_fails_leaves_nothing(tmp_path):
    with open_store(tmp_path) as store:
        timeless = usage(at()).set_column(0, "time", pa.nulls(1, TABLES["usage_ost"][0].type))
        lines = [LedgerChange("store", "oss1", "stored", "", 1, 1)]
        with pytest.raises(StoreError, match="NOT NULL"):
            store.commit({"operations": operations("read"), "usage_ost": timeless}, lines)
        with pytest.raises(ValueError, match="has not the columns"):
            store.commit({"operations": operations("read"), "frames": usage(at())}, lines)
        assert store.operations() == []
        assert store.ledger().num_rows == 0
        store.commit(whole_batch(), lines)
        assert count(store) == 1


def test_a_commit_that_is_safe_counts_though_its_checkpoint_fails(tmp_path, monkeypatch):
    with open_store(tmp_path) as store:
        real = store._database.transaction

        @contextmanager
        def safe_but_failing():
            with real() as cursor:
                yield cursor
            raise StoreError("the store failed: no checkpoint")

        monkeypatch.setattr(store._database, "transaction", safe_but_failing)
        store.commit(whole_batch(), [])
        assert count(store) == 1
        assert store.has_frame("oss1", "e", 0)


@pytest.mark.parametrize("kept", [True, False])
def test_a_batch_in_doubt_is_settled_when_the_store_answers_again(tmp_path, monkeypatch, kept):
    with open_store(tmp_path) as store:
        store.commit({"operations": operations("read", "write")}, [])
        transaction, last_commit = store._database.transaction, store._last_commit

        @contextmanager
        def failing():
            with transaction() as cursor:
                yield cursor
                if not kept:
                    raise StoreError("the store failed: no room")
            raise StoreError("the store failed: no checkpoint")

        def silent():
            raise StoreError("the store failed: no answer")

        batch = whole_batch()
        del batch["operations"]
        monkeypatch.setattr(store._database, "transaction", failing)
        monkeypatch.setattr(store, "_last_commit", silent)
        with pytest.raises(CommitDoubtError, match="no answer"):
            store.commit(batch, [])
        for ask in (lambda: store.has_frame("oss1", "e", 0), lambda: store.commit(batch, [])):
            with pytest.raises(CommitDoubtError, match="not known"):
                ask()
        monkeypatch.setattr(store._database, "transaction", transaction)
        monkeypatch.setattr(store, "_last_commit", last_commit)
        if kept:
            assert store.has_frame("oss1", "e", 0)
        else:
            store.commit(batch, [])
        assert count(store) == 1


def test_the_batch_that_was_in_doubt_is_not_kept_twice(tmp_path, monkeypatch):
    with open_store(tmp_path) as store:
        real, answers = store._last_commit, [True, False]

        def fails_the_second_time():
            if answers and not answers.pop(0):
                raise StoreError("the store failed")
            return real()

        @contextmanager
        def safe_but_failing():
            with transaction() as cursor:
                yield cursor
            raise StoreError("the store failed: no checkpoint")

        transaction = store._database.transaction
        monkeypatch.setattr(store, "_last_commit", fails_the_second_time)
        monkeypatch.setattr(store._database, "transaction", safe_but_failing)
        batch = whole_batch()
        with pytest.raises(CommitDoubtError):
            store.commit(batch, [])
        monkeypatch.setattr(store._database, "transaction", transaction)
        store.commit(batch, [])
        assert count(store) == 1


def test_numbers_of_series_and_operations_go_on_after_reopening(tmp_path):
    with open_store(tmp_path) as store:
        assert store.next_series() == 0
        store.commit({"series": series(0, 1, 2), "operations": operations("read", "write")}, [])
    with open_store(tmp_path) as store:
        assert store.next_series() == 3
        assert store.operations() == [("read", "reqs"), ("write", "reqs")]


def test_the_ledger_adds_up(tmp_path):
    with open_store(tmp_path) as store:
        for entries in (3, 4):
            change = LedgerChange("ingest", "oss1", "received", "", 1, entries)
            store.commit({}, [change, change._replace(server="oss2")])
        assert [tuple(row.values()) for row in store.ledger().to_pylist()] == [
            ("ingest", "oss1", "received", "", 2, 7),
            ("ingest", "oss2", "received", "", 2, 7),
        ]


def test_frames_are_known_by_server_epoch_and_sequence(tmp_path):
    with open_store(tmp_path) as store:
        store.commit({"frames": frames(1, 2)}, [])
        store.commit({"frames": frames(0, server="café", epoch="1a", time_us=at(1))}, [])
    with open_store(tmp_path) as store:
        store.commit({"frames": frames(3)}, [])
        assert all(store.has_frame("oss1", "e", n) for n in (1, 2, 3))
        assert store.has_frame("café", "1a", 0)
        assert not store.has_frame("oss1", "e", 4)
        assert not store.has_frame("oss1", "e1", 1)
        assert store.committed_frames(at() + 2) == {
            ("oss1", "e", 2), ("oss1", "e", 3), ("café", "1a", 0),
        }  # fmt: skip
        assert store.committed_frames(at(2)) == set()


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE operations",
        "DELETE FROM hot.usage_ost",
        "SELECT 1; COMMIT; DROP TABLE operations",
        "COPY (SELECT 1) TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "SET enable_external_access = true",
        "SELEC 1",
        "SELECT * FROM nothing",
        "",
    ],
)
def test_a_query_can_only_read(tmp_path, sql):
    with open_store(tmp_path) as store:
        store.commit(whole_batch(), [])
        with pytest.raises(UsageError):
            store.query(sql)
        assert count(store) == 1


def test_a_query_reaches_no_other_file(tmp_path):
    secret = tmp_path / "tokens.json"
    secret.write_text('{"a": 1}')
    with open_store(tmp_path) as store, pytest.raises(StoreError, match="Cannot access"):
        store.query(f"SELECT * FROM read_json('{secret}')")


def test_queries_of_other_threads_see_whole_batches_only(tmp_path):
    seen, stop = [], threading.Event()

    def look(store):
        while not stop.is_set():
            row = store.query(
                "SELECT (SELECT count(*) FROM usage_ost) AS u, (SELECT count(*) FROM series) AS s"
            ).to_pylist()[0]
            seen.append((row["u"], row["s"]))

    with open_store(tmp_path) as store:
        threads = [threading.Thread(target=look, args=(store,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for n in range(30):
            rows = usage(*(at(minute=n) + i for i in range(100)), series=n)
            store.commit({"usage_ost": rows, "series": series(n)}, [])
        stop.set()
        for thread in threads:
            thread.join()
    assert seen
    assert all(u == 100 * s for u, s in seen)


def test_a_store_that_is_closed_says_so(tmp_path):
    store = open_store(tmp_path)
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.query("SELECT 1")


@pytest.mark.parametrize("content", [b"x", b"no database" * 1000])
def test_what_is_no_store_is_told_in_one_line(tmp_path, content):
    (tmp_path / "store.duckdb").write_bytes(content)
    with pytest.raises(InputError, match=r"^[^\n]*cannot be opened[^\n]*$"):
        open_store(tmp_path)


def test_another_duckdb_file_is_left_alone(tmp_path):
    import duckdb

    with duckdb.connect(tmp_path / "store.duckdb") as other:
        other.execute("CREATE TABLE mine AS SELECT 1 AS x")
    with pytest.raises(InputError, match="not made by pfscope"):
        open_store(tmp_path)
    with duckdb.connect(tmp_path / "store.duckdb") as other:
        assert other.execute("FROM duckdb_tables()").fetchall()[0][4] == "mine"


def test_no_store_is_made_where_one_is_expected(tmp_path):
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(InputError, match="holds no store"):
            open_store(tmp_path / "none", **options)
    assert not (tmp_path / "none").exists()
