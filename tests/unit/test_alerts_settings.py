"""The tables of rules and notifiers: what they mean, and how mistakes are told."""

import pytest

from pfscope.config import parse_config
from pfscope.errors import UsageError
from pfscope.watch.alerts.notifiers import NOTIFIERS
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.notifiers.secret import Secret
from pfscope.watch.alerts.rules import MINUTE_US, Inhibition, OnIncidents

EXAMPLE = """
[alert.storm]
on = "incidents"
severity = "warning"
kind = ["metadata*", "small_files"]
notify = ["ops-mail", "chat"]
group_by = "filesystem"
repeat = 0
inhibits = {rules = ["busy"]}
labels = {team = "storage"}

[alert.busy]
query = "top --by user,job --operation metadata --from -10m --filesystem 'scratch*'"
column = "rate_mean"
above = 5000
for = "2m"
labels = {severity = "critical"}
flapping = {changes = 4, window = "30m"}

[notify.ops-mail]
type = "mail"
from = "pfscope@example.org"
to = "ops@example.org"
user = "pfscope"
password_file = "/etc/pfscope/mail"
subject = "$what"

[notify.chat]
type = "slack"
url_env = "CHAT"
timeout = "3s"
"""


def test_an_example_means_what_it_says():
    alerts = parse_config(EXAMPLE, "x").alerts
    storm, busy = alerts.rules
    assert storm.on == OnIncidents("warning", {"kind": ("metadata*", "small_files")})
    assert storm.notify == ("ops-mail", "chat")
    assert (storm.group_by, storm.repeat_us) == (("filesystem",), None)
    assert storm.inhibits == Inhibition(("busy",), ("filesystem",))
    assert busy.on.words == {"by": ("user,job",), "operation": ("metadata",), "from": ("-10m",),
                             "filesystem": ("scratch*",)}  # fmt: skip
    assert (busy.on.by, busy.on.above, busy.for_us) == (("user", "job"), 5000.0, 2 * MINUTE_US)
    assert (busy.flapping.changes, busy.flapping.window_us) == (4, 30 * MINUTE_US)
    mail, chat = (alerts.channels[name] for name in ("ops-mail", "chat"))
    assert mail.notifier.password == Secret(file="/etc/pfscope/mail")
    assert mail.templates.subject == "$what"
    assert chat.notifier.url == Secret(variable="CHAT")
    assert chat.notifier.timeout_us == 3_000_000


