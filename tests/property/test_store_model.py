"""The store against a plain list of rows: whatever is committed, moved, deleted, broken off."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.protocol import LedgerChange
from pfscope.store.retention import Retention
from tests.support.store_rows import DAY, DAY_US, HOUR_US, at, frames, usage

KEPT_DAYS = 3
RULES = Rules(
    settle_us=HOUR_US, quiet_us=HOUR_US, merge_after_us=2 * HOUR_US, merge_above=2,
    retention=Retention(usage_ost=KEPT_DAYS, usage_mdt=KEPT_DAYS),
)  # fmt: skip
STEPS = ("written", "recorded", "committed", "expired")
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 23), st.integers(0, 2)), min_size=1, max_size=4
)


class Crash(BaseException):
    """The end of the process, as far as the store can tell."""


class StoreAgainstList(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.fails_at = None
        self.rows = []
        self.frames = 0
        self.now_us = at()

    @initialize()
    def begin(self):
        self.open()

    def open(self):
        self.store = open_store(self.directory, rules=RULES, step=self.step)
        known = {self.directory / part.path for part in self.store.parts()}
        assert known == set(self.directory.glob("parquet/*/day=*/*"))

    def step(self, name):
        if self.fails_at == name:
            self.fails_at = None
            raise Crash

    @rule(places=ROWS)
    def commit(self, places):
        times = [at(day, hour) + len(self.rows) + i for i, (day, hour, _) in enumerate(places)]
        batch = [usage(t, series=n) for t, (_, _, n) in zip(times, places, strict=True)]
        change = LedgerChange("store", "oss1", "stored", "", 1, len(batch))
        for table in batch[:-1]:
            self.store.commit({"usage_ost": table}, [])
        self.store.commit({"usage_ost": batch[-1], "frames": frames(self.frames)}, [change])
        self.rows += [(t, n) for t, (_, _, n) in zip(times, places, strict=True)]
        self.frames += 1

    @rule(hours=st.integers(0, 30))
    def maintain(self, hours):
        self.now_us += hours * HOUR_US
        self.store.maintain(self.now_us)
        self.rows = self.kept()

    @rule(hours=st.integers(1, 30), step=st.sampled_from(STEPS))
    def crash_while_maintaining(self, hours, step):
        self.now_us += hours * HOUR_US
        self.fails_at = step
        try:
            self.store.maintain(self.now_us)
        except Crash:
            self.store.close()
            self.open()
        self.fails_at = None
        if self.shown() != sorted(self.rows):
            self.rows = self.kept()

    @rule()
    def reopen(self):
        self.store.close()
        self.open()

    def kept(self):
        first = self.now_us // DAY_US - KEPT_DAYS
        return [row for row in self.rows if row[0] // DAY_US >= first]

    def shown(self):
        found = self.store.query("SELECT epoch_us(time), series FROM usage_ost ORDER BY ALL")
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    @invariant()
    def shows_exactly_the_rows(self):
        assert self.shown() == sorted(self.rows)

    @invariant()
    def a_day_shows_exactly_its_rows(self):
        day = DAY + len(self.rows) % 6
        found = self.store.query(
            "SELECT count(*) AS n FROM usage_ost WHERE time >= make_timestamptz(?) "
            "AND time < make_timestamptz(?)", [day * DAY_US, (day + 1) * DAY_US],
        )  # fmt: skip
        assert found.column("n")[0].as_py() == sum(t // DAY_US == day for t, _ in self.rows)

    @invariant()
    def knows_its_frames(self):
        assert self.store.has_frame("oss1", "e", self.frames) is False
        assert all(self.store.has_frame("oss1", "e", n) for n in range(self.frames))
        stored = [r for r in self.store.ledger().to_pylist() if r["outcome"] == "stored"]
        assert sum(r["frames"] for r in stored) == self.frames

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
        shutil.rmtree(self.directory)


TestStoreAgainstList = StoreAgainstList.TestCase
TestStoreAgainstList.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
