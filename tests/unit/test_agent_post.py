"""One POST: which answers are understood, and that nothing endless or broken is taken for one."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from pfscope.agent.errors import AgentError
from pfscope.agent.post import Endpoint, SendError, parse_reply, retry_after


@pytest.mark.parametrize(
    ("url", "host", "port", "secure"),
    [
        ("http://localhost", "localhost", 80, False),
        ("https://monitor.example.org", "monitor.example.org", 443, True),
        ("http://10.1.2.3:8470/pfscope/", "10.1.2.3", 8470, False),
        ("http://[fe80::1]:99", "fe80::1", 99, False),
    ],
)
def test_urls(url, host, port, secure):
    endpoint = Endpoint(url)
    assert (endpoint.host, endpoint.port, endpoint.secure) == (host, port, secure)


@pytest.mark.parametrize(
    "url",
    ["", "monitor", "ftp://x", "http://", "http://u:p@x", "http://x?y", "http://x#y",
     "http://x/a b", "http://x\n", "http://x/\r\nX: y", "http://x:123456"],
)  # fmt: skip
def test_urls_that_are_refused(url):
    with pytest.raises(AgentError, match="url"):
        Endpoint(url)


def test_a_missing_certificate_file_is_told():
    with pytest.raises(AgentError, match="ca_file"):
        Endpoint("https://x", ca_file="/nonexistent/ca.pem")


@pytest.mark.parametrize(
    ("raw", "status", "wait_s", "body"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\nhi", 200, 0, b"hi"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, 0, b"hi"),
        (b"HTTP/1.1 429 Too Many\r\nretry-after: 7\r\n\r\n", 429, 7, b""),
        (b"HTTP/1.1 503\r\nRetry-After: soon\r\n\r\n", 503, 0, b""),
    ],
)
def test_replies(raw, status, wait_s, body):
    assert parse_reply(raw) == (status, wait_s, body)


@pytest.mark.parametrize(
    "raw",
    [b"", b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.0 200 OK\r\n", b"HTTP/2 200\r\n\r\n",
     b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", b"\x15\x03\x01\x00\x02\x02\x46"],
)  # fmt: skip
def test_what_is_no_reply(raw):
    with pytest.raises(SendError):
        parse_reply(raw)


def test_retry_after_as_a_date():
    date = b"Fri, 31 Dec 1999 23:59:59 GMT"
    assert retry_after(date, now=946684790.0) == 9.0
    assert retry_after(date, now=946684800.0) == 0.0
    assert retry_after(b"9" * 400) > 3600


class Server:
    """Accepts one connection and lets a function speak to it."""

    def __init__(self, speak):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/base"
        self.received = b""
        self.thread = threading.Thread(target=self.serve, args=(speak,))

    def serve(self, speak):
        connection, _address = self.listener.accept()
        with connection:
            while b"\r\n\r\nBODY" not in self.received:
                self.received += connection.recv(4096)
            with suppress(OSError):
                speak(connection)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_exception):
        self.thread.join()
        self.listener.close()


def test_the_request():
    with Server(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) as server:
        reply = Endpoint(server.url, "s3cret").post(b"BODY")
    assert reply == (200, 0.0, b"ok")
    head = server.received.split(b"\r\n\r\n")[0].decode().split("\r\n")
    assert head[0] == "POST /base/api/v1/frames HTTP/1.0"
    assert "Authorization: Bearer s3cret" in head
    assert "Content-Type: application/vnd.pfscope.frames" in head
    assert "Content-Length: 4" in head


def test_an_answer_that_is_whole_is_taken_though_the_connection_stays_open():
    done = threading.Event()

    def speak(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        done.wait(30)

    with Server(speak) as server:
        assert Endpoint(server.url).post(b"BODY", patience_s=20).body == b"ok"
        done.set()


def test_an_answer_that_never_ends_is_given_up():
    def speak(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(bytes(100_000))

    with Server(speak) as server, pytest.raises(SendError, match="too long"):
        Endpoint(server.url).post(b"BODY")


def test_an_answer_that_drips_is_given_up_at_the_deadline():
    def speak(connection):
        while True:
            connection.sendall(b"H")
            time.sleep(0.02)

    with Server(speak) as server, pytest.raises(SendError, match=r"in time|timed out"):
        Endpoint(server.url).post(b"BODY", patience_s=0.3)


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SendError, match="refused"):
        Endpoint(f"http://127.0.0.1:{port}").post(b"BODY")
