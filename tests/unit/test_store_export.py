"""`pfscope export`: plain files by day that other tools read, of exactly the times asked for."""

import csv

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pfscope.cli.main import main
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from tests.support.store_rows import at, operations, series, usage


@pytest.fixture
def data(tmp_path):
    """Three days, one of them cold, with ids that a spreadsheet would run."""
    odd = series(1)
    odd = odd.set_column(4, "entry_id", [["=cmd()"]])
    with open_store(tmp_path / "data", rules=Rules(settle_us=0, quiet_us=0)) as store:
        store.commit({"series": series(0), "operations": operations("read", "write")}, [])
        store.commit({"series": odd}, [])
        for day in range(3):
            store.commit({"usage_ost": usage(at(day, 1), at(day, 12), operation=1)}, [])
        store.commit({"usage_ost": usage(at(1, 2), series=1)}, [])
        store.maintain(at(1))
    return str(tmp_path / "data")


def files(out):
    return sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())


def test_everything_is_written_by_day(data, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["export", "--data", data, str(out)]) == 0
    assert files(out) == [
        "operations/part-0.parquet",
        "series/part-0.parquet",
        *(f"usage_ost/day=2022-10-{day}/part-0.parquet" for day in (27, 28, 29)),
    ]
    assert capsys.readouterr().out == f"11 rows in 5 files are in {out}\n"
    found = ds.dataset(out / "usage_ost", partitioning="hive").to_table()
    assert found.num_rows == 7
    assert pq.read_table(out / "series").num_rows == 2


@pytest.mark.parametrize(
    ("begin", "end", "count"),
    [
        ("2022-10-28", "2022-10-28", 3),
        ("2022-10-28", "2022-10-29", 5),
        ("2022-10-28T01:00", "2022-10-28T12:00", 2),
        ("2022-10-28T04:30+02:00", None, 3),
        (None, "2022-10-27T12:00:01", 2),
        ("2023-01-01", None, 0),
    ],
)
def test_the_times_are_exact(data, tmp_path, begin, end, count):
    limits = [a for name, v in (("--from", begin), ("--to", end)) if v for a in (name, v)]
    command = ["export", "--data", data, str(tmp_path / "out"), "--table", "usage_ost", *limits]
    assert main(command) == 0
    paths = list((tmp_path / "out").glob("usage_ost/*/*.parquet"))
    assert sum(pq.read_metadata(p).num_rows for p in paths) == count


def test_only_series_that_occur_are_written(data, tmp_path):
    out = tmp_path / "out"
    main(["export", "--data", data, str(out), "--from", "2022-10-29"])
    assert pq.read_table(out / "series").column("series").to_pylist() == [0]


def test_wide_rows_say_who_and_what(data, tmp_path):
    out = tmp_path / "out"
    main(["export", "--data", data, str(out), "--wide", "--table", "usage_ost"])
    assert files(out) == [f"usage_ost/day=2022-10-{d}/part-0.parquet" for d in (27, 28, 29)]
    rows = pq.read_table(out / "usage_ost" / "day=2022-10-28", partitioning=None).to_pylist()
    assert [(r["entry_id"], r["job"], r["node"], r["operation"], r["unit"]) for r in rows] == [
        ("=cmd()", "1", "r01c01", "read", "reqs"),
        ("0:1000:r01c01", "0", "r01c01", "write", "reqs"),
        ("0:1000:r01c01", "0", "r01c01", "write", "reqs"),
    ]


@pytest.mark.parametrize("wide", [[], ["--wide"]])
def test_csv_cells_are_no_formulas(data, tmp_path, wide):
    out = tmp_path / "out"
    assert main(["export", "--data", data, str(out), "--format", "csv", *wide]) == 0
    name = "usage_ost/day=2022-10-28/part-0.csv" if wide else "series/part-0.csv"
    with (out / name).open(newline="") as file:
        assert {row["entry_id"] for row in csv.DictReader(file)} == {"'=cmd()", "0:1000:r01c01"}


def test_a_directory_with_something_in_it_is_refused(data, tmp_path, capsys):
    assert main(["export", "--data", data, data]) == 1
    assert "is not empty" in capsys.readouterr().err
    (tmp_path / "file").write_text("x")
    assert main(["export", "--data", data, str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        ["--table", "nothing"],
        ["--from", "yesterday"],
        ["--from", "2022-10-28", "--to", "2022-10-27"],
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(data, tmp_path, capsys, wrong):
    assert main(["export", "--data", data, str(tmp_path / "out"), *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert files(tmp_path / "out") == []
