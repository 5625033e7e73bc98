"""LMT's database, live: a real MariaDB on loopback. Run with `make mysql`, which needs mariadbd."""

import shutil
import socket
import subprocess
import time

import pymysql
import pytest

from tests.support.lake_rows import imports, table, without_log
from tests.support.lmt_files import Truth, statements, write_sqlite

PASSWORD = "of-a-test"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Return the port of a server with an empty database and a user who may read it."""
    home = tmp_path_factory.mktemp("mariadb")
    install, server = shutil.which("mariadb-install-db"), shutil.which("mariadbd")
    assert install, "install mariadb-server"
    assert server, "install mariadb-server"
    common = ["--no-defaults", f"--datadir={home}/data", "--user=root"]
    subprocess.run([install, *common, "--auth-root-authentication-method=normal"], check=True,
                   capture_output=True, timeout=120)  # fmt: skip
    number = free_port()
    process = subprocess.Popen(
        [server, *common, f"--port={number}", "--bind-address=127.0.0.1",
         f"--socket={home}/socket", f"--pid-file={home}/pid"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        root = connected(number, process)
        with root, root.cursor() as cursor:
            cursor.execute("CREATE DATABASE filesystem_scratch")
            cursor.execute(f"CREATE USER reader@localhost IDENTIFIED BY '{PASSWORD}'")
            cursor.execute("GRANT SELECT ON filesystem_scratch.* TO reader@localhost")
        yield number
    finally:
        process.terminate()
        process.wait(30)


def connected(number, process):
    deadline = time.monotonic() + 60
    while True:
        try:
            return pymysql.connect(host="127.0.0.1", port=number, user="root", autocommit=True)
        except pymysql.OperationalError:
            assert process.poll() is None, "mariadbd ended"
            assert time.monotonic() < deadline, "mariadbd does not answer"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def filled(port):
    truth = Truth()
    base = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True,
                           database="filesystem_scratch")  # fmt: skip
    with base, base.cursor() as cursor:
        for statement, rows in statements(truth, resets={(7, 1)}):
            if rows is None:
                cursor.execute(statement)
            else:
                cursor.executemany(statement.replace("?", "%s"), rows)
    return truth


def imported(lake, source):
    return imports("lmt", source, "--time-zone", "America/Los_Angeles", lake=lake)


def rows(lake):
    return without_log(table(lake, "lmt")).to_pylist()


def test_a_live_database_says_what_its_tables_say_in_a_file(port, filled, tmp_path, monkeypatch):
    monkeypatch.setenv("PFSCOPE_LMT_PASSWORD", PASSWORD)
    address = f"mysql://reader@127.0.0.1:{port}/filesystem_scratch"
    assert imported(tmp_path / "live", address) == 0
    write_sqlite(tmp_path / "day.sqlite3", filled, resets={(7, 1)})
    assert imported(tmp_path / "file", tmp_path / "day.sqlite3") == 0
    assert rows(tmp_path / "live") == rows(tmp_path / "file")
    assert len(rows(tmp_path / "live")) == 4 * filled.steps
    before = rows(tmp_path / "live")
    assert imported(tmp_path / "live", address) == 0
    assert rows(tmp_path / "live") == before


def test_a_wrong_password_is_told_in_a_line(port, filled, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PFSCOPE_LMT_PASSWORD", "wrong")
    assert imported(tmp_path, f"mysql://reader@127.0.0.1:{port}/filesystem_scratch") == 1
    told = capsys.readouterr().err
    assert "Access denied" in told
    assert "wrong" not in told
