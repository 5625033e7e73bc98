"""Options: flags before the file before defaults; whatever is wrong is told with its name."""

import argparse
import os
import re
from pathlib import Path

import pytest

from pfscope.agent.errors import AgentError
from pfscope.agent.options import OPTIONS, add_options, read_token, settings

REPOSITORY = Path(__file__).resolve().parents[2]


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser)
    return settings(parser.parse_args(arguments))


def configured(tmp_path, text, *arguments):
    path = tmp_path / "agent.conf"
    path.write_text(text)
    return parsed("--config", str(path), *arguments)


def test_defaults():
    chosen = parsed()
    assert chosen.interval == 60
    assert chosen.spool_bytes == 1 << 30
    assert chosen.spool_age == 86_400
    assert chosen.server == os.uname().nodename.split(".")[0]
    assert "exports" not in chosen.collect
    assert chosen.url is None


def test_flags_go_before_the_file_and_the_file_before_defaults(tmp_path):
    text = "[agent]\ninterval = 5m\nserver = oss1\nspool-bytes = 512M\n"
    chosen = configured(tmp_path, text, "--interval", "30")
    assert (chosen.interval, chosen.server, chosen.spool_bytes) == (30, "oss1", 512 << 20)
    assert chosen.spool_age == 86_400


def test_a_percent_sign_is_just_that(tmp_path):
    assert configured(tmp_path, "[agent]\nspool = /a%20b\n").spool == "/a%20b"


WRONG_FILES = {
    "intervall = 5": "did you mean interval",
    "token = x": "did you mean token_file",
    "colour = red": "known are server, interval",
    "interval = 0": "interval in the configuration: '0' should be whole seconds",
    "interval = 1.5": "should be whole seconds",
    "spool_bytes = lots": "should be a size such as 512M",
    "collect = jobs,lunch": "should be some of jobs,",
    "collect = ": "should be some of jobs,",
    "server = ../etc": "should be at most 64 letters",
    "interval = 5\ninterval = 6": "already exists",
}


@pytest.mark.parametrize(("line", "told"), WRONG_FILES.items(), ids=WRONG_FILES)
def test_mistakes_in_the_file_are_told(tmp_path, line, told):
    with pytest.raises(AgentError, match=re.escape(told)):
        configured(tmp_path, f"[agent]\n{line}\n")


@pytest.mark.parametrize(
    "text", ["", "interval = 5\n", "[agnet]\ninterval = 5\n", "[a]\n[agent]\n"]
)
def test_the_file_has_one_section(tmp_path, text):
    with pytest.raises(AgentError, match="section"):
        configured(tmp_path, text)


def test_a_configuration_that_was_named_must_be_there(tmp_path):
    with pytest.raises(AgentError, match="No such file"):
        parsed("--config", str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2k", 2048), ("1 G", 1 << 30), ("3MiB", 3 << 20), ("1TB", 1 << 40)],
)
def test_sizes(text, size):
    assert parsed("--spool-bytes", text).spool_bytes == size


@pytest.mark.parametrize(("text", "time"), [("1", 1), ("5s", 5), ("2m", 120), ("24h", 86_400)])
def test_times(text, time):
    assert parsed("--interval", text).interval == time


def token_file(tmp_path, content=b"s3cret\n", mode=0o600):
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_token_of_our_own_is_read(tmp_path, mode):
    assert read_token(str(token_file(tmp_path, mode=mode))) == "s3cret"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o610])
def test_a_token_that_others_can_read_is_refused(tmp_path, mode):
    with pytest.raises(AgentError, match="chmod 600"):
        read_token(str(token_file(tmp_path, mode=mode)))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_token_of_somebody_else_is_refused(tmp_path):
    path = token_file(tmp_path)
    os.chown(path, 12345, -1)
    with pytest.raises(AgentError, match="chown"):
        read_token(str(path))


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a b", b"a\r\nX-Header: 1", b"caf\xe9", b"x" * 4097]
)
def test_a_token_that_is_no_token_is_refused_and_not_shown(tmp_path, content):
    with pytest.raises(AgentError, match="one line of printable ASCII") as caught:
        read_token(str(token_file(tmp_path, content)))
    assert "X-Header" not in str(caught.value)


def test_a_missing_token_file_is_told(tmp_path):
    with pytest.raises(AgentError, match=r"token_file.*No such file"):
        read_token(str(tmp_path / "missing"))


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_option_is_documented_and_in_the_example(option):
    reference = (REPOSITORY / "docs" / "reference" / "agent.md").read_text()
    example = (REPOSITORY / "packaging" / "agent.conf.example").read_text()
    assert f"`{option.flag}" in reference
    assert re.search(rf"^#? ?{option.key} = ", example, re.MULTILINE)


def test_the_example_configuration_is_accepted(tmp_path):
    example = (REPOSITORY / "packaging" / "agent.conf.example").read_text()
    uncommented = re.sub(r"(?m)^# ?([a-z_]+ = )", r"\1", example)
    for text in (example, uncommented):
        assert configured(tmp_path, text).url == "https://monitor.example.org:8470"
