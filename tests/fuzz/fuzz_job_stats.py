"""Fuzz target: no bytes make the job_stats reader fail, and a good entry behind them is read.

Run by hand with `make fuzz`; a test runs `fuzz_one` over seeds and their mutations.
"""

import sys

from pfscope.lustre.identity import Identifier
from pfscope.lustre.job_stats import parse_job_stats

GOOD = (
    b"- job_id:          4242:1000:r01c01\n  snapshot_time:   1322494486\n"
    b"  open:            { samples:           7, unit:  reqs }\n"
)
SEEDS = (
    b"obdfilter.scratch-OST0000.job_stats=\njob_stats:\n" + GOOD,
    b'- job_id:          "a\\x3Ab"\n  snapshot_time:   17.887515895 secs.nsecs\n'
    b"  read_bytes:      { samples:           4, unit: bytes, min:     4096, max:  1048576, "
    b"sum:          3149824, sumsq:      3298551660544, hist: { 4K: 1, 1M: 3 } }\n",
    b"- job_id:          x\nsnapshot_time   : 1896533.424837288 secs.nsecs\n",
)
IDENTIFIER = Identifier()


def fuzz_one(data: bytes) -> None:
    """Read the bytes, and the same with a good entry behind them."""
    parse_job_stats(data)
    stats = parse_job_stats(data + b"\n" + GOOD)
    if stats.ids[stats.entry_id[-1]] != b"4242:1000:r01c01":
        raise AssertionError(f"the good entry is lost behind {data!r}")
    for raw in stats.ids:
        IDENTIFIER.identify(raw)


if __name__ == "__main__":
    import atheris

    atheris.instrument_all()
    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()
