"""`pfscope doctor` finds every kind of damage that it promises to find, and nothing in health."""

import csv
import io
from types import SimpleNamespace

import duckdb
import pyarrow.parquet as pq
import pytest

from pfscope.cli.main import main
from pfscope.frames import FrameLog
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.protocol import LedgerChange
from pfscope.store.retention import Retention
from tests.support.frame_samples import encoded
from tests.support.store_rows import (
    HOUR_US,
    MINUTE_US,
    at,
    frames,
    operations,
    series,
    table,
    usage,
    whole_batch,
)

EAGER = Rules(settle_us=0, quiet_us=0)


def examined(capsys, directory):
    """Return the exit code, and the finding of each check."""
    code = main(["doctor", "--data", str(directory), "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    return code, {row["check"]: (row["state"], row["finding"]) for row in rows}


@pytest.fixture(autouse=True)
def disk(monkeypatch):
    """A disk of which half is free, whatever the machine's is like."""
    free = {"bytes": 500}

    def usage(_path):
        return SimpleNamespace(total=1000, free=free["bytes"])

    monkeypatch.setattr("pfscope.store.check.shutil.disk_usage", usage)
    return free


@pytest.fixture
def directory(tmp_path):
    """A healthy directory with a journal, a cold day and a hot one."""
    with open_store(tmp_path, rules=EAGER) as store:
        lines = [LedgerChange("ingest", "oss1", o, "", 2, 9) for o in ("received", "stored")]
        store.commit(whole_batch(), lines)
        store.commit({"usage_ost": usage(at(1, 1), at(1, 2))}, [])
        store.maintain(at(1, 2))
    with FrameLog(str(tmp_path / "journal")) as log:
        for sequence in range(3):
            log.append(encoded(sequence))
    return tmp_path


def test_a_sound_directory_is_healthy(capsys, directory):
    code, found = examined(capsys, directory)
    assert code == 0
    assert {state for state, _ in found.values()} == {"ok"}
    assert list(found) == [
        "lock", "journal", "schema", "parquet", "series", "references", "intervals", "direction",
        "clock", "ledger", "space",
    ]  # fmt: skip
    assert found["journal"][1] == "3 frames are whole"
    assert found["parquet"][1].startswith("3 Parquet files with 3 rows")


def test_an_empty_store_is_healthy(capsys, tmp_path):
    open_store(tmp_path).close()
    assert examined(capsys, tmp_path)[0] == 0


OVERLAP = usage(at(1, 3), at(1, 3, 1))
FAR = table(
    "usage_ost",
    [{"time": at(1, 1), "begin": at(0, 0, 59), "series": 0, "operation": 0, "samples": 1}],
)
BACK = usage(at(1, 4)).set_column(
    1, "begin", usage(at(1, 4) + 2 * MINUTE_US + HOUR_US).column("begin")
)


@pytest.mark.parametrize(
    ("rows", "check", "words"),
    [
        ({"usage_ost": usage(at(1, 3), series=77)}, "references", "series 77"),
        ({"usage_mdt": usage(at(1, 3), operation=7)}, "references", "operation 7"),
        ({"series": series(0)}, "series", "series 0"),
        ({"usage_ost": OVERLAP}, "intervals", "usage_ost on 2022-10-28: 1"),
        ({"usage_ost": FAR}, "intervals", "usage_ost on 2022-10-27: 1"),
        ({"usage_ost": BACK}, "direction", "usage_ost: 1"),
        ({"frames": frames(1, time_us=at())}, "clock", "oss1 e"),
    ],
)
def test_rows_that_contradict_each_other_are_found(capsys, directory, rows, check, words):
    with open_store(directory) as store:
        store.commit(rows, [])
    code, found = examined(capsys, directory)
    assert code == 1
    assert found[check][0] == "WRONG"
    assert words in found[check][1]
    assert [name for name, (state, _) in found.items() if state == "WRONG"] == [check]


@pytest.mark.parametrize("unit", ["frames", "entries"])
def test_a_ledger_that_does_not_balance_is_found(capsys, directory, unit):
    counts = {"frames": 0, "entries": 0, unit: 5}
    with open_store(directory) as store:
        store.commit({}, [LedgerChange("ingest", "oss2", "received", "", **counts)])
    code, found = examined(capsys, directory)
    assert code == 1
    assert f"ingest oss2: 5 {unit} received, 0 accounted for" in found["ledger"][1]


def test_what_retention_dropped_leaves_the_ledger_balanced(capsys, directory):
    with open_store(directory, rules=Rules(retention=Retention(usage_ost=1))) as store:
        assert store.expire(at(2, 1))
    assert examined(capsys, directory)[0] == 0


def a_part(directory):
    return next(directory.glob("parquet/usage_ost/*/*.parquet"))


def test_a_changed_byte_in_a_part_is_found(capsys, directory):
    path = a_part(directory)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    code, found = examined(capsys, directory)
    assert (code, found["parquet"][0]) == (1, "WRONG")
    assert "content changed" in found["parquet"][1]


def test_a_lost_part_is_found(capsys, directory):
    a_part(directory).unlink()
    code, found = examined(capsys, directory)
    assert code == 1
    assert "it is gone" in found["parquet"][1]


def test_a_part_with_other_rows_than_recorded_is_found(capsys, directory):
    with duckdb.connect(directory / "store.duckdb") as database:
        database.execute("UPDATE parts SET rows = 9 WHERE \"table\" = 'usage_ost'")
    assert pq.read_metadata(a_part(directory)).num_rows == 1
    assert "it has 1 rows instead of 9" in examined(capsys, directory)[1]["parquet"][1]


def test_damage_in_the_journal_is_found(capsys, directory):
    (path,) = (directory / "journal").glob("*.pfl")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    code, found = examined(capsys, directory)
    assert code == 1
    assert found["journal"][1].startswith("2 frames are whole, 1 damaged: ")


def test_a_disk_that_is_nearly_full_is_found(capsys, directory, disk):
    disk["bytes"] = 49
    code, found = examined(capsys, directory)
    assert (code, found["space"][0]) == (1, "WRONG")


def test_what_is_no_store_is_told_in_one_line(capsys, tmp_path):
    assert main(["doctor", "--data", str(tmp_path)]) == 1
    assert (
        capsys.readouterr().err
        == f"pfscope: {tmp_path} holds no store (store.duckdb is not there)\n"
    )


def test_operations_are_looked_up_by_number(capsys, tmp_path):
    with open_store(tmp_path) as store:
        store.commit({**whole_batch(), "operations": operations()}, [])
    assert "operation 0" in examined(capsys, tmp_path)[1]["references"][1]
