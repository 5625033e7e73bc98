"""Trouble in the log: told when it begins, now and then while it lasts, and when it is over."""

import logging

import pytest

from pfscope.server.trouble import Trouble
from pfscope.store.protocol import StoreError


class World:
    """A trouble with a clock of its own, and what was said of it."""

    def __init__(self, caplog):
        self.now_s = 1000.0
        self.trouble = Trouble("journal", lambda: self.now_s)
        self._caplog = caplog

    def said(self):
        said = [record.getMessage() for record in self._caplog.records]
        self._caplog.clear()
        return said


@pytest.fixture
def world(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("pfscope.server"), "propagate", True)
    caplog.set_level(logging.INFO, "pfscope.server")
    return World(caplog)


def test_it_is_told_once_and_so_is_its_end(world):
    for _ in range(1000):
        world.trouble.met("the disk is full")
        world.now_s += 0.1
    assert world.trouble.reason == "the disk is full"
    world.trouble.over()
    assert world.trouble.reason == ""
    assert world.said() == [
        "journal: the disk is full",
        "journal: works again after 100 s",
    ]


def test_what_works_says_nothing(world):
    world.trouble.over()
    assert world.said() == []


def test_trouble_that_lasts_is_recalled_a_few_times_an_hour(world):
    for _ in range(3600):
        world.trouble.met("the disk is full")
        world.now_s += 1
    assert 2 < len(world.said()) < 10


def test_trouble_that_comes_and_goes_makes_no_flood(world):
    for _ in range(3600):
        world.trouble.met("the disk is full")
        world.trouble.over()
        world.now_s += 0.1
    assert len(world.said()) <= 2 * 360 / 30


def test_another_kind_of_trouble_is_told_soon(world):
    world.trouble.met("the disk is full")
    for _ in range(100):
        world.now_s += 1
        world.trouble.met("Input/output error")
    assert world.said() == ["journal: the disk is full", "journal: Input/output error"]


@pytest.mark.parametrize(
    ("error", "has_traceback"),
    [(StoreError("full"), False), (OSError(28, "full"), False), (ZeroDivisionError(), True)],
)
def test_only_a_fault_of_the_program_shows_its_traceback(world, caplog, error, has_traceback):
    world.trouble.failed(error)
    (record,) = caplog.records
    assert bool(record.exc_info) is has_traceback
    assert world.trouble.reason == (str(error) or "ZeroDivisionError")
