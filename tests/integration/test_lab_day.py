"""A day of a small site, in every release and with all faults, as frames: all of it is read back.

Exactly the ids, the forms and the counters that the laboratory printed.
"""

from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest

from pfscope.frames import FrameBuilder, Origin, Section, decode
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.dialects import DIALECTS
from pfscope.lab.faults import FAULTS
from pfscope.lab.text import server_sections
from pfscope.lab.text_ids import spelled_id
from pfscope.lustre.identity import Identifier
from pfscope.lustre.job_stats import parse_job_stats
from pfscope.lustre.names import target_of_parameter

START = datetime(2022, 10, 27, tzinfo=UTC)
IDENTIFIER = Identifier()


def as_frame(snapshot, sequence):
    builder = FrameBuilder()
    for name, value in server_sections(snapshot.dialect, snapshot):
        if name.endswith(".job_stats"):
            builder.section(Section(name, value))
    return builder.finish(Origin(snapshot.server, snapshot.boot_id, sequence, snapshot.time_ns))


def readable(raw, dialect):
    """Return what can be read of an id: releases up to 2.15.1 print `?` for some bytes."""
    return spelled_id("question", raw) if dialect.quoting == "question" else raw


def compare(table, dialect, stats):
    """Hold one target's columns against what was printed of it; return its classes of ids."""
    ids = [stats.ids[i] for i in stats.entry_id.tolist()]
    assert ids == [readable(raw, dialect) for raw in table.ids]
    if dialect.times == "nanoseconds":
        assert stats.snapshot_ns.tolist() == table.snapshot_ns.tolist()
        assert stats.start_ns.tolist() == table.start_ns.tolist()
    elif dialect.times == "seconds":
        assert (stats.snapshot_ns == table.snapshot_ns // 10**9 * 10**9).all()
    names = list(dialect.operations(table.kind))
    column = np.array([names.index(name) for name in stats.operations], np.int64)[stats.operation]
    printed = table.samples > 0
    assert printed.sum() == stats.counters
    for mine, theirs in (
        (stats.samples, table.samples), (stats.minimum, table.minimum),
        (stats.maximum, table.maximum), (stats.total, table.total),
    ):  # fmt: skip
        assert (mine == np.where(stats.measured, theirs[stats.entry, column], mine)).all()
    assert (stats.samples == table.samples[stats.entry, column]).all()
    squared = stats.squared
    assert (stats.sumsq[squared] == table.sumsq[stats.entry, column][squared]).all()
    if dialect.histograms:
        assert stats.hist_count.sum() == table.histograms.sum()
    return Counter(IDENTIFIER.identify(raw).id_class.value for raw in ids)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_day_is_read_back(name):
    cluster = Cluster(Options(dialects=(name,), faults=frozenset(FAULTS), seed=5))
    classes, frames = Counter(), 0
    for sequence, snapshots in enumerate(cluster.run(START, hours=24, interval_s=1200)):
        for snapshot in snapshots:
            frame = decode(as_frame(snapshot, sequence))
            texts = {target_of_parameter(s.name): s.text for s in frame.sections()}
            frames += 1
            for table in snapshot.tables:
                stats = parse_job_stats(texts.get(table.target, b""))
                assert not stats.defects
                classes += compare(table, snapshot.dialect, stats)
    assert frames > 200
    assert {"sound", "missing-job", "qualified-host", "truncated", "malformed", "foreign"} <= set(
        classes
    )
