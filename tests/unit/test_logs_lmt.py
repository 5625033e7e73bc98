"""LMT's data, read from its tables and from both kinds of HDF5, is what happened."""

import sqlite3
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pfscope.errors import InputError, UsageError
from pfscope.logs import lmt_tables
from pfscope.logs.lmt import iter_lmt
from pfscope.logs.lmt_rows import ROWS, target_of
from tests.support.lmt_files import Truth, write_h5lmt, write_sqlite, write_tokio

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "lmt"
WRITERS = {"sqlite": write_sqlite, "tokio": write_tokio, "h5lmt": write_h5lmt}


def read(path, zone="America/Los_Angeles", missing=None, **options):
    tables = list(
        iter_lmt(path, time_zone=zone, missing=Counter() if missing is None else missing, **options)
    )
    rows = pa.concat_tables([ROWS.empty_table(), *tables])
    return rows.sort_by([("target", "ascending"), ("time", "ascending")])


def matrix(rows, column, name):
    return rows.filter(pc.equal(rows["target"], name))[column].to_pylist()


@pytest.fixture(scope="module")
def truth():
    return Truth()


@pytest.fixture(scope="module", params=sorted(WRITERS))
def rows(request, truth, tmp_path_factory):
    return read(WRITERS[request.param](tmp_path_factory.mktemp("lmt") / request.param, truth))


def test_every_form_says_what_each_ost_did(rows, truth):
    for ost, name in enumerate(truth.names):
        assert matrix(rows, "bytes_read", name) == truth.read[:, ost].tolist()
        assert matrix(rows, "bytes_written", name) == truth.written[:, ost].tolist()
        assert set(matrix(rows, "ost", name)) == {int(name[-4:], 16)}


def test_every_form_says_when(rows, truth):
    ends = rows.filter(pc.equal(rows["target"], truth.names[0]))["time"].cast(pa.int64())
    assert ends.to_pylist() == (truth.times()[1:] * 10**6).tolist()
    assert set(rows["step_s"].to_pylist()) == {5.0}


def test_every_form_counts_operations_of_metadata_alone(rows, truth):
    assert matrix(rows, "metadata_operations", "scratch-MDT0000") == truth.metadata().tolist()
    assert set(rows["filesystem"].to_pylist()) == {"scratch"}


def test_gauges_are_those_at_the_end_of_a_step(truth, tmp_path):
    exact = read(write_sqlite(tmp_path / "a", truth))
    name = truth.names[0]
    assert matrix(exact, "kbytes_used", name) == truth.used[1:, 0].tolist()
    assert matrix(exact, "kbytes_free", name) == (truth.total - truth.used[1:, 0]).tolist()
    assert matrix(exact, "cpu_share", name) == (truth.cpu[1:] / 100).tolist()
    assert set(matrix(exact, "server", name)) == {f"oss{truth.keys[0]}"}
    tokio = read(write_tokio(tmp_path / "b", truth))
    # The last row's end is in the next day's file.
    assert matrix(tokio, "kbytes_used", name) == [*truth.used[1:-1, 0].tolist(), None]
    assert matrix(tokio, "cpu_share", "scratch-MDT0000")[:3] == (truth.cpu[1:4] / 100).tolist()


def test_a_counter_that_began_anew_counts_from_zero(truth, tmp_path):
    rows = read(write_sqlite(tmp_path / "a", truth, resets={(7, 1)}))
    assert matrix(rows, "bytes_read", truth.names[1]) == truth.read[:, 1].tolist()


def test_a_lost_sample_makes_one_long_step(truth, tmp_path):
    rows = read(write_sqlite(tmp_path / "a", truth, lost={(5, 0)}))
    name = truth.names[0]
    read_bytes, steps = matrix(rows, "bytes_read", name), matrix(rows, "step_s", name)
    assert sum(read_bytes) == truth.read[:, 0].sum()
    assert max(steps) == 10.0
    assert len(steps) == truth.steps - 1


def test_a_sample_lost_where_two_readings_meet_loses_nothing(truth, tmp_path, monkeypatch):
    monkeypatch.setattr(lmt_tables, "_STEPS", 10)
    # The last sample of the first reading: the second one must look further back.
    rows = read(write_sqlite(tmp_path / "a", truth, lost={(10, 0), (11, 2)}))
    for ost, name in enumerate(truth.names):
        assert sum(matrix(rows, "bytes_read", name)) == truth.read[:, ost].sum()
        times = matrix(rows, "time", name)
        assert len(set(times)) == len(times)


