"""Random tables for the printer: tiny and huge numbers, any bytes in ids."""

import numpy as np
from hypothesis import strategies as st

from pfscope.lab.dialects import Dialect, Kind
from pfscope.lab.tables import HISTOGRAM_BINS, TargetTable

MAX = 2**64 - 1
BOOT_NS = 1_600_000_000 * 10**9


numbers = st.one_of(
    st.just(0), st.integers(0, 12), st.integers(0, MAX), st.sampled_from([10**n for n in range(20)])
)
times = st.integers(BOOT_NS, BOOT_NS + 10**18)


def any_id() -> st.SearchStrategy[bytes]:
    return st.binary(max_size=31).map(lambda raw: raw.replace(b"\0", b"x"))


@st.composite
def tables(draw: st.DrawFn, dialect: Dialect, kind: Kind) -> TargetTable:
    ids = draw(st.lists(any_id(), max_size=5))
    shape = (len(ids), len(dialect.operations(kind)))
    seed = draw(st.integers(0, 2**32))
    pool = np.array(draw(st.lists(numbers, min_size=1, max_size=20)), np.uint64)
    rng = np.random.default_rng(seed)
    start = [draw(times) for _ in ids]
    histograms = rng.choice(pool // np.uint64(64), (len(ids), 2, HISTOGRAM_BINS))
    histograms[rng.random(histograms.shape) < draw(st.floats(0, 1))] = 0
    return TargetTable(
        "scratch-OST0000",
        kind,
        ids,
        np.array([draw(st.integers(t, BOOT_NS + 10**18)) for t in start], np.int64),
        np.array(start, np.int64),
        *(rng.choice(pool, shape) for _ in range(5)),
        histograms if dialect.histograms else None,
    )
