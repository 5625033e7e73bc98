"""The time of the store never runs backwards, and steps of a server's clock are told."""

from pfscope.frames import Origin
from pfscope.ingest.clock import ServerClock


def at(wall_s, monotonic_s, epoch="boot-1"):
    return Origin("oss1", epoch, 0, round(wall_s * 10**9), round(monotonic_s * 10**9))


def ticks(*origins):
    clock = ServerClock()
    return [(t.time_us / 1e6, t.step_us / 1e6) for t in map(clock.tick, origins)]


def test_a_steady_clock():
    assert ticks(at(1000, 50), at(1060, 110)) == [(1000, 0), (1060, 0)]


def test_slewing_is_no_step():
    assert ticks(at(1000, 50), at(1060.4, 110)) == [(1000, 0), (1060.4, 0)]


def test_a_step_forwards_is_told():
    assert ticks(at(1000, 50), at(1090, 110)) == [(1000, 0), (1090, 30)]


def test_a_small_step_backwards_shortens_an_interval():
    assert ticks(at(1000, 50), at(1030, 110)) == [(1000, 0), (1030, -30)]


def test_a_large_step_backwards_does_not_turn_time_round():
    told = ticks(at(1000, 50), at(700, 110), at(760, 170), at(820, 230))
    assert [time for time, _ in told] == [1000, 1060, 1120, 1180]
    assert [step for _, step in told] == [0, -360, 0, 0]


def test_a_late_frame_has_its_own_time():
    assert ticks(at(1060, 110), at(1000, 50), at(1120, 170)) == [(1060, 0), (1000, 0), (1120, 0)]


def test_after_a_reboot_the_wall_clock_is_believed():
    assert ticks(at(1000, 5000), at(1060, 10, "boot-2")) == [(1000, 0), (1060, 0)]


def test_texts_without_a_monotonic_clock():
    assert ticks(at(1000, 0, "a"), at(1060, 0, "b")) == [(1000, 0), (1060, 0)]
