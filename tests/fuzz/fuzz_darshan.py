"""Fuzz target: no bytes make the reader of Darshan's logs, or the lake's tables, fail.

Run by hand as a program (needs atheris); a test runs `fuzz_one` over seeds and their mutations.
"""

import sys

from pfscope.logs.darshan import DarshanError, DarshanLog, Limits
from pfscope.logs.darshan.layouts import words
from pfscope.mine.darshan_batch import Batch
from pfscope.mine.darshan_files import file_rows
from pfscope.mine.darshan_jobs import job_rows, summed
from pfscope.mine.darshan_ranks import rank_rows
from pfscope.mine.darshan_runs import run_of
from pfscope.mine.darshan_traces import heatmap_rows, object_rows, traced_rows
from pfscope.mine.schema import TABLES
from tests.support.darshan_logs import counted, dxt, heatmap, lustre_1, lustre_2, write_log

LIMITS = Limits(region_bytes=1 << 22, records=10_000, names_bytes=1 << 20, whole_bytes=1 << 22)


def _seed(version, order, lustre):
    modules = [
        (name, layout, counted(words(name, layout), order, [
            {"id": 5, "rank": -1}, {"id": 6, "rank": 0}, {"id": 6, "rank": 1}
        ]))
        for name, layout in (("POSIX", 3), ("MPI-IO", 2), ("STDIO", 1))
    ]  # fmt: skip
    modules += [
        lustre,
        ("HEATMAP", 1, heatmap(order, [(7, 0, 0.5, [0, 7], [2, 0])])),
        ("DXT_POSIX", 2, dxt(order, [(5, 1, b"n1", [(0, 1, 0.1, 0.2)], [(0, 4, 1.0, 2.0)])])),
    ]
    if version >= "3.41":
        modules.append(("H5D", 2, counted(words("H5D", 2), order, [{"id": 50, "file_id": 5}])))
    return write_log(modules, [(5, "/lus/a"), (6, "<STDIN>"), (7, "heatmap:POSIX")],
                     version=version, order=order, compression="none")  # fmt: skip


SEEDS = (
    _seed("3.10", ">", ("LUSTRE", 1, lustre_1(">", [(5, 0, 0, 9, [1, 2]), (8, 0, 0, 9, [])]))),
    _seed("3.41", "<", ("LUSTRE", 2, lustre_2("<", [(5, 0, [(9, 0, [1]), (9, 0, [2, 3])])]))),
)


def fuzz_one(data: bytes) -> None:
    """Read the bytes as a log and make all tables of it, with a good one beside it."""
    try:
        log = DarshanLog(data, LIMITS)
        run = run_of(log, "bad", "x_y_id1-1.darshan", LIMITS)
        traces = list(traced_rows(log, run))
    except DarshanError:
        return
    good = run_of(DarshanLog(SEEDS[0]), "good", "x", LIMITS)
    batch = Batch([run, good])
    files = [file_rows(batch, begin, end) for _, begin, end in batch.slices()]
    jobs = job_rows(batch, [summed(rows) for rows in files])
    others = [rows for made in (rank_rows(batch), object_rows(batch)) for _, rows in made]
    for rows in (*files, jobs, *others, *traces, heatmap_rows(run)):
        if rows is not None:
            rows.validate(full=True)
    if (
        sorted(jobs["log"].to_pylist()) != ["bad", "good"]
        or jobs.schema != TABLES["darshan_job"].schema
    ):
        raise AssertionError(f"the jobs are {jobs['log']} of {data!r}")


if __name__ == "__main__":
    import atheris

    atheris.instrument_all()
    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()
