"""What the laboratory prints, the parser reads back, number by number, in every dialect."""

import numpy as np
import pytest
from hypothesis import given, settings

from pfscope.lab.dialects import DIALECTS, KINDS, Dialect, Kind
from pfscope.lab.tables import TargetTable
from pfscope.lab.text_ids import spelled_id
from pfscope.lab.text_jobs import job_stats_text
from pfscope.lustre.job_stats import JobStats, parse_job_stats
from tests.support.lab_tables import BOOT_NS, tables

Counter = tuple[int, str, int, int, int]
"""Entry, operation, samples, sum, sumsq."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in DIALECTS if DIALECTS[name].quoting != "raw"])
def test_every_counter_comes_back(name: str, kind: Kind) -> None:
    dialect = DIALECTS[name]

    @settings(max_examples=15, deadline=None)
    @given(tables(dialect, kind))
    def check(table: TargetTable) -> None:
        parsed = parse_job_stats(job_stats_text(dialect, table, BOOT_NS))
        assert not parsed.defects
        assert [parsed.ids[i] for i in parsed.entry_id] == [
            read_back(dialect, r) for r in table.ids
        ]
        origin = BOOT_NS if dialect.times == "boot" else 0
        unit = 1 if dialect.start_times else 10**9
        assert parsed.snapshot_ns.tolist() == ((table.snapshot_ns - origin) // unit * unit).tolist()
        assert counters(parsed) == expected(dialect, table)

    check()


def read_back(dialect: Dialect, raw: bytes) -> bytes:
    return spelled_id(dialect.quoting, raw) if dialect.quoting == "question" else raw


def counters(parsed: JobStats) -> list[Counter]:
    names = [parsed.operations[n] for n in parsed.operation]
    return list(
        zip(
            parsed.entry.tolist(), names, parsed.samples.tolist(),
            np.where(parsed.measured, parsed.total, 0).tolist(),
            np.where(parsed.squared, parsed.sumsq, 0).tolist(), strict=True,
        )
    )  # fmt: skip


def expected(dialect: Dialect, table: TargetTable) -> list[Counter]:
    operations = dialect.operations(table.kind)
    in_bytes = [name.endswith("_bytes") for name in operations]
    rows = []
    for entry, column in zip(*(a.tolist() for a in np.nonzero(table.samples)), strict=True):
        measured = dialect.service_times or in_bytes[column]
        total = int(table.total[entry, column]) if measured else 0
        sumsq = int(table.sumsq[entry, column]) if dialect.service_times else 0
        rows.append((entry, operations[column], int(table.samples[entry, column]), total, sumsq))
    return rows
