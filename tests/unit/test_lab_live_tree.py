"""The live tree: whole files at their places, gone when they are gone, at the right pace."""

import dataclasses
from pathlib import Path

import pytest

from pfscope.errors import InputError
from pfscope.lab.dialects import DIALECTS
from pfscope.lab.live import LiveTree, Pace, keep_going
from pfscope.lab.text import server_files
from tests.support.lab_snapshots import server_snapshot


@pytest.mark.parametrize("name", DIALECTS)
def test_the_tree_has_every_file_and_no_other(tmp_path: Path, name: str) -> None:
    snapshot = server_snapshot(DIALECTS[name], "ost")
    LiveTree(tmp_path).show(snapshot)
    expected = {f.path: f.value for f in server_files(snapshot.dialect, snapshot)}
    root = tmp_path / "oss1"
    found = {f"/{p.relative_to(root)}": p.read_bytes() for p in root.rglob("*") if p.is_file()}
    lctl = found.pop("/bin/lctl")
    assert found == expected
    assert lctl.startswith(b"#!")


def test_a_target_that_left_takes_its_directory_with_it(tmp_path: Path) -> None:
    snapshot = server_snapshot(DIALECTS["2.12"], "ost")
    tree = LiveTree(tmp_path)
    tree.show(snapshot)
    folder = tmp_path / "oss1/proc/fs/lustre/obdfilter"
    assert len(list(folder.iterdir())) == 2
    failed_over = {"tables": snapshot.tables[:1], "totals": snapshot.totals[:1]}
    tree.show(dataclasses.replace(snapshot, **failed_over))
    assert [p.name for p in folder.iterdir()] == [snapshot.tables[0].target]


def test_a_reader_keeps_the_file_that_it_opened(tmp_path: Path) -> None:
    snapshot = server_snapshot(DIALECTS["2.12"], "ost")
    tree = LiveTree(tmp_path)
    tree.show(snapshot)
    path = tmp_path / "oss1/proc/fs/lustre/obdfilter/scratch-OST0000/job_stats"
    before = path.read_bytes()
    with path.open("rb") as reader:
        idle = [dataclasses.replace(snapshot.tables[1], target="scratch-OST0000")]
        tree.show(dataclasses.replace(snapshot, tables=idle, totals=snapshot.totals[:1]))
        assert reader.read() == before
    assert path.read_bytes() == b"job_stats:\n"


def test_a_directory_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "oss1").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write .*oss1"):
        LiveTree(tmp_path).show(server_snapshot(DIALECTS["2.12"], "ost"))


class Wall:
    """A clock that moves when somebody waits, and a stop after so many waits."""

    def __init__(self, waits: int = 1000) -> None:
        self.now = 0.0
        self.waited: list[float] = []
        self.waits = waits

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0.0)
        self.now += timeout or 0.0
        return len(self.waited) > self.waits

    def clock(self) -> float:
        return self.now


def test_simulated_minutes_pass_in_real_seconds(tmp_path: Path) -> None:
    wall, late = Wall(), []
    steps = [[server_snapshot(DIALECTS["2.12"], "ost")]] * 3
    pace = Pace(step_s=60, speed=30)
    shown = keep_going(
        LiveTree(tmp_path), steps, pace, wall, clock=wall.clock, told=lambda _, s: late.append(s)
    )
    assert (shown, wall.waited, late) == (3, [0.0, 2.0, 2.0], [0.0, 0.0, 0.0])


def test_a_slow_step_does_not_delay_the_ones_after_it(tmp_path: Path) -> None:
    wall, late = Wall(), []

    def told(_step: object, late_s: float) -> None:
        late.append(late_s)
        wall.now += 1.5 if len(late) == 1 else 0.0

    steps = [[server_snapshot(DIALECTS["2.12"], "ost")]] * 4
    keep_going(LiveTree(tmp_path), steps, Pace(1), wall, clock=wall.clock, told=told)
    assert late == [0.0, 0.5, 0.0, 0.0]


def test_a_stop_ends_the_run_between_two_steps(tmp_path: Path) -> None:
    wall = Wall(waits=2)
    endless = iter(lambda: [server_snapshot(DIALECTS["2.12"], "ost")], None)
    assert keep_going(LiveTree(tmp_path), endless, Pace(1), wall, clock=wall.clock) == 2
