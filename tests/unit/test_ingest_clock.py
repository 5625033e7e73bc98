"""The time of the store never runs backwards, and steps of a server's clock are told."""

from pfscope.frames import Origin
from pfscope.ingest.clock import ServerClock


def at(wall_s, monotonic_s, epoch="boot-1"):
    return Origin("oss1", epoch, 0, round(wall_s * 10**9), round(monotonic_s * 10**9))


def ticks(*origins, received_s=0):
    clock = ServerClock()
    told = [clock.tick(origin, round(received_s * 1e6)) for origin in origins]
    return [(t.time_us / 1e6, t.step_us / 1e6) for t in told]


def test_a_steady_clock():
    assert ticks(at(1000, 50), at(1060, 110)) == [(1000, 0), (1060, 0)]


def test_slewing_is_no_step():
    assert ticks(at(1000, 50), at(1060.4, 110)) == [(1000, 0), (1060.4, 0)]


def test_after_a_step_time_goes_on_as_before():
    told = ticks(at(1000, 50), at(4060, 110), at(4120, 170), at(1180, 230))
    assert told == [(1000, 0), (1060, 3000), (1120, 0), (1180, -3000)]


def test_a_step_backwards_does_not_turn_time_round():
    told = ticks(at(1000, 50), at(700, 110), at(760, 170))
    assert told == [(1000, 0), (1060, -360), (1120, 0)]


def test_a_clock_that_was_put_right_is_believed():
    told = ticks(at(1000, 50), at(5060, 110), at(5120, 170), received_s=5061)
    assert told == [(1000, 0), (5060, 4000), (5120, 0)]


def test_a_clock_put_right_backwards_never_turns_time_round():
    told = ticks(at(5000, 50), at(1060, 110), received_s=1061)
    assert [time > 5000 for time, _ in told] == [False, True]


def test_a_late_frame_has_its_own_time():
    assert ticks(at(1060, 110), at(1000, 50), at(1120, 170)) == [(1060, 0), (1000, 0), (1120, 0)]


def test_a_new_start_of_the_agent_is_the_same_clock():
    told = ticks(at(1000, 50, "boot-1.aaaa"), at(1360, 110, "boot-1.bbbb"))
    assert told == [(1000, 0), (1060, 300)]


def test_after_a_reboot_the_wall_clock_is_believed():
    assert ticks(at(1000, 5000), at(1060, 10, "boot-2")) == [(1000, 0), (1060, 0)]


def test_after_a_reboot_into_the_past_time_goes_on():
    told = ticks(at(1000, 5000), at(940, 10, "boot-2"), at(1000, 70, "boot-2"))
    assert [round(time) for time, _ in told] == [1000, 1000, 1060]
    assert [time for time, _ in told] == sorted(time for time, _ in told)


def test_a_late_frame_of_an_earlier_boot_has_its_own_time():
    told = ticks(at(1000, 5000), at(1060, 10, "boot-2"), at(990, 4990), at(1120, 70, "boot-2"))
    assert told == [(1000, 0), (1060, 0), (990, 0), (1120, 0)]


def test_texts_without_a_monotonic_clock():
    assert ticks(at(1000, 0, "a"), at(1060, 0, "b")) == [(1000, 0), (1060, 0)]
