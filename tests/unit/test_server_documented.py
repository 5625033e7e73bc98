"""Every option, code, metric and file of the server is in its reference, and the unit runs it."""

import argparse
import re
from pathlib import Path

from pfscope.cli import serve
from pfscope.server.metrics import WebCounts, render
from tests.support.server_world import MemoryStore, make_engine

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
SOURCES = "".join(path.read_text() for path in (ROOT / "src/pfscope/server").glob("*.py"))


def parser():
    made = argparse.ArgumentParser()
    serve.configure(made)
    return made


def test_every_option():
    text = (REFERENCE / "server.md").read_text()
    flags = {flag for action in parser()._actions for flag in action.option_strings}
    assert [flag for flag in flags - {"-h", "--help"} if f"`{flag}" not in text] == []
    assert f"`{serve.DEFAULT_LISTEN}`" in text
    assert f"`{serve.SECRET_VARIABLE}`" in text


def test_every_code():
    text = (REFERENCE / "http-api.md").read_text()
    codes = set(re.findall(r'Refusal\(\s*(?:\d+|status), "([a-z-]+)"', SOURCES))
    codes |= set(re.findall(r'(?:come_later|too_large)\("([a-z-]+)"', SOURCES))
    codes |= set(re.findall(r'return "([a-z-]+)", f?"', SOURCES))
    assert len(codes) > 25
    # `request` stands for statuses that no route of ours has.
    assert [code for code in codes - {"request"} if f"`{code}`" not in text] == []


def test_every_metric(tmp_path):
    text = (REFERENCE / "http-api.md").read_text()
    engine = make_engine(MemoryStore(tmp_path))
    names = re.findall(r"# TYPE (\S+)", render(engine, WebCounts()))
    engine.close()
    assert len(names) > 10
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_unit_starts_what_can_be_started():
    unit = (ROOT / "packaging" / "pfscope-server.service").read_text()
    command = re.search(r"ExecStart=/usr/local/bin/pfscope serve (.+)", unit)[1]
    args = parser().parse_args(command.split())
    assert args.data == Path("/var/lib/pfscope")
    assert args.tls_cert
    assert args.tls_key
