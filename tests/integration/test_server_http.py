"""The HTTP face: what an agent, curl and a monitoring system meet."""

import gzip
import json
import socket
import subprocess
import threading
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from pfscope.frames import iter_frames
from pfscope.server import openapi
from pfscope.server.app import create_app
from pfscope.server.limits import Limits
from pfscope.server.tokens import Gate, TokenFile
from tests.support.frame_samples import TEXT, encoded
from tests.support.server_world import MemoryStore, make_engine, server

WHEN = "server=oss1&time=2026-11-18T12:00:00Z"


@pytest.fixture
def world(tmp_path):
    with server(tmp_path) as world:
        yield world


def zstd(data):
    return pa.Codec("zstd").compress(data, asbytes=True)


@pytest.mark.parametrize(
    ("encoding", "encode"), [("identity", bytes), ("gzip", gzip.compress), ("zstd", zstd)]
)
def test_frames_and_texts_come_in_every_encoding(world, encoding, encode):
    headers = {"Content-Encoding": encoding}
    body = encoded(0) + encoded(1)
    assert world.statuses(encode(body), headers=headers) == ["stored", "stored"]
    answer = world.lctl(encode(TEXT), WHEN, headers=headers)
    assert answer.json()["frames"][0]["status"] == "stored"


def test_each_frame_is_answered_by_its_name_and_repeats_are_known(world):
    answer = world.post(encoded(0) + encoded(1)).json()
    named = {"server": "mds1", "epoch": "boot.1", "status": "stored", "reason": ""}
    assert answer == {"frames": [{**named, "sequence": 0}, {**named, "sequence": 1}]}
    assert world.statuses(encoded(1) + encoded(2)) == ["duplicate", "stored"]


def test_damage_is_rejected_alone_and_what_stands_around_it_is_taken(world):
    broken = bytearray(encoded(1))
    broken[-1] ^= 0xFF
    body = encoded(0) + bytes(broken) + b"rubbish" + encoded(2)[:-5] + encoded(3)
    frames = world.post(body).json()["frames"]
    assert [f["sequence"] for f in frames if f["status"] == "stored"] == [0, 3]
    rejected = [f for f in frames if f["status"] == "rejected"]
    assert rejected
    for frame in rejected:
        assert frame["reason"].startswith("damaged: ")
        assert (frame["server"], frame["sequence"]) == ("", -1)


def test_a_text_becomes_a_frame_known_by_server_time_and_digest(world, tmp_path):
    world.store.failing = True  # so that the frames stay where they can be read
    for query, text, status in [
        (WHEN, TEXT, "stored"),
        (WHEN, TEXT, "duplicate"),
        (WHEN.replace("12:00:00Z", "13:00:00%2B01:00"), TEXT, "duplicate"),
        ("server=oss1&time=1795003200", TEXT, "duplicate"),
        ("server=oss1&time=1795003200.000", TEXT, "duplicate"),
        ("server=oss1&time=1795003260", TEXT, "stored"),
        (WHEN, TEXT + b" ", "stored"),
        (WHEN.replace("oss1", "oss2"), TEXT, "stored"),
    ]:
        assert world.lctl(text, query).json()["frames"][0]["status"] == status, query
    (frame, *_rest) = iter_frames(str(tmp_path / "journal"))
    (section,) = frame.sections()
    assert (section.name, section.text) == ("lctl", TEXT)
    assert frame.origin.wall_ns == 1795003200 * 10**9


