"""Every notifier against a real receiver on loopback: what arrives, and what is never sent."""

import hashlib
import hmac
import json
import socket
import sys
import time
from pathlib import Path

import pytest

from pfscope.cli.main import main
from pfscope.config import parse_config
from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.listing import overview
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.templates import render
from pfscope.watch.model import State
from tests.support import alert_world as world
from tests.support.hook_server import hook_server
from tests.support.mail_server import mail_server, make_certificate

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sesame-open-up"


def channel(kind, **settings):
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    text = f"[notify.ops]\ntype = '{kind}'\n{lines}"
    return parse_config(text, "x").alerts.channels["ops"]


def mail(server, **more):
    told = {"from": "pfscope@example.org", "to": ["ops@example.org"], "host": "localhost",
            "port": server.port, "tls": "none", "timeout": "10s"}  # fmt: skip
    return channel("mail", **told | more)


def notifications():
    """Return the beginning and the end of one incident."""
    rules = [world.rule(keep_firing_for_us=0)]
    engine = Engine(rules)
    first = engine.advance(world.at(0), on_incidents(rules, [world.incident()]))
    last = engine.advance(world.at(9), on_incidents(rules, [world.incident(State.ENDED)]))
    return [*first, *last]


def send(sender, notification=None):
    notification = notification or notifications()[0]
    return sender.notifier.send(render(notification, sender.templates))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text(f"{SECRET}\n")
    return str(path)


def test_a_mail_tells_all_and_its_end_belongs_to_it():
    first, last = notifications()
    with mail_server() as server:
        said = send(mail(server), first)
        send(mail(server), first)
        send(mail(server), last)
        begin, again, end = server.mails
    assert said == "localhost took it for ops@example.org"
    assert begin["Subject"].startswith("[pfscope] FIRING: metadata storm on scratch")
    assert "user 12748318, job 11302088" in begin.get_content()
    assert begin["Message-ID"] == again["Message-ID"] != end["Message-ID"]
    assert end["References"] == begin["Message-ID"]
    assert end["Subject"].startswith("[pfscope] RESOLVED: ")
    assert begin["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_mail_goes_encrypted_and_with_a_password(certificate, secret, tls):
    how = {"certificate": certificate, "starttls": tls == "starttls", "login": ("me", SECRET)}
    trust = {"tls": tls, "ca_file": str(certificate[0]), "user": "me", "password_file": secret}
    with mail_server(**how) as server:
        send(mail(server, **trust))
        assert server.secured == [True]


def test_a_server_that_nobody_knows_gets_nothing(certificate):
    with mail_server(certificate=certificate) as server:
        with pytest.raises(DeliveryError, match=r"(?i)certificate"):
            send(mail(server, tls="starttls"))
        assert server.mails == []


def test_nothing_goes_in_the_clear_because_a_server_offers_no_tls(secret):
    with mail_server(login=("me", SECRET)) as server:
        with pytest.raises(DeliveryError, match="STARTTLS"):
            send(mail(server, tls="starttls", user="me", password_file=secret))
        assert server.mails == []


def test_a_wrong_password_is_told_without_it(secret):
    wrong = pytest.raises(DeliveryError, match="535 wrong")
    with mail_server(login=("me", "other")) as server, wrong as raised:
        send(mail(server, user="me", password_file=secret))
    assert SECRET not in str(raised.value)


def test_what_the_server_took_is_sent_whatever_it_says_at_parting():
    with mail_server() as server:
        server.refuse["QUIT"] = 421
        assert "took it" in send(mail(server))


@pytest.mark.parametrize("word", ["MAIL", "RCPT", "DATA", "END"])
def test_a_refusal_is_told(word):
    with mail_server() as server:
        server.refuse[word] = 451
        with pytest.raises(DeliveryError, match="451"):
            send(mail(server))


def test_a_receiver_that_is_not_there():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        sender = channel("webhook", url=f"http://127.0.0.1:{port}/secret-path")
        with pytest.raises(DeliveryError, match=r"127\.0\.0\.1 does not answer") as raised:
            send(sender)
    assert "secret-path" not in str(raised.value)


def test_a_webhook_can_be_checked_and_known_again(secret):
    with hook_server() as server:
        sender = channel("webhook", url=f"{server.url}/hook", secret_file=secret)
        said = send(sender)
        (posted,) = server.posted
    assert said == "127.0.0.1 answered 200"
    expected = hmac.new(SECRET.encode(), posted.body, hashlib.sha256).hexdigest()
    assert posted.headers["x-pfscope-signature"] == f"sha256={expected}"
    plain = json.loads(posted.body)
    assert posted.headers["idempotency-key"] == plain["key"]
    assert plain["alerts"][0]["incident"]["kind"] == "metadata_storm"


def test_a_redirect_is_not_followed(secret):
    with hook_server() as other, hook_server() as server:
        server.statuses, server.location = [307], other.url
        with pytest.raises(DeliveryError, match="answered 307"):
            send(channel("webhook", url=server.url, token_file=secret))
        assert other.posted == []


def test_a_token_does_not_leave_the_machine_in_the_clear(secret):
    with pytest.raises(DeliveryError, match="not sent over plain http"):
        send(channel("webhook", url="http://192.0.2.1/", token_file=secret))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "https://", "http://[x/"])
