"""Tokens: shown once, kept hashed, bound to servers, changed without a restart, never empty."""

import json
import stat

import pytest

from pfscope.errors import InputError, UsageError
from pfscope.server.tokens import Gate, Token, TokenFile, hash_of, token_from_secret


@pytest.fixture
def file(tmp_path):
    return TokenFile(tmp_path)


def test_a_secret_is_shown_and_only_its_hash_is_kept_where_nobody_else_can_read_it(file):
    secret = file.add("oss", ("oss*",))
    assert len(secret) > 40
    assert secret not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert Gate(file).holder(secret).name == "oss"


def test_no_two_secrets_are_the_same(file):
    assert len({file.add(f"n{i}", ()) for i in range(20)}) == 20


def test_a_token_speaks_for_its_servers_alone():
    token = Token("oss", "", ("oss*", "mds1"), "")
    spoken_for = [s for s in ("oss1", "oss12", "mds1", "mds2", "OSS1") if token.speaks_for(s)]
    assert spoken_for == ["oss1", "oss12", "mds1"]
    assert not Token("reader", "", (), "").speaks_for("oss1")


def test_who_sends_may_not_ask_unless_it_was_said(file):
    agent, reader = file.add("oss", ("oss*",)), file.add("anna", (), reads=True)
    both = file.add("head", ("oss1",), reads=True)
    gate = Gate(file)
    assert [gate.holder(s).reads for s in (agent, reader, both)] == [False, True, True]
    assert not gate.holder(reader).speaks_for("oss1")
    assert not token_from_secret("PFSCOPE_TOKEN", "s" * 40, ("*",)).reads


def test_tokens_from_before_there_were_questions_stay_and_may_not_ask(file):
    item = {"name": "old", "sha256": hash_of("s"), "servers": ["oss*"], "created": "then"}
    file.path.touch(0o600)
    file.path.write_text(json.dumps({"version": 1, "tokens": [item]}))
    assert Gate(file).holder("s") == Token("old", hash_of("s"), ("oss*",), "then", reads=False)
    file.add("anna", (), reads=True)
    kept = json.loads(file.path.read_text())
    assert kept["version"] == 3
    assert kept["tokens"][0] == {**item, "reads": False, "role": "", "users": []}


def test_revoking_counts_at_once_and_the_last_one_does_not_open_the_door(file):
    secret = file.add("oss", ("oss*",))
    gate = Gate(file, may_be_open=True)
    assert gate.holder(secret)
    file.revoke("oss")
    assert gate.holder(secret) is None
    assert not gate.open
    assert not Gate(file, may_be_open=True).open


def test_the_first_token_closes_an_open_gate_and_deleting_the_file_does_not_open_it(file):
    gate = Gate(file, may_be_open=True)
    assert gate.open
    secret = file.add("oss", ("oss*",))
    assert not gate.open
    assert gate.holder(secret)
    file.path.unlink()
    assert not gate.open
    assert gate.holder(secret) is None


def test_a_file_that_breaks_while_running_lets_nobody_in(file):
    secret = file.add("oss", ("oss*",))
    told = []
    gate = Gate(file, told=told.append)
    file.path.write_text("{")
    assert gate.holder(secret) is None
    assert "nobody may enter" in told[0]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"tokens": 1}',
        '{"tokens": [{}]}',
        '{"tokens": [{"name": "n", "sha256": "", "servers": ["*"], "created": ""}]}',
        '{"tokens": [{"name": "n", "sha256": 5, "servers": ["*"], "created": ""}]}',
        f'{{"tokens": [{{"name": "n", "sha256": "{"a" * 64}", "servers": [], "created": "",'
        ' "reads": "yes"}]}',
    ],
)
def test_a_file_that_is_empty_or_rubbish_refuses_to_start(file, content):
    file.path.touch(0o600)
    file.path.write_text(content)
    with pytest.raises(InputError, match="does not hold tokens"):
        Gate(file, may_be_open=True)


def test_the_hash_of_nothing_is_no_token(file):
    file.path.touch(0o600)
    item = {"name": "n", "sha256": hash_of(""), "servers": ["*"], "created": ""}
    file.path.write_text(json.dumps({"version": 1, "tokens": [item]}))
    with pytest.raises(InputError):
        Gate(file)


def test_a_file_that_others_can_read_refuses_to_start(file):
    file.add("oss", ())
    file.path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        Gate(file)


def test_an_empty_or_short_secret_from_outside_is_refused():
    for secret in ("", " ", "changeme"):
        with pytest.raises(UsageError):
            token_from_secret("PFSCOPE_TOKEN", secret, ("*",))


def test_an_empty_secret_is_nobodys(file):
    file.add("oss", ("*",))
    assert Gate(file).holder("") is None


def test_names_and_patterns_that_make_no_sense_are_refused(file):
    for name, servers in (("", ()), ("a\nb", ()), ("ok", ("oss 1",)), ("ok", ("",))):
        with pytest.raises(UsageError):
            file.add(name, servers)
    file.add("oss", ())
    with pytest.raises(UsageError, match="already"):
        file.add("oss", ())
    with pytest.raises(UsageError, match="no token"):
        file.revoke("mds")
