"""`pfscope serve` as a process of its own, for tests that end it in every way."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager

import httpx

COMMAND = [sys.executable, "-m", "pfscope.cli.main", "serve"]


def serve(directory, *arguments, enter=(), **environment):
    """Run the command to its end and return what it said."""
    command = [*enter, *COMMAND, *arguments, *(("--data", str(directory)) if directory else ())]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


class Served:
    """A running server."""

    def __init__(self, process, verify):
        self.process = process
        self.line = process.stdout.readline()
        found = re.search(r"https?://\S+(?=,)", self.line)
        assert found, process.stderr.read()
        self.url = found[0]
        self.client = httpx.Client(base_url=self.url, timeout=30, trust_env=False, verify=verify)

    def statuses(self, body, **headers):
        headers = {"Content-Type": "application/vnd.pfscope.frames", **headers}
        answer = self.client.post("/api/v1/frames", content=body, headers=headers)
        return [frame["status"] for frame in answer.json()["frames"]]

    def metrics(self):
        """Return the samples without labels, and those with, by their text."""
        lines = self.client.get("/metrics").text.splitlines()
        samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _blank, value in samples}

    def ledger(self, **headers):
        """Return frames by (stage, server, outcome)."""
        lines = self.client.get("/api/v1/ledger", headers=headers).json()["ledger"]
        counts = {}
        for line in lines:
            key = (line["stage"], line["server"], line["outcome"])
            counts[key] = counts.get(key, 0) + line["frames"]
        return counts

    def end(self):
        """Ask it to end and return its exit code."""
        self.process.terminate()
        return self.process.wait(30)


@contextmanager
def served(directory, *arguments, verify=True, enter=(), **environment):
    """Run a server on a free port until the block ends; `enter` leads to where it should run."""
    command = [*enter, *COMMAND, "--data", str(directory), "--listen", "127.0.0.1:0", *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            server = Served(process, verify)
            with server.client:
                yield server
        finally:
            process.kill()