INCIDENTS = "[alert.a]\non = 'incidents'\n"
QUERY = "[alert.a]\nquery = 'top --from -10m'\ncolumn = 'rate_mean'\n"
MAIL = "[notify.m]\ntype = 'mail'\nfrom = 'a@example.org'\nto = 'b@example.org'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("alert = 3", "alert must be tables"),
        ("[alert]\na = 3", r"\[alert.a\] must be a table"),
        ("[alert.'a b']\n", "letters, digits"),
        ("[alert.a]\n", 'on = "incidents", or query'),
        (INCIDENTS + "sevrity = 'info'", "did you mean 'severity'"),
        (INCIDENTS + "severity = 'bad'", "one of info, warning, critical"),
        (INCIDENTS + "above = 3", "unknown key 'above'"),
        (INCIDENTS + "for = 2", "for must be a duration"),
        (INCIDENTS + "for = 'long'", "for: 'long' is no duration"),
        (INCIDENTS + "notify = ['x']", r"no \[notify.x\]; there are none"),
        (INCIDENTS + "labels = {rule = 'x'}", "labels cannot have 'rule'"),
        (INCIDENTS + "labels = {severity = 'info'}", "labels cannot have 'severity'"),
        (INCIDENTS + "labels = 3", "table of strings"),
        (INCIDENTS + "flapping = {changes = 0}", "flapping: changes must be a whole number"),
        (INCIDENTS + "inhibits = {}", "inhibits: rules is missing"),
        (INCIDENTS + "target = 3", "target must be a list"),
        (QUERY, "above = NUMBER"),
        (QUERY + "above = 1\nbelow = 2", "above = NUMBER"),
        (QUERY + "above = inf", "above must be a number"),
        (QUERY + "above = true", "above must be a number"),
        (QUERY + "above = 1\nseverity = 'info'", "unknown key 'severity'"),
        (QUERY + "above = 1\nlabels = {severity = 'bad'}", "one of info"),
        ("[alert.a]\nquery = 'topp'\ncolumn = 'x'\nabove = 1", "no question 'topp'"),
        ("[alert.a]\nquery = 'top --bye user'\ncolumn = 'x'\nabove = 1", "did you mean 'by'"),
        ("[alert.a]\nquery = 'top --by'\ncolumn = 'x'\nabove = 1", "--by has no value"),
        ("[alert.a]\nquery = 'top x'\ncolumn = 'x'\nabove = 1", "'x' is no option"),
        ("[alert.a]\nquery = 'top \"'\ncolumn = 'x'\nabove = 1", "query: No closing quotation"),
        ("[alert.a]\nquery = 'top'\nabove = 1", "column must name"),
        (INCIDENTS + "inhibits = {rules = ['b']}\n[alert.b]\non = 'incidents'\n"
         "inhibits = {rules = ['a']}", "mute each other: a → b"),
        ("[notify.m]\n", "type must be one of mail"),
        ("[notify.m]\ntype = 'mail'\nto = 'b@example.org'", "from is missing"),
        (MAIL + "tls = 'ssl'", "it can be starttls"),
        (MAIL + "password = 'x'", "did you mean 'password_"),
        (MAIL + "user = 'x'", "go together"),
        (MAIL + "host = 'mail.example.org'\ntls = 'none'\nuser = 'x'\npassword_env = 'X'",
         "in the clear"),
        (MAIL + "port = 'x'", "port must be a whole number"),
        (MAIL + "timeout = 0", "timeout must be more"),
        (MAIL + "subject = '$x'", r"no field \$x"),
        (MAIL.replace("b@example.org", "b@x\\nBcc: c@x").replace("to = '", 'to = "').replace(
            "c@x'", 'c@x"'), "no address"),
        ("[notify.m]\ntype = 'webhook'\nurl = 'http://x'\nurl_file = 'y'", "say the same"),
        ("[notify.m]\ntype = 'webhook'\nurl = 'http://x'\nsecret = 'y'", "did you mean 'secret_"),
        ("[notify.m]\ntype = 'command'\nargv = []", "argv must name"),
        ("[notify.m]\ntype = 'command'\nargv = ['x']\ninput = 'xml'", "text or json"),
        ("[notify.m]\ntype = 'syslog'\naddress = 'x'", "HOST:PORT"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_the_place(text, said):
    with pytest.raises(UsageError, match=said) as raised:
        parse_config(text, "pfscope.toml")
    assert str(raised.value).startswith("pfscope.toml: ")


MINIMAL = {
    "mail": "from = 'a@example.org'\nto = 'b@example.org'",
    "webhook": "url = 'https://x.example'",
    "alertmanager": "url = 'https://x.example'",
    "slack": "url_file = '/x'",
    "syslog": "",
    "journal": "",
    "command": "argv = ['/bin/true']",
}


@pytest.mark.parametrize("kind", NOTIFIERS)
def test_every_notifier_can_be_configured(kind):
    alerts = parse_config(f"[notify.x]\ntype = '{kind}'\n{MINIMAL[kind]}", "x").alerts
    assert callable(alerts.channels["x"].notifier.send)


def test_a_secret_in_a_file_is_ours_alone(tmp_path):
    path = tmp_path / "secret"
    path.write_text("sesame\n")
    path.chmod(0o600)
    assert Secret(file=str(path)).read() == "sesame"
    path.chmod(0o640)
    with pytest.raises(DeliveryError, match="others can read"):
        Secret(file=str(path)).read()


@pytest.mark.parametrize("content", [b"", b"\n", b"a\nb\n", b"\xff", b"a\x00b", b"x" * 5000])
def test_what_is_no_secret_is_not_taken_for_one(tmp_path, content):
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(DeliveryError) as raised:
        Secret(file=str(path)).read()
    assert "xxxx" not in str(raised.value)


def test_an_empty_or_absent_secret_in_the_environment_is_none(monkeypatch):
    monkeypatch.setenv("EMPTY", "")
    for variable in ("EMPTY", "ABSENT_SECRET"):
        with pytest.raises(DeliveryError, match="empty or not there"):
            Secret(variable=variable).read()