@pytest.mark.parametrize("write", [write_tokio, write_h5lmt])
def test_what_is_missing_is_not_zero(write, truth, tmp_path):
    rows = read(write(tmp_path / "a", truth, missing={(3, 1), (4, 1)}))
    assert len(matrix(rows, "bytes_read", truth.names[1])) == truth.steps - 2
    assert sum(matrix(rows, "bytes_read", truth.names[1])) == (
        truth.read[:, 1].sum() - truth.read[3:5, 1].sum()
    )


def test_the_hour_that_clocks_show_twice_is_told_apart_by_the_order_of_steps(tmp_path):
    # 2018-11-04 01:59 in Los Angeles, a minute before clocks go back to 01:00.
    truth = Truth(start=1_541_321_940, steps=30)
    rows = read(write_sqlite(tmp_path / "a", truth))
    ends = rows.filter(pc.equal(rows["target"], truth.names[0]))["time"].cast(pa.int64())
    assert ends.to_pylist() == (truth.times()[1:] * 10**6).tolist()


def test_a_period_is_read_alone(truth, tmp_path):
    bounds = ((truth.start + 50) * 10**6, (truth.start + 100) * 10**6)
    rows = read(write_sqlite(tmp_path / "a", truth), period=bounds)
    times = rows["time"].cast(pa.int64()).to_pylist()
    assert (min(times), max(times)) == (bounds[0], bounds[1] - 5 * 10**6)
    assert matrix(rows, "bytes_read", truth.names[0])[0] == truth.read[9, 0]


def test_hours_are_read_one_after_another(tmp_path):
    truth = Truth(steps=1500, osts=2)
    path = write_sqlite(tmp_path / "a", truth)
    sizes = [t.num_rows for t in iter_lmt(path, time_zone=truth.zone, missing=Counter())]
    assert max(sizes) <= 2 * 720
    assert sum(sizes) == 3 * 1500


@pytest.mark.parametrize(
    ("name", "index"),
    [("scratch-OST000f", 15), ("scratch-OST000f_UUID", 15), ("a-b-OST0100\0\0", 256),
     ("scratch-MDT0001", None)],
)  # fmt: skip
def test_names_of_targets(name, index):
    assert target_of(name).ost == index


def test_names_that_are_none_are_counted(truth, tmp_path):
    truth = Truth()
    truth.names[1] = "<b>\x1b[31m"
    missing = Counter()
    rows = read(write_tokio(tmp_path / "a", truth), missing=missing)
    assert missing == {"target whose name is not understood": 1}
    assert set(rows["target"].to_pylist()) == {truth.names[0], truth.names[2], "scratch-MDT0000"}


def spoilt(tmp_path, truth, change):
    path = write_tokio(tmp_path / "spoilt", truth)
    with h5py.File(path, "a") as file:
        change(file)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.pop("datatargets"),
        lambda file: file.pop("datatargets/timestamps"),
        lambda file: file["datatargets/timestamps"].write_direct(np.zeros(36, int) - 5),
        lambda file: file["datatargets/readbytes"].attrs.pop("columns"),
    ],
)
def test_spoilt_hdf5_is_refused(change, truth, tmp_path):
    with pytest.raises(InputError, match="HDF5"):
        read(spoilt(tmp_path, truth, change))


def test_files_of_other_kinds_are_refused(tmp_path):
    for name, content in (("a", b""), ("b", b"\x89HDF\r\n\x1a\n" + b"x" * 100), ("c", b"text")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError):
            read(tmp_path / name)
    with sqlite3.connect(tmp_path / "d") as base:
        base.execute("CREATE TABLE x (y)")
    base.close()
    with pytest.raises(InputError, match="not LMT's"):
        read(tmp_path / "d")


def test_text_where_a_number_belongs_is_refused(truth, tmp_path):
    path = write_sqlite(tmp_path / "a", truth)
    with sqlite3.connect(path) as base:
        base.execute("UPDATE OST_DATA SET READ_BYTES = 'many' WHERE TS_ID = 905")
    base.close()
    with pytest.raises(InputError, match="OST_DATA"):
        read(path)


def test_a_time_zone_that_there_is_not(truth, tmp_path):
    with pytest.raises(UsageError, match="no time zone"):
        read(write_sqlite(tmp_path / "a", truth), zone="Mars/Base")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real day is not on this machine")
def test_the_three_forms_of_a_real_day_agree():
    first, *others = (
        read(SHARED / f"snx11025_2018-01-28.{form}") for form in ("sqlite3", "hdf5", "h5lmt")
    )
    assert first.num_rows == 25 * 60
    for column in ("time", "step_s", "target", "ost", "bytes_read", "bytes_written",
                   "metadata_operations"):  # fmt: skip
        for other in others:
            assert other[column].equals(first[column])
    for column in ("cpu_share", "kbytes_used", "kbytes_free", "inodes_used", "inodes_free"):
        for other in others:
            assert pc.all(pc.equal(other[column], first[column])).as_py() in (True, None)
