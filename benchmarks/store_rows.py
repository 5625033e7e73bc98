"""The rows that a simulated Puhti leaves behind, one batch an observation, as ingest makes them."""

from pathlib import Path

from pfscope.frames import FrameBuilder, Origin, Section, decode
from pfscope.ingest import Ingest
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.text import server_files


class Recorder:
    """An empty store that only hands on what it is given."""

    directory = Path()

    def __init__(self):
        self.batch = {}

    def next_series(self):
        """Begin with the first number."""
        return 0

    def operations(self):
        """Know none."""
        return []

    def commit(self, batch, ledger):
        """Hand on the rows."""
        del ledger
        self.batch = batch


def puhti_batches(hours, dialect):
    """Yield the tables of each observation, job_stats alone, and how many entries were observed."""
    store = Recorder()
    ingest = Ingest(store)
    cluster = Cluster(Options(preset="puhti", dialects=(dialect,)))
    for snapshots in cluster.run(hours=hours):
        ingest.take([_frame(snapshot) for snapshot in snapshots])
        yield store.batch, sum(len(t.ids) for s in snapshots for t in s.tables)


def _frame(snapshot):
    builder = FrameBuilder()
    for file in server_files(snapshot.dialect, snapshot):
        if file.name.endswith("job_stats"):
            builder.section(Section(file.name, file.value))
    return decode(builder.finish(Origin(snapshot.server, "boot", 0, snapshot.time_ns)))
