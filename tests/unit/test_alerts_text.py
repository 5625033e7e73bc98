"""What people read: all that matters, and nothing that users wrote gets out of its place."""

import json
import re

import pytest

from pfscope.errors import UsageError
from pfscope.watch.alerts.documents import document
from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.model import Alert, Notification, Phase, Seen
from pfscope.watch.alerts.notifiers.alertmanager import Alertmanager, _labels
from pfscope.watch.alerts.notifiers.command import Command
from pfscope.watch.alerts.notifiers.journal import entry
from pfscope.watch.alerts.notifiers.mail import Mail
from pfscope.watch.alerts.notifiers.slack import slack_text
from pfscope.watch.alerts.notifiers.syslog import local_line, network_line
from pfscope.watch.alerts.notifiers.webhook import signature
from pfscope.watch.alerts.rules import OnIncidents
from pfscope.watch.alerts.templates import Templates, render
from pfscope.watch.model import Advice, Cause, State
from tests.support import alert_world as world

GOLDEN = """\
metadata storm on scratch: open, close at scratch-MDT0000
  rule:       storm (warning), firing
  since:      2022-10-27T00:00:00Z
  how much:   19.2 k/s against 370 /s as usual, 52 times
  who:        user 12748318, job 11302088, executable wget: 87% of the increase
  how sure:   93%
  evidence:   latency: 3 times as usual
  what to do: look at the job
    scontrol hold 11302088
  for users:  open files once
  look at:    https://docs.example.org/storms
"""


def notification(*incidents, rule=None):
    rules = [rule or world.rule(group_by=("rule",))]
    (told,) = Engine(rules).advance(world.at(1), on_incidents(rules, incidents))
    return told


def message(*incidents, templates=Templates(), **more):  # noqa: B008 - frozen
    return render(notification(*(incidents or [world.incident(**more)])), templates)


def hostile():
    bad = world.HOSTILE
    return world.incident(
        id=bad, kind=bad, filesystem=bad, targets=(bad,), operations=(bad,),
        causes=(Cause(bad, bad, bad, bad, 1.0, 1.0),), evidence=((bad, bad),),
        advice=Advice(bad, bad, (bad,), bad),
    )  # fmt: skip


def test_a_message_tells_all_that_matters():
    told = message()
    assert told.text == GOLDEN
    assert told.subject == (
        "[pfscope] FIRING: metadata storm on scratch: open, close at scratch-MDT0000; "
        "user 12748318, job 11302088, executable wget (87%)"
    )


def test_without_a_cause_it_says_so_and_leaves_out_what_is_not_known():
    told = message(causes=(), evidence=(), advice=Advice("", ""))
    assert "who:        no single cause is known" in told.text
    for absent in ("how sure", "evidence", "what to do", "for users", "look at"):
        assert absent not in told.text
    assert told.subject.endswith("at scratch-MDT0000")


def test_several_alerts_are_told_together():
    told = message(*(world.incident(id=f"i{n}") for n in range(30)))
    assert told.subject.startswith("[pfscope] FIRING (30): ")
    assert told.text.count("metadata storm") == 20
    assert "and 10 more" in told.text


def test_numbers_that_are_none_can_be_told():
    told = message(ratio=float("inf"), baseline=0.0, peak=float("nan"))
    assert "an unknown amount against 0 /s as usual\n" in told.text
    json.loads(document(told), parse_constant=pytest.fail)


def test_bytes_are_called_bytes():
    assert "19.2 kB/s" in message(operations=("read_bytes",)).text


def test_own_words_and_a_link():
    words = Templates("$severity $count $$", "$who\n$how_much", "https://x.example/i/$id")
    told = message(templates=words, id="a/b?<c>")
    assert told.subject == "warning 1 $"
    assert told.link == "https://x.example/i/a%2Fb%3F%3Cc%3E"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"subject": "$whoo"}, r"no field \$whoo; there are state"),
        ({"text": "$"}, r"write \$name"),
        ({"link": "https://x/$what"}, r"no field \$what; there are id"),
    ],
)
def test_templates_that_make_no_sense(words, said):
    with pytest.raises(UsageError, match=said):
        Templates(**words)


def test_hostile_names_cannot_leave_their_line_in_any_text():
    told = message(hostile())
    assert told.subject.isprintable()
    assert len(told.text.splitlines()) == len(GOLDEN.splitlines())
    assert all(line.isprintable() for line in told.text.splitlines())
    assert "x\\x0D\\x0ABcc" in told.text


