"""What waits to be sent: in order, later and later, never for ever; and what survives on disk."""

import logging

import pytest

from pfscope.config import parse_config
from pfscope.errors import InputError
from pfscope.watch.alerts.delivery import GIVE_UP_US, Outbox
from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.listing import COLUMNS, overview
from pfscope.watch.alerts.rules import MINUTE_US
from pfscope.watch.model import Severity, State
from tests.support import alert_world as world
from tests.support.query_store import T2, make_store


def story():
    """Return what is told of an incident: that it fires, twice that it goes on, that it is over."""
    rules = [world.rule(repeat_us=MINUTE_US, keep_firing_for_us=0)]
    engine, told = Engine(rules), []
    for minute, state in enumerate([State.ONGOING] * 3 + [State.ENDED]):
        told += engine.advance(world.at(minute), on_incidents(rules, [world.incident(state)]))
    return told


def sent(outbox, now_us):
    """Send all that is due and return what kinds it was."""
    kinds = []
    while delivery := outbox.next_due("ops", now_us)[0]:
        outbox.sent(delivery)
        kinds.append(delivery.notification.kind.value)
    return kinds


def test_what_waits_leaves_in_order_and_without_old_repeats():
    outbox = Outbox()
    for notification in story()[:3]:
        outbox.add(notification, world.at(0))
    assert len(outbox) == 2
    outbox.add(story()[3], world.at(0))
    assert sent(outbox, world.at(0)) == ["firing", "resolved"]


def test_an_end_never_overtakes_its_beginning():
    outbox = Outbox()
    outbox.add(story()[0], world.at(0))
    outbox.failed(outbox.next_due("ops", world.at(0))[0], "broken", world.at(0))
    outbox.add(story()[3], world.at(0))
    assert outbox.next_due("ops", world.at(0)) == (None, world.at(0) + 5_000_000)
    assert sent(outbox, world.at(1)) == ["firing", "resolved"]


def test_pauses_grow_to_a_quarter_of_an_hour_and_then_it_is_given_up():
    outbox, now_us, pauses = Outbox(), world.at(0), []
    outbox.add(story()[0], now_us)
    while delivery := outbox.next_due("ops", now_us)[0]:
        if (again := outbox.failed(delivery, "broken", now_us)) is None:
            break
        pauses.append((again.due_us - now_us) // 1_000_000)
        now_us = again.due_us
    assert pauses[:9] == [5, 10, 20, 40, 80, 160, 320, 640, 900]
    assert set(pauses[8:]) == {900}
    assert now_us - world.at(0) > GIVE_UP_US
    assert len(outbox) == 0


@pytest.fixture
def clock():
    return world.Clock()


def test_a_receiver_that_is_back_hears_of_all(tmp_path, clock):
    ops = world.Receiver()
    alerting = world.alerting(tmp_path, [world.rule(keep_firing_for_us=0)], clock, ops=ops)
    ops.broken = "out of order"
    alerting.advance([world.incident()])
    assert alerting.deliver() == 0
    assert overview(tmp_path)["trouble"] == {"notify ops": "out of order"}
    assert overview(tmp_path)["waiting"] == 1
    ops.broken = ""
    clock.now_us += MINUTE_US
    alerting.advance([world.incident(State.ENDED)])
    assert alerting.deliver() == 2
    assert ops.kinds == ["firing", "resolved"]
    assert overview(tmp_path)["trouble"] == {}
    alerting.close()


class Faulty:
    """A notifier with a mistake in it."""

    def send(self, message):
        raise ZeroDivisionError(message.subject)


def test_a_fault_in_a_notifier_is_told_and_stops_nobody(tmp_path, clock, caplog):
    ops = world.Receiver()
    rules = [world.rule(notify=("bad", "ops"))]
    alerting = world.alerting(tmp_path, rules, clock, bad=Faulty(), ops=ops)
    alerting.advance([world.incident()])
    with caplog.at_level(logging.ERROR):
        assert alerting.deliver() == 1
    assert "ZeroDivisionError" in caplog.text
    assert alerting.trouble == {"notify bad": "a fault of pfscope: ZeroDivisionError"}
    alerting.close()


def test_a_full_disk_keeps_nobody_from_being_told(tmp_path, clock):
    ops = world.Receiver()
    alerting = world.alerting(tmp_path, [world.rule()], clock, ops=ops)

    def no_room(_plain):
        raise OSError(28, "No space left on device")

    alerting._file.write = no_room
    alerting.advance([world.incident()])
    assert alerting.deliver() == 1
    assert "No space" in alerting.trouble["disk"]
    world.crash(alerting)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"version": 1}', b"[" * 100_000, b"\xff",
     b'{"version": 1, "engine": {"alerts": [{}], "groups": []}, "outbox": []}',
     b'{"version": 1, "engine": {"alerts": [], "groups": []}, "outbox": [3]}'],
)  # fmt: skip
def test_a_damaged_state_is_set_aside_and_alerts_go_on(tmp_path, clock, content):
    path = tmp_path / "alerts" / "state.json"
    path.parent.mkdir()
    path.write_bytes(content)
    ops = world.Receiver()
    alerting = world.alerting(tmp_path, [world.rule()], clock, ops=ops)
    alerting.advance([world.incident()])
    alerting.deliver()
    alerting.close()
    assert ops.kinds == ["firing"]
    assert path.with_name("state.json.damaged").read_bytes() == content


