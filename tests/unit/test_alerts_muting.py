"""Silences and inhibition: what is kept quiet, for how long, and what is told all the same."""

import json

import pytest

from pfscope.errors import InputError, UsageError
from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.rules import Inhibition, OnIncidents, circle
from pfscope.watch.alerts.silences import Silence, SilenceFile, read_matchers
from pfscope.watch.model import Cause, State
from tests.support import alert_world as world

DEAD = world.rule(
    "dead", on=OnIncidents("info", {"kind": ("server_down",)}), keep_firing_for_us=0,
    inhibits=Inhibition(("slow*",), ("filesystem",)),
)  # fmt: skip
SLOW = world.rule("slow", on=OnIncidents("info", {"kind": ("slow",)}), keep_firing_for_us=0)


def down(state=State.ONGOING, filesystem="scratch"):
    return world.incident(state, id=f"d-{filesystem}", kind="server_down", filesystem=filesystem)


def slow(state=State.ONGOING):
    return world.incident(state, id="s", kind="slow")


def told(engine, minute, incidents, silences=()):
    seen = on_incidents([DEAD, SLOW], incidents)
    due = engine.advance(world.at(minute), seen, silences)
    return [(n.alerts[0].rule, n.kind.value) for n in due]


def test_a_dead_server_mutes_its_symptoms_until_it_is_back():
    engine = Engine([DEAD, SLOW])
    assert told(engine, 0, [slow(), down()]) == [("dead", "firing")]
    assert list(engine.muted.values()) == ["rule dead"]
    assert told(engine, 1, [slow(), down(State.UNKNOWN)]) == []
    assert told(engine, 2, [slow(), down(State.ENDED)]) == [
        ("dead", "resolved"),
        ("slow", "firing"),
    ]


def test_symptoms_that_end_meanwhile_are_never_told():
    engine = Engine([DEAD, SLOW])
    told(engine, 0, [slow(), down()])
    assert told(engine, 1, [slow(State.ENDED), down()]) == []
    assert told(engine, 2, [down(State.ENDED)]) == [("dead", "resolved")]


def test_another_file_system_is_not_muted():
    engine = Engine([DEAD, SLOW])
    assert ("slow", "firing") in told(engine, 0, [slow(), down(filesystem="home")])


def test_whoever_heard_of_the_beginning_hears_of_the_end():
    engine = Engine([DEAD, SLOW])
    told(engine, 0, [slow()])
    told(engine, 1, [slow(), down()])
    assert told(engine, 2, [slow(State.ENDED), down()]) == [("slow", "resolved")]


def test_rules_that_mute_each_other_are_found():
    back = world.rule("slow", inhibits=Inhibition(("de*",)))
    assert circle([DEAD, SLOW]) == []
    assert circle([DEAD, back]) == ["dead", "slow"]
    assert circle([world.rule("all", inhibits=Inhibition(("*",))), SLOW]) == []


def silence(start, end, **matchers):
    fitting = {label: (glob,) for label, glob in matchers.items()}
    return Silence("x", "anna", "known", world.at(start), world.at(end), fitting)


def test_a_silence_lasts_as_long_as_it_says():
    engine, quiet = Engine([DEAD, SLOW]), [silence(0, 10, rule="slow", target="*-MDT*")]
    assert told(engine, 0, [slow()], quiet) == []
    assert list(engine.muted.values()) == ["silence x"]
    assert told(engine, 9, [slow()], quiet) == []
    assert told(engine, 10, [slow()], quiet) == [("slow", "firing")]


def test_all_matchers_of_a_silence_must_fit():
    engine, quiet = Engine([DEAD, SLOW]), [silence(0, 10, rule="slow", filesystem="home")]
    assert told(engine, 0, [slow()], quiet) == [("slow", "firing")]


def test_nobody_hides_behind_a_silence_for_somebody_else():
    causes = (Cause("666", None, None, None, 0.9, 1.0), Cause("backup", None, None, None, 0.1, 1.0))
    engine, quiet = Engine([SLOW]), [silence(0, 10, user="backup")]
    assert told(engine, 0, [world.incident(kind="slow", causes=causes)], quiet) != []
    two_in_one = (Cause("666,backup", None, None, None, 1.0, 1.0),)
    assert told(Engine([SLOW]), 0, [world.incident(kind="slow", causes=two_in_one)], quiet) != []


def add(file, **more):
    told = {"author": "anna", "comment": "disks", "start_us": world.at(0), "end_us": world.at(10)}
    return file.add(read_matchers(["rule=slow"]), **told | more)


def test_silences_are_kept_and_expired(tmp_path):
    file, reader = SilenceFile(tmp_path), SilenceFile(tmp_path)
    assert reader.current() == ()
    made = add(file)
    assert reader.current() == (made,)
    file.expire(made.id, world.at(5))
    assert not reader.current()[0].is_active(world.at(5))
    assert reader.current()[0].comment == "disks"
    with pytest.raises(UsageError, match="no silence"):
        file.expire(made.id, world.at(6))
    assert file.path.stat().st_mode & 0o077 == 0


def test_old_silences_are_forgotten(tmp_path):
    file = SilenceFile(tmp_path)
    add(file)
    later = add(file, start_us=world.at(20 * 1440), end_us=world.at(21 * 1440))
    assert file.read() == (later,)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"silences": [{}]}', b"[" * 100_000, b"\xff"]
)
def test_a_damaged_file_silences_nothing_and_is_told(tmp_path, content):
    said = []
    file = SilenceFile(tmp_path, said.append)
    file.path.write_bytes(content)
    assert file.current() == ()
    assert len(said) == 1
    with pytest.raises(InputError, match="does not hold silences"):
        add(file)
    assert file.path.read_bytes() == content


def test_a_silence_without_matchers_in_the_file_counts_for_nothing(tmp_path):
    file = SilenceFile(tmp_path)
    add(file)
    plain = json.loads(file.path.read_text())
    plain["silences"][0]["matchers"] = {}
    file.path.write_text(json.dumps(plain))
    assert file.current() == ()


@pytest.mark.parametrize(
    ("matchers", "more", "said"),
    [
        (["rule"], {}, "LABEL=GLOB"),
        (["rule="], {}, "LABEL=GLOB"),
        (["Rule=x"], {}, "LABEL=GLOB"),
        (["rule=*"], {}, "everything"),
        (["rule=x"], {"comment": " "}, "comment"),
        (["rule=x"], {"author": ""}, "author"),
        (["rule=x"], {"end_us": world.at(0)}, "ends after"),
    ],
)
def test_silences_that_make_no_sense(tmp_path, matchers, more, said):
    told = {"author": "a", "comment": "c", "start_us": world.at(0), "end_us": world.at(1)}
    with pytest.raises(UsageError, match=said):
        SilenceFile(tmp_path).add(read_matchers(matchers), **told | more)