def test_hostile_names_add_no_header_to_a_mail():
    mail = Mail(("ops@example.org",), "pfscope@example.org").mail(message(hostile()))
    lines = mail.as_bytes().split(b"\r\n\r\n")[0].split(b"\r\n")
    names = [line.split(b":")[0].decode() for line in lines if not line[:1].isspace()]
    assert names == ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
                     "X-Pfscope-Key", "Content-Type", "Content-Transfer-Encoding",
                     "MIME-Version"]  # fmt: skip
    assert mail["Bcc"] is None


def test_hostile_names_mention_nobody_in_slack():
    text = slack_text(message(hostile()))
    head, opening, *body, closing = text.split("\n")
    assert re.fullmatch(r"`[^`]+`", head)
    assert (opening, closing) == ("```", "```")
    assert "`" not in "\n".join(body)
    assert "<" not in text
    assert ">" not in text


def test_hostile_names_are_one_line_in_syslog():
    for line in (local_line(message(hostile())), network_line(message(hostile()))):
        assert line.decode().isprintable()
        assert line.startswith(b"<28>")
        assert len(line) < 2000


def test_hostile_names_add_no_field_to_the_journal():
    raw, fields = entry(message(hostile())), {}
    while raw:
        name, _, raw = raw.partition(b"\n")
        size = int.from_bytes(raw[:8], "little")
        fields[name.decode()], raw = raw[8 : 8 + size], raw[9 + size :]
    assert set(fields) == {"MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "PFSCOPE_KEY",
                           "PFSCOPE_GROUP", "PFSCOPE_KIND", "PFSCOPE_TEXT"}  # fmt: skip
    assert fields["PRIORITY"] == b"4"


def test_labels_for_the_alertmanager_stay_while_an_incident_changes():
    rules = [world.rule(labels={"team": "storage"})]
    engine = Engine(rules)
    (first,) = engine.advance(world.at(0), on_incidents(rules, [world.incident()]))
    changed = world.incident(State.ENDED, kind="small_files", causes=(), targets=("a", "b"))
    engine.advance(world.at(1), on_incidents(rules, [changed]))
    (last,) = engine.advance(world.at(9), on_incidents(rules, [changed]))
    assert last.kind.value == "resolved"
    labels = _labels(first.alerts[0])
    assert _labels(last.alerts[0]) == labels
    assert labels["alertname"] == "storm"
    assert labels["team"] == "storage"
    assert labels["user"] == "12748318"


def test_an_end_that_is_told_to_the_alertmanager():
    sender, told = Alertmanager("http://x"), message()
    going = sender._alert(told.notification.alerts[0], told)
    assert going["endsAt"] == "2022-10-28T00:01:00Z"
    over = render(notification(world.incident()), Templates()).notification.alerts[0]
    ended = Alert(**{n: getattr(over, n) for n in Alert.__slots__} | {
        "phase": Phase.RESOLVED, "ended_us": world.at(5)})  # fmt: skip
    assert sender._alert(ended, told)["endsAt"] == "2022-10-27T00:05:00Z"


def test_a_document_is_the_same_whenever_it_is_written():
    told = message()
    again = Notification.from_json(world.as_stored(told.notification.as_json()))
    assert document(render(again, Templates())) == document(told)
    plain = json.loads(document(told))
    assert plain["alerts"][0]["incident"]["causes"][0]["user"] == "12748318"
    assert plain["key"] == f"{plain['group']}-0"


def test_the_signature_is_the_hmac():
    # RFC 4231, test case 2.
    assert signature("Jefe", b"what do ya want for nothing?") == (
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


def test_an_alert_comes_back_from_json_as_it_was():
    (alert,) = message(hostile()).notification.alerts
    assert Alert.from_json(world.as_stored(alert.as_json())) == alert
    assert (alert.seen, alert.known) == (Seen.ACTIVE, Seen.ACTIVE)


def test_filters_choose_by_any_value():
    fitting = OnIncidents("warning", {"target": ("*-OST*",), "user": ("127*",)})
    rules = [world.rule(on=fitting)]
    incidents = [world.incident(targets=("scratch-MDT0000", "scratch-OST0001")),
                 world.incident(id="i2"), world.incident(id="i3", causes=())]  # fmt: skip
    (told,) = Engine(rules).advance(0, on_incidents(rules, incidents))
    assert [alert.instance for alert in told.alerts] == ["i1"]


def test_a_command_takes_no_nonsense():
    with pytest.raises(UsageError, match="argv"):
        Command(())
