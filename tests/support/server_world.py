"""A server in this process, for tests: real HTTP, real journal, and a store and ingest in memory.

The store is shared by all engines that are opened on it, as a directory would be.
"""

import threading
from collections import Counter
from contextlib import ExitStack, contextmanager

import httpx
import pyarrow as pa

from pfscope.server.app import create_app
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.server.peers import bound_socket
from pfscope.server.run import bound, make_server, parse_listen
from pfscope.server.tokens import Gate, TokenFile
from pfscope.store.protocol import LedgerChange, StoreError
from pfscope.store.schema import LEDGER


class MemoryStore:
    """Keeps what was committed; takes nothing while `failing`, shows nothing while `shut`."""

    def __init__(self, directory):
        self.directory = directory
        self.frames = []
        self.counts = Counter()
        self.failing = False
        self.shut = False

    def commit(self, batch, ledger):
        if self.failing:
            raise StoreError("the disk is full")
        self.frames += [tuple(row.values()) for row in batch.get("frames", [])]
        for change in ledger:
            self.counts[change[:4]] += change.frames

    def has_frame(self, server, epoch, sequence):
        self._look()
        return (server, epoch, sequence) in self.frames

    def ledger(self):
        self._look()
        rows = [LedgerChange(*key, n, 0)._asdict() for key, n in self.counts.items()]
        return pa.Table.from_pylist(rows, schema=LEDGER)

    def maintain(self, now_us):
        pass

    def close(self):
        pass

    def _look(self):
        if self.shut:
            raise StoreError("the store failed and stays shut")


class MemoryIngest:
    """Counts each frame once, as stored."""

    def __init__(self, store):
        self._store = store

    def take(self, frames):
        rows = [dict(zip(("server", "epoch", "sequence"), f.key, strict=True)) for f in frames]
        servers = Counter(frame.origin.server for frame in frames)
        ledger = [
            LedgerChange("ingest", server, outcome, "", n, 0)
            for server, n in servers.items()
            for outcome in ("received", "stored")
        ]
        self._store.commit({"frames": rows}, ledger)

    def waiting(self):
        return set()

    def recover(self, frames):
        for frame in frames:
            if not self._store.has_frame(*frame.key):
                self.take([frame])

    def checkpoint(self):
        pass


class World:
    """A running server and a client of it."""

    def __init__(self, engine, store, url, running):
        self.running = running
        self.engine = engine
        self.store = store
        self.url = url
        self.client = httpx.Client(base_url=url, timeout=30, trust_env=False)

    def post(self, body, **more):
        headers = {"Content-Type": "application/vnd.pfscope.frames", **more.pop("headers", {})}
        return self.client.post("/api/v1/frames", content=body, headers=headers, **more)

    def statuses(self, body, **more):
        return [frame["status"] for frame in self.post(body, **more).json()["frames"]]

    def lctl(self, text, query="server=oss1", **more):
        return self.client.post(f"/api/v1/lctl?{query}", content=text, **more)

    def error(self, response):
        return response.status_code, response.json()["error"]["code"]


def make_engine(store, limits=None, **more):
    return Engine(store, MemoryIngest, limits or Limits(), checkpoint_s=0.05, **more)


@contextmanager
def server(
    directory,
    limits=None,
    store=None,
    listen="127.0.0.1:0",
    gate=None,
    engine=None,
    pages=(),
    privacy=None,
    local=None,
    site=None,
):
    """Serve on a free port of loopback, and on a local socket, until the block ends."""
    store = store or MemoryStore(directory)
    limits = limits or Limits()
    engine = engine or make_engine(store, limits)
    listening = threading.Event()
    chosen = parse_listen(listen)
    gate = gate or Gate(TokenFile(directory), may_be_open=True)
    app = create_app(engine, gate, site, pages, privacy)
    with ExitStack() as stack:
        listener, url = stack.enter_context(bound(chosen))
        unix = stack.enter_context(bound_socket(local)) if local else None
        running = make_server(app, chosen, limits, listening.set, unix)
        thread = threading.Thread(target=running.run, args=([listener],))
        thread.start()
        assert listening.wait(20)
        world = World(engine, store, url, running)
        try:
            yield world
        finally:
            world.client.close()
            running.should_exit = True
            thread.join()


def ledger_of(store):
    """Return the ledger as a dictionary, after checking that it balances."""
    received, settled = Counter(), Counter()
    for (stage, server_name, outcome, _reason), n in store.counts.items():
        (received if outcome == "received" else settled)[stage, server_name] += n
    assert received == settled
    return {key: n for key, n in store.counts.items() if n}
