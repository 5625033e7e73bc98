"""A client that sends one frame after another, as an agent does, and notes what it was told."""

import threading
import time

import httpx

HEADERS = {"Content-Type": "application/vnd.pfscope.frames"}


class SteadySender:
    """Sends `make(sequence)` until it is acknowledged, then the next; to whichever server lives."""

    def __init__(self, make, pause_s=0.005):
        self.acknowledged = set()
        self.refused = 0
        self.answers = set()
        """(HTTP status, verdict, whether Retry-After was there) of all answers."""
        self.url = None
        self._make = make
        self._pause_s = pause_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._over.set()
        self._thread.join()

    def until_acknowledged(self, more):
        goal = len(self.acknowledged) + more
        _until(lambda: len(self.acknowledged) >= goal)

    def until_refused(self, more):
        goal = self.refused + more
        _until(lambda: self.refused >= goal)

    def _run(self):
        sequence = 0
        with httpx.Client(timeout=30, trust_env=False) as client:
            while not self._over.wait(self._pause_s):
                sequence += self._send(client, sequence)

    def _send(self, client, sequence):
        if self.url is None:
            return False
        try:
            answer = client.post(
                f"{self.url}/api/v1/frames", content=self._make(sequence), headers=HEADERS
            )
        except httpx.TransportError:
            return False
        (frame,) = answer.json()["frames"]
        self.answers.add((answer.status_code, frame["status"], "Retry-After" in answer.headers))
        if frame["status"] == "retry":
            self.refused += 1
            return False
        self.acknowledged.add(sequence)
        return True


def _until(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came true")
