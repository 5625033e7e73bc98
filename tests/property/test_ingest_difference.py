"""The differencing against a world that knows what it counted, whatever a read does to it."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.ingest.difference import difference
from pfscope.ingest.entries import Snapshot
from pfscope.ingest.memory import Memory
from pfscope.lustre.dictionary import Dictionary
from pfscope.lustre.job_stats import JobStatsReader

STEP_S = 120
CLEANUP_S = 600
OPERATIONS = ("open", "close", "read_bytes")
IDS = (b"a.1", b"b.2", b"c.3")


class World:
    """One target whose counters are known; entries go when they were idle for long enough."""

    def __init__(self, started: bool) -> None:
        self.started = started
        self.now = 1_700_000_000
        self.entries = {}
        self.removed = set()
        self.counted = Counter()

    def step(self, work, removals):
        """Let time pass; `work` is {id: {operation: samples}}."""
        self.now += STEP_S
        for raw in removals:
            entry = self.entries.get(raw)
            if entry and entry["updated"] + CLEANUP_S < self.now - 1:
                self.removed.add(raw)
                del self.entries[raw]
        for raw, counters in work.items():
            self._work(raw, counters)

    def _work(self, raw, counters):
        if raw in self.removed and not self.started:
            return  # removed unseen and back: without a start time nobody could tell
        entry = self.entries.setdefault(raw, {"start": self.now - 1, "counters": Counter()})
        entry["updated"] = self.now - 1
        entry["counters"].update(counters)
        self.counted.update({(raw, name): n for name, n in counters.items()})

    def text(self, skipped=(), repeated=()):
        self.removed = set()
        out = b"obdfilter.fs-OST0000.job_stats=\njob_stats:\n"
        for raw, entry in self.entries.items():
            for _ in range((raw not in skipped) + (raw in repeated)):
                out += self._entry(raw, entry)
        return out

    def _entry(self, raw, entry):
        out = b"- job_id:          " + raw + b"\n"
        if self.started:
            out += b"  snapshot_time:   %d.000000000 secs.nsecs\n" % entry["updated"]
            out += b"  start_time:      %d.000000000 secs.nsecs\n" % entry["start"]
        else:
            out += b"  snapshot_time:   %d\n" % entry["updated"]
        for name, samples in entry["counters"].items():
            out += b"  %-16s { samples: %11d, unit:  reqs }\n" % (name.encode() + b":", samples)
        return out


class Reader:
    """Takes snapshots and adds up what they say was done."""

    def __init__(self, kept=None) -> None:
        self.kept = kept
        """A dictionary of ids that goes on from text to text, if any."""
        self.memory = Memory()
        self.series = []
        self.counted = Counter()
        self.covered = {}

    def take(self, time_s, text):
        reader = JobStatsReader(self.kept)
        reader.feed(text)
        usage = difference(
            Snapshot("oss1", time_s * 10**6, reader.finish()), self.memory, self._number
        )
        self.memory.target("oss1", "fs-OST0000").observe(time_s * 10**6, time_s * 10**9)
        assert (usage.samples >= 0).all()
        assert (usage.begin_us[~usage.baseline] < usage.end_us[~usage.baseline]).all()
        for i in np.flatnonzero(~usage.baseline):
            key = self.series[usage.series[i]][1], self.memory.operations[usage.operation[i]][0]
            self.counted[key] += int(usage.samples[i])
            interval = int(usage.begin_us[i]), int(usage.end_us[i])
            for begin, end in self.covered.setdefault(key, []):
                assert interval[1] <= begin or interval[0] >= end, "an interval is covered twice"
            self.covered[key].append(interval)

    def _number(self, target, ids, _weights):
        self.series.extend((target, raw) for raw in ids)
        numbers = np.arange(len(self.series) - len(ids), len(self.series))
        return numbers, np.zeros(len(ids), np.int8)


counters = st.dictionaries(st.sampled_from(OPERATIONS), st.integers(1, 50), min_size=1)
steps = st.lists(
    st.fixed_dictionaries(
        {
            "work": st.dictionaries(st.sampled_from(IDS), counters),
            "removals": st.sets(st.sampled_from(IDS)),
            "skipped": st.sets(st.sampled_from(IDS), max_size=1),
            "repeated": st.sets(st.sampled_from(IDS), max_size=1),
            "missed": st.booleans(),
        }
    ),
    min_size=1,
    max_size=25,
)


def played(started, plan):
    """Play a plan; return the world, which counts from the first of the observations on."""
    world = World(started)
    world.step({IDS[0]: {"open": 7}}, ())
    observations = [(world.now, world.text())]
    world.counted.clear()
    shown = {raw: entry["updated"] for raw, entry in world.entries.items()}
    skipped_before, missed_before = set(), 0
    for step in [*plan, None]:
        world.step(step["work"] if step else {}, step["removals"] if step else ())
        if step and step["missed"] and missed_before < 2:
            missed_before += 1
            continue
        skipped = step["skipped"] - skipped_before if step and not missed_before else set()
        if not started:
            # What could have been removed by now cannot be told from what was.
            skipped = {raw for raw in skipped if shown.get(raw, 0) + CLEANUP_S > world.now}
        observations.append((world.now, world.text(skipped, step["repeated"] if step else ())))
        shown |= {
            raw: entry["updated"] for raw, entry in world.entries.items() if raw not in skipped
        }
        skipped_before, missed_before = skipped, 0
    return world, observations


@settings(deadline=None, max_examples=150)
@given(st.booleans(), steps, st.sampled_from([None, Dictionary]))
def test_every_count_is_found_once(started, plan, kept):
    world, observations = played(started, plan)
    reader = Reader(kept and kept())
    for time_s, text in observations:
        reader.take(time_s, text)
    assert +reader.counted == +world.counted


@settings(deadline=None, max_examples=80)
@given(st.booleans(), steps, st.data())
def test_repeats_and_late_snapshots_count_nothing_twice(started, plan, data):
    if not started:
        # The snapshot that would show that a skip was no removal may be the late one.
        plan = [step | {"skipped": set()} for step in plan]
    world, observations = played(started, plan)
    reader = Reader(data.draw(st.sampled_from([None, Dictionary()])))
    reader.take(*observations[0])
    later = data.draw(st.permutations(observations[1:]))
    for time_s, text in [*later, *data.draw(st.lists(st.sampled_from(observations), max_size=3))]:
        reader.take(time_s, text)
    for key, count in reader.counted.items():
        assert count <= world.counted[key]
