"""What a client of a server guards: its token, its memory, and the terminal of who asks."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import pfscope
from pfscope import remote
from pfscope.errors import InputError, UsageError
from pfscope.query.results import Result
from pfscope.query.written import as_arrow, from_arrow
from tests.support.query_tables import data_of

SECRET = "pfscope_" + "s" * 40


@contextmanager
def answering(status, body, **headers):
    """Answer every request alike; yield the URL and the heads that came."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_told):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{served.server_port}", seen
        finally:
            served.shutdown()
            thread.join()


def ask(url):
    return pfscope.open(url).top()


def refused(url):
    with pytest.raises(InputError) as caught:
        ask(url)
    text = str(caught.value)
    assert SECRET not in text
    assert text.isprintable()
    return text


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("PFSCOPE_TOKEN", SECRET)


def test_the_token_goes_with_the_question():
    with answering(500, b"") as (url, seen):
        refused(url)
    ((path, headers),) = seen
    assert path == "/api/v1/query/top?by=user&limit=20"
    assert headers["Authorization"] == f"Bearer {SECRET}"


def test_without_a_token_none_is_sent(monkeypatch):
    monkeypatch.delenv("PFSCOPE_TOKEN")
    with answering(500, b"") as (url, seen):
        refused(url)
    assert "Authorization" not in seen[0][1]


@pytest.mark.parametrize("url", ["http://server:8470", "http://10.0.0.1", "http://localhost.evil/"])
def test_a_token_is_not_sent_in_the_clear_over_a_network(url):
    with pytest.raises(UsageError, match="not sent over plain http"):
        pfscope.open(url)


@pytest.mark.parametrize(
    "url", ["http://", "http://a b", "http://u:p@h/", "http://h/?q", "HTTP://"]
)
def test_what_is_no_url_of_a_server_is_refused(url):
    with pytest.raises((UsageError, InputError)):
        pfscope.open(url)


@pytest.mark.parametrize("secret", ["", " ", "a\r\nX-Evil: 1", "é"])
def test_a_token_that_cannot_travel_is_refused_and_not_shown(monkeypatch, secret):
    monkeypatch.setenv("PFSCOPE_TOKEN", secret)
    with pytest.raises(UsageError, match="PFSCOPE_TOKEN must be printable") as caught:
        pfscope.open("http://127.0.0.1:1")
    assert "Evil" not in str(caught.value)


def test_a_token_file_is_ours_alone(tmp_path):
    path = tmp_path / "token"
    path.write_text(SECRET)
    path.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600") as caught:
        pfscope.open("http://127.0.0.1:1", token_file=path)
    assert SECRET not in str(caught.value)


def test_the_token_follows_no_redirection():
    with answering(200, b"{}") as (elsewhere, seen):
        with answering(302, b"", Location=f"{elsewhere}/x") as (url, _seen):
            assert "points elsewhere (status 302)" in refused(url)
        assert seen == []


def test_an_environment_with_a_proxy_does_not_get_the_token(monkeypatch):
    with answering(200, b"{}") as (proxy, seen):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.delenv("no_proxy", raising=False)
        assert "does not answer" in refused("http://127.0.0.1:1")
        assert seen == []


def test_an_answer_is_bounded(monkeypatch):
    monkeypatch.setattr(remote, "_ANSWER_BYTES", 1 << 20)
    with answering(200, b"x" * ((1 << 20) + 1)) as (url, _seen):
        assert "exceeds 1 MB" in refused(url)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"<html>", b"\xff\xff\xff\xff\x00\x00\x00\x7f", b"x" * 99]
)
def test_rubbish_is_no_answer(body):
    with answering(200, body) as (url, _seen):
        assert "does not answer as pfscope does" in refused(url)


@pytest.mark.parametrize("cut", [1, 9, 100, 400, -9])
def test_an_answer_that_is_cut_is_none(cut):
    with data_of() as data:
        whole = as_arrow(Result("top", data._source.engine._store.query("FROM frames"), {}))
    with answering(200, whole[:cut]) as (url, _seen):
        assert "does not answer as pfscope does" in refused(url)


def test_what_a_server_says_cannot_move_the_cursor():
    error = {"code": "x", "message": "\x1b[2Jall\nis well", "hint": "\u202e"}
    with answering(400, json.dumps({"error": error}).encode()) as (url, _seen):
        assert r"\x1B[2Jall\x0Ais well; \xE2\x80\xAE" in refused(url)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"error": 5}', b"[" * 60_000, b"\xff"])
def test_an_error_that_is_none_of_ours(body):
    with answering(502, body) as (url, _seen):
        assert "answered with status 502" in refused(url)


def test_nobody_there():
    assert "http://127.0.0.1:1 does not answer: Connection refused" in refused("http://127.0.0.1:1")


def test_a_certificate_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none\.pem"):
        pfscope.open("https://127.0.0.1:1", ca_file=tmp_path / "none.pem")


def test_rows_and_what_is_told_survive_the_way():
    with data_of() as data:
        table = data._source.engine._store.query("SELECT 1::BIGINT AS n, NULL::VARCHAR AS s")
    there = from_arrow("x", as_arrow(Result("x", table, {"unit": None, "by": ("a",)})))
    assert there.table.equals(table, check_metadata=True)
    assert there.about == {"unit": None, "by": ["a"]}
