"""A web server on loopback that keeps what is posted, and answers as it is told."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Posted(NamedTuple):
    """One request."""

    path: str
    headers: dict
    body: bytes


class HookServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Hook)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.posted = []
        self.statuses = []
        """What to answer next; 200 when there is nothing left."""
        self.location = None
        self.pages = {}
        """What there is to get, by path."""
        self.arrived = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def handle_error(self, request, client_address):
        """Clients of tests go away in the middle."""


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.posted.append(Posted(self.path, headers, body))
        self.server.arrived.set()
        self.server.may_answer.wait(30)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(b"said\n")

    def do_GET(self):
        page = self.server.pages.get(self.path)
        self.send_response(404 if page is None else 200)
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_told):
        """Be quiet."""


@contextmanager
def hook_server():
    """Give a running server."""
    with HookServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.may_answer.set()
            server.shutdown()
            thread.join()