def test_curl_is_a_full_client(world):
    url = f"{world.url}/api/v1/lctl?server=oss1"
    command = ["curl", "-sS", "--fail", "--noproxy", "*", "--data-binary", "@-", url]
    done = subprocess.run(command, input=TEXT, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["frames"][0]["status"] == "stored"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "server-name"),
        ("server=", "server-name"),
        ("server=a%20b", "server-name"),
        ("server=..%2Fx%0A", "server-name"),
        ("server=oss1&time=noon", "time"),
        ("server=oss1&time=-5", "time"),
        ("server=oss1&time=99999999999999", "time"),
        ("server=oss1&time=0001-01-01T00:00:00Z", "time"),
        ("server=oss1&time=9999-12-31T00:00:00Z", "time"),
        ("server=oss1&time=", "time"),
        ("server=oss1&tiem=5", "parameter"),
        ("server=oss1&server=oss2", "parameter"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(world, query, code):
    assert world.error(world.lctl(TEXT, query)) == (400, code)


def test_every_refusal_has_one_shape_and_every_answer_safe_headers(world):
    client = world.client
    answers = [
        (client.get("/"), 200),
        (client.get("/nothing/here"), 404),
        (client.get("/api/v1/frames"), 405),
        (client.request("OPTIONS", "/health"), 405),
        (client.request("BREW", "/health"), 405),
        (world.post(b""), 400),
        (world.post(encoded(0), headers={"Content-Type": "text/html"}), 415),
        (world.post(encoded(0), headers={"Content-Encoding": "br"}), 415),
        (world.post(encoded(0), headers={"Content-Encoding": "gzip, gzip"}), 415),
        (world.post(b"rubbish", headers={"Content-Encoding": "gzip"}), 400),
    ]
    for answer, status in answers:
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
        if status >= 400:
            error = answer.json()["error"]
            assert set(error) == {"code", "message", "hint"}
            assert all(error.values()), error
    assert answers[2][0].headers["allow"] == "POST"


def test_a_fault_is_answered_in_the_same_shape_without_its_details(tmp_path, monkeypatch, capfd):
    def fail():
        raise RuntimeError("a\nsecret")

    with server(tmp_path) as world:
        monkeypatch.setattr(world.engine, "ledger", fail)
        answer = world.client.get("/api/v1/ledger")
        assert world.error(answer) == (500, "fault")
        assert "secret" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        (line,) = [line for line in capfd.readouterr().err.splitlines() if "secret" in line]
        assert line.startswith("pfscope: ERROR: a fault in /api/v1/ledger | Traceback")


def test_a_head_that_is_too_large_is_refused(world):
    for headers in ({"X-Big": "x" * 20_000}, {f"X-{i}": "y" * 100 for i in range(200)}):
        assert world.error(world.client.get("/", headers=headers)) == (431, "head")
    assert world.error(world.client.get("/?" + "q" * 20_000)) == (431, "head")


def test_what_is_no_http_is_told_so_in_the_same_shape(world):
    where = urlsplit(world.url)
    with socket.create_connection((where.hostname, where.port), 20) as connection:
        connection.sendall(b"\x16\x03\x01 no HTTP at all\r\n\r\n")
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"x-content-type-options: nosniff" in head.lower()
    assert json.loads(body)["error"]["code"] == "http"


def test_ready_says_why_not(world):
    assert world.client.get("/ready").json() == {"status": "ready"}
    world.store.failing = True
    world.post(encoded(0))
    while (answer := world.client.get("/ready")).status_code == 200:
        pass
    assert world.error(answer) == (503, "not-ready")
    assert "the disk is full" in answer.json()["error"]["message"]
    assert answer.headers["retry-after"]
    assert world.client.get("/health").json()["status"] == "alive"


def test_what_cannot_be_kept_now_is_told_to_come_later(tmp_path):
    with server(tmp_path, Limits(free_bytes=1 << 60)) as world:
        answer = world.post(encoded(0))
        assert answer.json()["frames"][0]["status"] == "retry"
        assert answer.headers["retry-after"]
        answer = world.lctl(TEXT)
        assert world.error(answer) == (503, "later")
        assert "disk" in answer.json()["error"]["message"]
        assert answer.headers["retry-after"]
        assert "pfscope_deferred_frames_total 2" in world.client.get("/metrics").text


def test_an_answer_waits_for_the_sync_and_others_share_it(world, monkeypatch):
    gate, log = threading.Event(), world.engine._journal._log
    sync = log.sync
    monkeypatch.setattr(log, "sync", lambda: (gate.wait(20), sync()))
    results = []
    threads = [
        threading.Thread(target=lambda i=i: results.extend(world.statuses(encoded(i))))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    while world.client.get("/metrics").text.count("pfscope_requests_in_flight 8") == 0:
        assert results == []
    gate.set()
    for thread in threads:
        thread.join()
    assert results == ["stored"] * 8
    assert world.engine.state().journal.syncs <= 8


def test_tokens_bind_agents_to_their_servers(tmp_path):
    file = TokenFile(tmp_path)
    mds, reader = file.add("mds", ("mds*",)), file.add("reader", ())
    with server(tmp_path, gate=Gate(file)) as world:

        def by(secret):
            return {"Authorization": f"Bearer {secret}"}

        body = encoded(0, server="mds1") + encoded(0, server="oss1")
        frames = world.post(body, headers=by(mds)).json()["frames"]
        assert [f["status"] for f in frames] == ["stored", "rejected"]
        assert frames[1]["server"] == "oss1"
        assert frames[1]["reason"].startswith("not-allowed: ")
        assert world.error(world.lctl(TEXT, headers=by(mds))) == (403, "not-allowed")
        assert world.statuses(encoded(5, server="mds1"), headers=by(reader)) == ["rejected"]
        assert world.client.get("/metrics", headers=by(reader)).status_code == 200
        for path in ("/metrics", "/api/v1/ledger"):
            assert world.client.get(path).status_code == 401
        for path in ("/", "/health", "/ready", "/api/v1/openapi.json"):
            assert world.client.get(path).status_code == 200


def test_the_description_covers_exactly_what_is_served(world):
    described = {
        (path, method.upper())
        for path, item in openapi.document()["paths"].items()
        for method in item
    }
    app = create_app(world.engine, Gate(TokenFile(world.store.directory))).app
    served = {(r.path, m) for r in app.routes for m in r.methods - {"HEAD"}}
    assert served == described


def test_a_restart_finds_what_was_stored(tmp_path):
    store = MemoryStore(tmp_path)
    with server(tmp_path, store=store) as world:
        assert world.statuses(encoded(0)) == ["stored"]
    with server(tmp_path, store=store, engine=make_engine(store)) as world:
        assert world.statuses(encoded(0)) == ["duplicate"]


def test_a_store_that_fails_is_no_fault_but_a_reason_to_come_later(world):
    world.store.shut = True
    answer = world.post(encoded(0))
    assert [frame["status"] for frame in answer.json()["frames"]] == ["retry"]
    assert "Retry-After" in answer.headers
    assert world.lctl(TEXT).status_code == 503
    assert world.error(world.client.get("/api/v1/ledger")) == (503, "not-ready")
    metrics = world.client.get("/metrics")
    assert metrics.status_code == 200
    assert "pfscope_disk_free_bytes " in metrics.text
    world.store.shut = False
    assert world.statuses(encoded(0)) == ["stored"]
    assert world.client.get("/api/v1/ledger").status_code == 200
