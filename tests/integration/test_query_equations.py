"""From counters to rates by the thesis' equations C1 to C6, through text, ingest, store and query.

The sampling is that of its figure C1: nine observations at uneven times, a counter that appears,
grows, rests, is removed, comes back from zero, and restarts between two observations.
"""

from itertools import pairwise

import pytest

import pfscope
from pfscope.frames import Origin, Section
from pfscope.ingest import Ingest
from pfscope.ingest.reading import TextFrame
from pfscope.store.embedded import open_store
from pfscope.times import iso

START_S = 1_666_828_800
TIMES_S = (0, 120, 300, 420, 540, 720, 1500, 1620, 1740)
COUNTERS = (None, 400, 1000, 1600, 1600, None, 700, 1200, 300)
"""c_k(t), None where the entry is not observed."""
HEAD = "mdt.scratch-MDT0000.job_stats=\njob_stats:\n"
ENTRY = """- job_id:          11317854:1000:r01c01
  snapshot_time:   {time}
  open:            {{ samples: {samples:11d}, unit:  reqs }}
"""


def frame(number, time_s, samples):
    text = HEAD if samples is None else HEAD + ENTRY.format(time=time_s, samples=samples)
    origin = Origin("mds1", "boot", number, time_s * 10**9)
    return TextFrame(origin, (Section("lctl", text.encode()),))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("equations")
    observed = zip(TIMES_S, COUNTERS, strict=True)
    frames = [frame(n, START_S + t, counter) for n, (t, counter) in enumerate(observed)]
    with open_store(directory) as store:
        ingest = Ingest(store, wait_s=0)
        for each in frames:
            ingest.take([each])
    with pfscope.open(directory) as opened:
        yield opened


def increments():
    """C1 and C3, as they stand."""
    values = [0 if counter is None else counter for counter in COUNTERS]
    return [now - before if now >= before else now for before, now in pairwise(values)]


def test_increments_and_rates_follow_c3_and_c4(data):
    found = data.series(by="job", operation="open", step="observed").to_pylist()
    wanted = {
        START_S + end: increment / (end - begin)
        for (begin, end), increment in zip(pairwise(TIMES_S), increments(), strict=True)
        if increment
    }
    assert {row["time"].timestamp(): row["rate"] for row in found} == pytest.approx(wanted)


@pytest.mark.parametrize("step_s", [60, 77, 1740])
def test_the_integral_of_the_rate_recovers_the_increments(data, step_s):
    (found,) = data.top(by="job", operation="open", step=str(step_s)).to_pylist()
    assert found["total"] == pytest.approx(sum(increments()))


def test_a_part_of_an_interval_has_its_part_of_the_increment(data):
    begin, end = (iso((START_S + second) * 10**6) for second in (150, 210))
    (found,) = data.top(by="job", operation="open", start=begin, end=end).to_pylist()
    assert found["total"] == pytest.approx(600 * 60 / 180)
