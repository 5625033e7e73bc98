"""Frames come to the ingest in the order in which they were made, as far as waiting helps."""

import pytest

from pfscope.frames import Frame, Origin
from pfscope.ingest.clock import ServerClock
from pfscope.ingest.order import Sequencer

STARTS = {"boot-0": 0, "boot-1": 1000}


def frame(sequence, epoch="boot-1", server="oss1", interval_s=60.0):
    wall_s = STARTS.get(epoch, 0) + 60 * sequence
    return Frame(Origin(server, epoch, sequence, wall_s * 10**9, 0, interval_s), (), {}, b"")


def add(order, *sequences, now=0.0, **which):
    for sequence in sequences:
        order.add(frame(sequence, **which), now)


def taken(order, now=0.0):
    return [f.origin.sequence for f, _ in order.ready(now)]


def test_in_order_nothing_waits():
    order = Sequencer()
    for sequence in range(3):
        add(order, sequence)
        assert taken(order) == [sequence]


@pytest.mark.parametrize("arrival", [(1, 0, 2), (2, 1, 0), (0, 2, 1), (2, 0, 1)])
def test_reordered_frames_are_put_in_order(arrival):
    order = Sequencer()
    released = []
    for sequence in arrival:
        add(order, sequence)
        released += taken(order)
    assert released == [0, 1, 2]
    assert list(order.held()) == []


def test_a_gap_is_waited_for_and_not_for_ever():
    order = Sequencer(wait_s=30)
    add(order, 0, 2)
    assert taken(order, 29) == [0]
    assert [f.origin.sequence for f in order.held()] == [2]
    assert taken(order, 31) == [2]
    add(order, 1, now=40)
    assert taken(order, 40) == [1]


def test_waiting_goes_on_while_older_frames_come():
    order = Sequencer(wait_s=30)
    add(order, 0, 9)
    for sequence in range(1, 9):
        add(order, sequence, now=20.0 * sequence)
        released = taken(order, 20.0 * sequence)
        assert released == ([0, 1] if sequence == 1 else [8, 9] if sequence == 8 else [sequence])


def test_a_new_epoch_waits_for_the_backlog_of_the_one_before():
    order = Sequencer(wait_s=30)
    add(order, 0, epoch="boot-0")
    assert taken(order) == [0]
    add(order, 0, epoch="boot-1", now=10)
    add(order, 1, 2, epoch="boot-0", now=20)
    assert taken(order, 20) == [1, 2]
    assert taken(order, 51) == [0]


def test_a_clock_that_is_stepped_back_changes_no_order():
    order = Sequencer()
    stepped = []
    for one in map(frame, range(6)):
        back_s = 500 if one.origin.sequence > 2 else 0
        origin = one.origin._replace(wall_ns=one.origin.wall_ns + (9000 - back_s) * 10**9)
        stepped.append(one._replace(origin=origin))
    for one in stepped:
        order.add(one, 0.0)
    assert taken(order) == [0, 1, 2, 3, 4, 5]
    order.add(frame(6), 0.0)
    assert taken(order) == [6]


def test_servers_do_not_wait_for_each_other():
    order = Sequencer()
    add(order, 0, 2, server="oss1")
    add(order, 0, server="oss2")
    assert taken(order) == [0, 0]


def test_texts_and_dumps_have_no_gaps():
    order = Sequencer()
    add(order, 1_666_828_800, 1_666_828_920, epoch="dump", interval_s=0.0)
    assert taken(order) == [1_666_828_800, 1_666_828_920]


def test_after_a_restart_the_order_goes_on():
    order = Sequencer()
    order.resume(frame(41).origin, ServerClock())
    add(order, 43)
    assert taken(order) == []
    add(order, 42)
    assert taken(order) == [42, 43]