def test_a_state_of_another_version_is_left_alone(tmp_path, clock):
    path = tmp_path / "alerts" / "state.json"
    path.parent.mkdir()
    path.write_bytes(b'{"version": 9}')
    with pytest.raises(InputError, match="another version"):
        world.alerting(tmp_path, [world.rule()], clock)
    assert path.read_bytes() == b'{"version": 9}'


def test_what_is_for_a_channel_that_is_gone_is_dropped(tmp_path, clock):
    broken = world.Receiver()
    broken.broken = "out of order"
    alerting = world.alerting(tmp_path, [world.rule()], clock, ops=broken)
    alerting.advance([world.incident()])
    alerting.close()
    alerting = world.alerting(tmp_path, [], clock)
    assert alerting.waiting == 0
    alerting.close()


def test_a_step_without_news_writes_nothing(tmp_path, clock):
    alerting = world.alerting(tmp_path, [world.rule()], clock)
    alerting.advance([])
    before = (tmp_path / "alerts" / "state.json").stat().st_ino
    clock.now_us += MINUTE_US
    alerting.advance([])
    assert (tmp_path / "alerts" / "state.json").stat().st_ino == before
    alerting.close()


def test_a_silence_that_is_made_meanwhile_counts_at_the_next_step(tmp_path, clock):
    alerting = world.alerting(tmp_path, [world.rule(repeat_us=MINUTE_US)], clock)
    assert len(alerting.advance([world.incident()])) == 1
    alerting.silences.add(
        {"rule": ("storm",)}, author="anna", comment="known",
        start_us=world.at(0), end_us=world.at(60),
    )  # fmt: skip
    clock.now_us += MINUTE_US
    assert alerting.advance([world.incident()]) == []
    (row,) = overview(tmp_path)["alerts"]
    assert row["muted"].startswith("silence ")
    alerting.close()


def test_the_list_shows_every_alert(tmp_path, clock):
    alerting = world.alerting(tmp_path, [world.rule()], clock)
    alerting.advance([world.incident(severity=Severity.CRITICAL)])
    (row,) = overview(tmp_path)["alerts"]
    assert tuple(row) == COLUMNS
    assert row["what"] == "metadata storm on scratch: open, close at scratch-MDT0000"
    assert (row["state"], row["severity"], row["muted"]) == ("firing", "critical", None)
    alerting.close()


def test_thresholds_are_asked_as_often_as_they_say(tmp_path, clock):
    text = (
        '[alert.busy]\nquery = "top --by user --operation open"\ncolumn = "rate_mean"\n'
        'above = 1\nevery = "5m"\nstale = "1h"\nnotify = "ops"\n'
        "[notify.ops]\ntype = 'journal'\n"
    )
    asked = []

    class Counting:
        def __init__(self, inner):
            self.inner = inner

        def ask(self, name, **words):
            asked.append(name)
            return self.inner.ask(name, **words)

    import pfscope

    clock.now_us = T2
    alerting = world.alerting(tmp_path / "a", parse_config(text, "x").alerts.rules, clock)
    with pfscope.open(make_store(tmp_path / "store")) as data:
        for _ in range(11):
            alerting.advance(data=Counting(data))
            clock.now_us += MINUTE_US
    assert asked == ["top"] * 3
    (row,) = overview(tmp_path / "a")["alerts"]
    assert row["what"].startswith("user 1001: rate_mean is")
    alerting.close()
