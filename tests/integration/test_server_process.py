"""`pfscope serve` as people and agents meet it: real processes, real signals, the real store."""

import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
from contextlib import suppress

import httpx
import pytest

from tests.support.frame_samples import TEXT, WALL_NS, encoded
from tests.support.serve_process import serve, served

MINUTE_NS = 60 * 10**9
AGENT = [sys.executable, "-m", "pfscope.agent", "--once"]


@pytest.fixture
def tree(tmp_path):
    """A Lustre server's files, as far as an agent needs any."""
    target = tmp_path / "root" / "proc" / "fs" / "lustre" / "mdt" / "scratch-MDT0000"
    target.mkdir(parents=True)
    (target / "job_stats").write_bytes(TEXT)
    return tmp_path / "root"


def agent(tree, spool, url, *arguments):
    command = [*AGENT, "--root", str(tree), "--spool", str(spool), "--server", "mds1"]
    command += ["--url", url, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def frame(sequence):
    return encoded(sequence, wall_ns=WALL_NS + sequence * MINUTE_NS)


def settled(server, *key):
    """Return a count of the ledger as soon as nothing waits any more."""
    while "pfscope_backlog_frames 0\n" not in server.client.get("/metrics").text:
        pass
    return server.ledger().get(key, 0)


def test_it_says_where_it_listens_and_ends_in_order_on_a_signal(tmp_path):
    with served(tmp_path) as server:
        assert server.line.startswith("pfscope listens on http://127.0.0.1:")
        assert server.client.get("/health").json()["status"] == "alive"
        assert server.statuses(encoded(0)) == ["stored"]
        assert server.end() == 0
        assert server.process.stderr.read() == ""
    with served(tmp_path) as server:
        assert server.statuses(encoded(0)) == ["duplicate"]
        assert settled(server, "ingest", "mds1", "stored") == 1


def test_what_was_acknowledged_survives_sigkill_and_is_counted_once(tmp_path):
    chance = random.Random(7)
    acknowledged, sequence = set(), 0
    for _round in range(4):
        with served(tmp_path) as server:
            timer = threading.Timer(chance.uniform(0, 0.3), server.process.kill)
            enough = sequence + chance.randint(1, 15)
            with suppress(httpx.TransportError):
                while server.statuses(frame(sequence)) in (["stored"], ["duplicate"]):
                    acknowledged.add(sequence)
                    sequence += 1
                    if sequence == enough:
                        timer.start()
            timer.join()
    with served(tmp_path) as server:
        for number in sorted(acknowledged):
            assert server.statuses(frame(number)) == ["duplicate"]
        stored = settled(server, "receive", "mds1", "stored")
        # The frame in flight at the last kill may be there unacknowledged.
        assert stored in (len(acknowledged), len(acknowledged) + 1)
        counts = server.ledger()
        assert counts["ingest", "mds1", "stored"] == stored
        assert counts["ingest", "mds1", "received"] == stored
        settling = [n for key, n in counts.items() if key[0] == "receive" and key[2] != "received"]
        assert counts["receive", "mds1", "received"] == sum(settling)


def test_a_corrupt_journal_does_not_stop_the_start(tmp_path):
    with served(tmp_path) as server:
        server.statuses(b"".join(map(encoded, range(3))))
        server.process.kill()
        server.process.wait()
    journal = tmp_path / "journal"
    journal.joinpath("0000000000000999.pfl").write_bytes(b"\xff" * 5000)
    journal.joinpath("rubbish").write_bytes(b"x")
    with served(tmp_path) as server:
        assert server.statuses(encoded(2)) == ["duplicate"]
        assert server.statuses(encoded(3)) == ["stored"]
    assert list((tmp_path / "quarantine").iterdir())


def test_a_second_server_on_the_same_data_is_refused_in_one_line(tmp_path):
    with served(tmp_path) as server:
        done = serve(tmp_path, "--listen", "127.0.0.1:0")
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert server.client.get("/ready").status_code == 200


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = serve(tmp_path, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    assert done.stderr.startswith("pfscope: cannot listen on 127.0.0.1:")


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (("--listen", "0.0.0.0:0"), {}, "without TLS"),
        (("--listen", "nonsense"), {}, "HOST:PORT"),
        (("--limit", "body_byte=1"), {}, "body_bytes"),
        ((), {"PFSCOPE_TOKEN": ""}, "PFSCOPE_TOKEN is empty"),
        ((), {"PFSCOPE_TOKEN": "short"}, "PFSCOPE_TOKEN is too short"),
    ],
)
def test_what_would_be_unsafe_or_makes_no_sense_does_not_start(
    tmp_path, arguments, environment, said
):
    done = serve(tmp_path, *arguments, **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_empty_token_file_does_not_start(tmp_path):
    (tmp_path / "tokens.json").touch(0o600)
    done = serve(tmp_path, "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert "does not hold tokens" in done.stderr


def test_tokens_are_made_listed_and_revoked_beside_a_running_server(tmp_path):
    with served(tmp_path) as server:
        assert server.statuses(encoded(0)) == ["stored"]
        made = serve(tmp_path, "token", "add", "mds", "--server", "mds*")
        secret = made.stdout.strip()
        bearer = {"Authorization": f"Bearer {secret}"}
        assert server.client.post("/api/v1/frames", content=encoded(1)).status_code == 401
        assert server.statuses(encoded(1), **bearer) == ["stored"]
        assert server.statuses(encoded(0, server="oss1"), **bearer) == ["rejected"]
        listed = serve(tmp_path, "token", "list").stdout
        assert "mds" in listed
        assert secret not in listed
        assert serve(tmp_path, "token", "revoke", "mds").returncode == 0
        refused = server.client.post("/api/v1/frames", content=encoded(2), headers=bearer)
        assert refused.status_code == 401


def test_a_real_agent_delivers(tmp_path, tree):
    with served(tmp_path / "data") as server:
        done = agent(tree, tmp_path / "spool", server.url)
        assert done.returncode == 0, done.stderr
        assert settled(server, "ingest", "mds1", "stored") == 1


def test_a_real_agent_delivers_with_tls_and_its_token(tmp_path, tree):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", str(key)]
    command += ["-out", str(cert), "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    data, token_file = tmp_path / "data", tmp_path / "token"
    token_file.touch(0o600)
    token_file.write_text(serve(data, "token", "add", "mds", "--server", "mds1").stdout)
    tls = ("--tls-cert", str(cert), "--tls-key", str(key))
    verify = ssl.create_default_context(cafile=cert)
    with served(data, *tls, verify=verify) as server:
        assert server.url.startswith("https://")
        trust = ("--ca-file", str(cert))
        done = agent(tree, tmp_path / "a", server.url, *trust, "--token-file", str(token_file))
        assert done.returncode == 0, done.stderr
        done = agent(tree, tmp_path / "b", server.url, *trust)
        assert done.returncode == 1
        assert "does not accept the token" in done.stderr


def test_insecure_is_possible_when_said_aloud(tmp_path):
    with served(tmp_path, "--listen", "0.0.0.0:0", "--insecure") as server:
        assert server.statuses(encoded(0), Host="monitor.example.org") == ["stored"]
        assert server.end() == 0
        warnings = server.process.stderr.read()
    assert "warning: insecure, as asked: without TLS" in warnings
    assert "warning: insecure, as asked: without tokens" in warnings


def test_systemd_hears_when_it_is_ready_and_when_it_stops(tmp_path):
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(address)
        channel.settimeout(30)
        with served(tmp_path / "data", NOTIFY_SOCKET=address) as server:
            assert channel.recv(100) == b"READY=1"
            os.kill(server.process.pid, signal.SIGINT)
            assert channel.recv(100) == b"STOPPING=1"
            assert server.process.wait(30) == 0
