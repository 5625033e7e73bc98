"""`pfscope doctor --server`: a running server says how it fares, and what is wrong is said so."""

import json

import pytest

from pfscope.cli.main import main
from pfscope.server.limits import Limits
from tests.support.frame_samples import encoded
from tests.support.server_world import server


def examined(capsys, url):
    code = main(["doctor", "--server", url, "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    return code, {row["check"]: (row["state"], row["finding"]) for row in found}


def test_a_server_that_fares_well(capsys, tmp_path):
    with server(tmp_path) as world:
        world.post(encoded(0))
        code, found = examined(capsys, world.url)
    assert code == 0
    assert list(found) == ["server", "ready", "parts", "journal", "ledger", "space"]
    assert {state for state, _finding in found.values()} == {"ok"}
    assert "journal, archive, ingest, memory, housekeeping do their work" in found["parts"][1]


def test_a_store_that_fails_is_told_with_its_part(capsys, tmp_path):
    with server(tmp_path) as world:
        world.store.failing = True
        world.post(encoded(0))
        while world.client.get("/ready").status_code == 200:
            pass
        code, found = examined(capsys, world.url)
    assert code == 1
    assert found["ready"][0] == "WRONG"
    assert "the disk is full" in found["ready"][1]
    assert found["parts"] == ("WRONG", "in trouble, its log says why: ingest")
    assert found["journal"] == ("ok", "1 frames wait in it")


def test_a_ledger_that_does_not_balance(capsys, tmp_path):
    with server(tmp_path, Limits()) as world:
        world.store.counts["receive", "oss1", "received", ""] += 3
        code, found = examined(capsys, world.url)
    assert code == 1
    assert found["ledger"] == ("WRONG", "the sums differ: receive oss1: +3 frames")


def test_nobody_there_is_told_in_one_line(capsys):
    assert main(["doctor", "--server", "http://127.0.0.1:1"]) == 1
    assert capsys.readouterr().err == (
        "pfscope: http://127.0.0.1:1 does not answer: Connection refused\n"
    )


@pytest.mark.parametrize("url", ["localhost:8470", "ftp://localhost"])
def test_what_is_no_url_is_told_in_one_line(capsys, url):
    assert main(["doctor", "--server", url]) == 2
    assert "is not of the form http(s)://host" in capsys.readouterr().err
