"""`pfscope query` as people run it: on a terminal, in a pipe, and through a running server."""

import io
import os
import pty
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from pfscope.server.tokens import TokenFile
from tests.support.query_store import make_store
from tests.support.serve_process import served

COMMAND = [sys.executable, "-m", "pfscope.cli.main", "query"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"))


def query(*arguments, **environment):
    command = [*COMMAND, *map(str, arguments)]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, timeout=60, env=env)


def on_a_terminal(width, *arguments):
    """Return what a terminal of some width gets to see."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(width), "TERM": "xterm"}
    env.pop("NO_COLOR", None)
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=env) as process:
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            seen += chunk
        errors = process.stderr.read()
    os.close(ours)
    return process.returncode, seen.replace(b"\r\n", b"\n").decode(), errors.decode()


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that the other end was closed
        return b""


def test_a_terminal_gets_a_table_in_colour_that_fits(data):
    code, seen, errors = on_a_terminal(60, "top", "--by", "user,executable", "--data", data)
    assert code == 0
    assert seen.startswith("\x1b[1mrank\x1b[0m")
    assert "\x1b[1;31m" in seen
    assert r"=cmd\x1B" in seen
    assert "\x1b[31m" not in seen
    assert "2022-10-27T00:00:00Z to 2022-10-27T00:04:00Z, requests" in errors


def test_a_terminal_gets_no_control_characters_in_csv_either(data):
    _code, seen, _errors = on_a_terminal(
        80, "top", "--by", "executable", "--format", "csv", "--data", data
    )
    assert r"'=cmd\x1B[31m[red]" in seen
    assert "\x1b" not in seen


def test_a_terminal_gets_no_parquet(data):
    code, seen, errors = on_a_terminal(80, "top", "--format", "parquet", "--data", data)
    assert (code, seen) == (2, "")
    assert "--output FILE" in errors


def test_a_pipe_gets_csv_and_parquet_if_it_wants(data):
    assert query("top", "--data", data).stdout.startswith(b"rank,user,rate_mean,rate_max,total")
    parquet = query("top", "--data", data, "--format", "parquet").stdout
    assert pq.read_table(io.BytesIO(parquet)).num_rows == 3


def test_who_reads_no_further_ends_it_quietly(data):
    command = " ".join([*COMMAND, "series", "--step", "1s", "--data", str(data), "| head -1"])
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("time,user,rate\n", "")


def test_wrong_usage_ends_with_2():
    for arguments in ([], ["nonsense"], ["top"], ["top", "--data"], ["top", "--dta", "x"]):
        done = query(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == b""


def test_a_directory_without_a_store_ends_with_1(tmp_path):
    done = query("top", "--data", tmp_path)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        f"pfscope: {tmp_path} holds no store (store.duckdb is not there)\n"
    )


def test_a_configuration_names_what_is_counted(data, tmp_path):
    config = tmp_path / "pfscope.toml"
    config.write_text("[metric.opening]\nweights = {open = 2}\n[metric.typo]\nweights = {opne = 2}")
    here = ("--data", data, "--config", config, "--limit", 1)
    assert query("top", "--operation", "opening", *here).stdout.splitlines()[1] == (
        b"1,1001,3,4,720,0.8333333333333334"
    )
    done = query("top", "--operation", "typo", *here)
    assert done.returncode == 2
    assert b"metric typo: there is no operation 'opne'; did you mean 'open'?" in done.stderr


def test_a_running_server_answers_who_may_ask(tmp_path):
    data = make_store(tmp_path / "data")
    secrets = {
        name: TokenFile(data).add(name, servers, reads=reads)
        for name, servers, reads in (("anna", (), True), ("oss", ("oss*",), False))
    }
    with served(data) as running:
        for name, code in (("anna", 0), ("oss", 1)):
            token = tmp_path / name
            token.touch(0o600)
            token.write_text(secrets[name] + "\n")
            done = query("top", "--server", running.url, "--token-file", token)
            assert done.returncode == code, done.stderr
            assert secrets[name].encode() not in done.stderr
        assert done.stderr.count(b"\n") == 1
        assert b"may not ask who did what" in done.stderr
        answer = query("top", "--server", running.url, PFSCOPE_TOKEN=secrets["anna"]).stdout
        assert running.end() == 0
    assert answer == query("top", "--data", data).stdout