def test_other_kinds_of_places_are_refused(url, tmp_path):
    path = tmp_path / "url"
    path.touch(0o600)
    path.write_text(url)
    with pytest.raises(DeliveryError, match="not of the form"):
        send(channel("slack", url_file=str(path)))


def test_slack_and_the_alertmanager_get_what_they_understand():
    first, last = notifications()
    with hook_server() as server:
        send(channel("slack", url=server.url, channel="#ops"), first)
        for notification in (first, last):
            send(channel("alertmanager", url=f"{server.url}/am/"), notification)
        slack, begin, end = server.posted
    assert json.loads(slack.body)["channel"] == "#ops"
    assert "`[pfscope] FIRING" in json.loads(slack.body)["text"]
    assert begin.path == "/am/api/v2/alerts"
    (fired,), (over,) = json.loads(begin.body), json.loads(end.body)
    assert fired["labels"] == over["labels"]
    assert fired["startsAt"] == over["startsAt"] < over["endsAt"] < fired["endsAt"]


def test_syslog_and_the_journal_get_one_entry(tmp_path):
    for kind, key in (("syslog", "address"), ("journal", "path")):
        path = str(tmp_path / kind)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(path)
            send(channel(kind, **{key: path}))
            assert b"metadata storm" in listener.recv(65536)
        with pytest.raises(DeliveryError, match="refused"):
            send(channel(kind, **{key: path}))


def test_syslog_over_the_network():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        send(channel("syslog", address=f"127.0.0.1:{listener.getsockname()[1]}"))
        assert listener.recv(65536).startswith(b"<28>1 2022-10-27T00:00:00Z ")


def script(tmp_path, text):
    path = tmp_path / "script"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o700)
    return str(path)


def test_a_command_gets_the_text_and_none_of_our_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("PFSCOPE_TOKEN", SECRET)
    code = (
        "import json, os, pathlib, sys\n"
        "got = json.dumps([sys.argv, sys.stdin.read(), dict(os.environ)])\n"
        "pathlib.Path(sys.argv[1]).write_text(got)\n"
    )
    out = tmp_path / "out"
    said = send(channel("command", argv=[script(tmp_path, code), str(out), "$(id) ;"]))
    argv, text, environment = json.loads(out.read_text())
    assert said.endswith("ended with 0")
    assert argv[2] == "$(id) ;"
    assert "user 12748318" in text
    assert environment["PFSCOPE_KIND"] == "firing"
    assert SECRET not in environment.values()


def test_a_command_that_fails_says_why(tmp_path):
    code = "import sys\nsys.exit('no \\x1b[2J pager')"
    with pytest.raises(DeliveryError, match=r"ended with 1: no \\x1B\[2J pager"):
        send(channel("command", argv=[script(tmp_path, code)], input="json"))
    with pytest.raises(DeliveryError, match="No such file"):
        send(channel("command", argv=[str(tmp_path / "none")]))


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started(tmp_path):
    pid_file = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(child.pid))\n"
        "time.sleep(300)\n"
    )
    with pytest.raises(DeliveryError, match="did not end within 3 s"):
        send(channel("command", argv=[script(tmp_path, code)], timeout="3s"))
    status = Path(f"/proc/{pid_file.read_text()}/stat")
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


def test_the_button_says_what_happened(tmp_path, capsys):
    config = tmp_path / "pfscope.toml"
    with mail_server() as server:
        config.write_text(
            "[notify.ops-mail]\ntype = 'mail'\nfrom = 'pfscope@example.org'\n"
            f"to = 'ops@example.org'\nhost = 'localhost'\nport = {server.port}\ntls = 'none'\n"
        )
        assert main(["alert", "test", "ops-mail", "--config", str(config)]) == 0
        assert capsys.readouterr().out == "notify ops-mail: localhost took it for ops@example.org\n"
        assert "TEST, nothing is wrong" in server.mails[0]["Subject"]
        server.refuse["RCPT"] = 550
        assert main(["alert", "test", "ops-mail", "--config", str(config)]) == 1
        assert "550" in capsys.readouterr().err
    assert main(["alert", "test", "ops-mial", "--config", str(config)]) == 2
    assert "did you mean 'ops-mail'" in capsys.readouterr().err


def test_alerts_of_a_server_are_listed_as_those_of_a_directory(tmp_path, capsys):
    alerting = world.alerting(tmp_path, [world.rule()], world.Clock(), ops=world.Receiver())
    alerting.advance([world.incident()])
    alerting.close()
    assert main(["alert", "list", "--data", str(tmp_path), "--format", "csv"]) == 0
    local = capsys.readouterr()
    assert "1 notifications wait" in local.err
    with hook_server() as server:
        asked = ["alert", "list", "--server", server.url, "--format", "csv"]
        server.pages["/api/v1/alerts"] = json.dumps(overview(tmp_path)).encode()
        assert main(asked) == 0
        assert capsys.readouterr() == local
        for nonsense in (b"[]", b'{"alerts": [{}], "waiting": 0, "trouble": {}}', b"x"):
            server.pages["/api/v1/alerts"] = nonsense
            assert main(asked) == 1
            assert "does not answer as pfscope does" in capsys.readouterr().err
