"""A stand-in for `pfscope serve`: takes frames over loopback HTTP, in any mood that a test sets."""

import io
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pfscope.frames import Found, scan


class Receiver:
    """Stores each frame once; `moods` are used up one per request, then the last one stays."""

    def __init__(self, *moods):
        self.moods = list(moods) or ["good"]
        self.frames = {}
        self.stored, self.duplicates, self.requests = 0, 0, 0
        self.tokens, self.types, self.orders = set(), set(), []
        self.changed = threading.Condition()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.receiver = self
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_exception):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def mood(self):
        return self.moods.pop(0) if len(self.moods) > 1 else self.moods[0]

    def take(self, body):
        items = list(scan(io.BytesIO(body)))
        assert all(isinstance(item, Found) for item in items)
        frames = [item.frame for item in items]
        self.orders.append([frame.origin.sequence for frame in frames])
        with self.changed:
            statuses = [self.keep(frame) for frame in frames]
            self.changed.notify_all()
        names = ("server", "epoch", "sequence")
        return [
            dict(zip(names, frame.key, strict=True), status=status)
            for frame, status in zip(frames, statuses, strict=True)
        ]

    def keep(self, frame):
        if frame.key in self.frames:
            self.duplicates += 1
            return "duplicate"
        self.frames[frame.key] = frame
        self.stored += 1
        return "stored"

    def wait_for(self, condition, patience_s=30):
        with self.changed:
            assert self.changed.wait_for(condition, patience_s), "the frames did not come"


class Handler(BaseHTTPRequestHandler):
    """One method for each mood."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.receiver.tokens.add(self.headers["Authorization"])
        self.server.receiver.types.add(self.headers["Content-Type"])
        mood = self.server.receiver.mood()
        with suppress(ConnectionError):
            getattr(self, "mood_" + mood)(body)
        with self.server.receiver.changed:
            self.server.receiver.requests += 1
            self.server.receiver.changed.notify_all()

    def answer(self, status, body, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def mood_good(self, body):
        self.answer(200, json.dumps({"frames": self.server.receiver.take(body)}).encode())

    def mood_error(self, _body):
        self.answer(500, b"oops")

    def mood_busy(self, _body):
        self.answer(429, b"", Retry_After="1")

    def mood_forbidden(self, _body):
        self.answer(403, b"")

    def mood_rubbish(self, _body):
        self.answer(200, b"<html>captive portal</html>")

    def mood_lost_reply(self, body):
        self.server.receiver.take(body)
        self.connection.close()

    def mood_slow(self, body):
        time.sleep(0.5)
        self.mood_good(body)

    def mood_never(self, _body):
        time.sleep(20)

    def log_message(self, *_arguments):
        pass
