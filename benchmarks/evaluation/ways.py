"""Two ways to let the watch see a story: as on a real site, or the short way without any text."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from benchmarks.evaluation.live import Live
from benchmarks.evaluation.quick import STEP_US, Rates, Recent
from pfscope.frames import Origin, Section
from pfscope.ingest import Ingest
from pfscope.ingest.reading import TextFrame
from pfscope.lab.cluster import DEFAULT_START, Cluster
from pfscope.lab.scenarios import INTERVAL_S
from pfscope.lab.text import server_text
from pfscope.query.asked import Site
from pfscope.query.data import Data
from pfscope.query.engine import StoreEngine
from pfscope.query.local import LocalSource
from pfscope.query.metrics import SHIPPED
from pfscope.store.embedded import open_store
from pfscope.watch.batch import pieces, steps

START_US = int(DEFAULT_START.timestamp()) * 10**6
_BATCH = 60


def real(story):
    """Let the site print, read and store what it printed, and watch what is stored."""
    with stored(story) as data:
        live = Live(data, from_us=_from_us(story))
        for seen in pieces(data, START_US, START_US + int(story.hours * 3600e6)):
            live.trends = live.trends.widened(seen.signals)
            for step in steps(live.trends, seen):
                live.step(*step)
        return live


def quick(story, told=lambda _part: None):
    """Let the watch see at once what was done; it asks for the causes of pages alone."""
    cluster = Cluster(story.options)
    recent, rates = Recent(cluster), Rates(cluster.site)
    try:
        live = Live(recent.data, pages_only=not story.troubles, truth=recent.founded,
                    from_us=_from_us(story))  # fmt: skip
        live.trends = live.trends.widened(rates.signals)
        for time_ns, used in cluster.usage(hours=story.hours):
            time_us = time_ns // 1000
            recent.add(time_us, used)
            live.step(time_us, time_us - STEP_US, rates(used))
            told((time_us - START_US) / (story.hours * 3600e6))
        return live
    finally:
        recent.close()


def _from_us(story):
    """Return from when on it is of interest what is said."""
    first_s = min((trouble.start_s for trouble in story.troubles), default=0.0)
    return START_US + round(max(first_s - 3600, 0) * 1e6)


@contextmanager
def stored(story):
    """Put what the site of a story prints into a store; yield its data."""
    with tempfile.TemporaryDirectory() as directory, open_store(Path(directory)) as store:
        ingest, frames = Ingest(store, wait_s=0), []
        observations = Cluster(story.options).run(hours=story.hours, interval_s=INTERVAL_S)
        for number, snapshots in enumerate(observations):
            frames += [_frame(snapshot, number) for snapshot in snapshots]
            if len(frames) >= _BATCH:
                ingest.take(frames)
                frames = []
        ingest.take(frames)
        yield Data(LocalSource(StoreEngine(store), Site(SHIPPED, ()), lambda: None))


def _frame(snapshot, number):
    origin = Origin(snapshot.server, snapshot.boot_id, number, snapshot.time_ns)
    return TextFrame(origin, (Section("lctl", server_text(snapshot.dialect, snapshot)),))
