"""The page of statistics takes hostile names for what they are, and an empty lake for empty."""

import pyarrow as pa
import pytest

import pfscope.mine
from pfscope.mine.lake import writing
from pfscope.mine.parts import Parts
from pfscope.mine.synth_rows import table
from pfscope.report.lake_page import lake_page
from pfscope.report.parallel import Quantity, parallel

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def lake(tmp_path):
    with writing(tmp_path / "lake") as made:
        parts = Parts(made.staging("x"), "x")
        parts.write("darshan_job", "2018-01-01", table("darshan_job", {
            "log": pa.array(["a" * 32]), "job_id": pa.array(["1"]),
            "start": pa.array([1514764800000000]),
            "executable": pa.array([HOSTILE]), "nprocs": pa.array([4]), "files": pa.array([1]),
            "bytes_read": pa.array([10]), "bytes_written": pa.array([0]),
            "partial": pa.array([True]),
        }))  # fmt: skip
        parts.close()
        made.commit("x")
    return tmp_path / "lake"


def test_hostile_names_are_text(lake):
    with pfscope.mine.open(lake) as miner:
        page = lake_page(miner)
    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;img src=x" in page
    assert "Neither LMT nor Slurm is in the lake" in page


def test_a_lake_without_logs_says_how_to_get_some(tmp_path):
    with writing(tmp_path / "empty"):
        pass
    with pfscope.mine.open(tmp_path / "empty") as miner:
        assert "pfscope logs import darshan" in lake_page(miner)


def test_lines_lie_where_their_values_are_and_unknown_ones_below():
    drawn = parallel(
        [
            Quantity("a", [0.0, 50.0, None], whole=(0.0, 100.0)),
            Quantity("b", [1, 10, 100], log=True),
        ],
        ["x", "x", "<y>"], "table", "what",
    )  # fmt: skip
    values = [part.partition('"')[0] for part in drawn.split('data-values="')[1:]]
    assert values == ["0.0000,0.0000", "0.5000,0.5000", ",1.0000"]
    assert "&lt;y&gt; (1)" in drawn
    assert "<y>" not in drawn
