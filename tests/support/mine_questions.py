"""Questions to a lake that use every operation of frames, in an order that does not vary.

Each takes the frames of a miner and gives a frame: what engines answer is compared, and what they
should is worked out in the tests.
"""

from typing import NamedTuple

import pfscope.mine
from pfscope.mine.frame import Frame


class Tables(NamedTuple):
    """The frames that are asked."""

    jobs: Frame
    files: Frame
    slurm: Frame
    lmt: Frame


def tables(miner):
    """Load them."""
    return Tables(*miner.load("darshan_job", "darshan_file", "slurm", "lmt"))


HOSTILE = "a'b\\'; DROP VIEW darshan_job; --\n\"`\\"
HOSTILE_QUOTED = "'" + HOSTILE.replace("'", "''") + "'"


def spread(bytes_written: list[int]) -> int:
    """A function of a group, in Python."""
    return max(bytes_written) - min(bytes_written)


def large(bytes_written: int) -> bool:
    return bytes_written > 10**10


def first_letters(executable: str) -> str:
    return executable[:3]


def _spans(files, *names):
    return files.project(
        *names, "osts", begin="start + meta_start_s - 12h", until="start + meta_end_s + 12h"
    )


def _neighbours(t):
    some = _spans(t.files.filter("job_id < '10000010'"), "log", "file_id")
    others = _spans(t.files, "log", "file_id")
    pairs = some.join(others, overlap=("begin", "until"), osts=True, suffix="_near")
    told = pairs.project(
        "log",
        "file_id",
        "log_near",
        "file_id_near",
        seconds="overlap(begin, until, begin_near, until_near)",
        osts_in_common="ost_overlap(osts, osts_near)",
    )
    return told.filter("log != log_near").sort("log", "file_id", "log_near", "file_id_near")


def _on_the_servers(t):
    some = _spans(t.files.filter("job_id < '10000010'"), "log", "file_id")
    steps = t.lmt.project("time", "ost", "bytes_read", since="time - step_s")
    pairs = some.join(steps, overlap=("begin", "until", "since", "time"), osts=("osts", "ost"))
    return pairs.project("log", "file_id", "ost", "time", "bytes_read").sort(
        "log", "file_id", "ost", "time"
    )


def _osts_in_common(t):
    wide = t.files.filter("stripe_count > 4").project("file_id", "osts")
    some = t.files.filter("job_id < '10000030'").project("file_id", "osts")
    pairs = some.join(wide, osts=True, suffix="_wide")
    return pairs.sort("file_id", "file_id_wide")


QUESTIONS = {
    "project and filter": lambda t: (
        t.jobs.project("job_id", "bytes_written").filter("bytes_written < 1GB").sort("job_id")
    ),
    "bin, group and percentile": lambda t: (
        t.jobs.bin("workload", ["0", "1GB", "10GB"], "bytes_written")
        .group("workload", count="count()", p50="percentile(bytes_written, 50)")
        .sort("workload")
    ),
    "bins leave out what is below": lambda t: (
        t.jobs.bin("width", ["8", "64"], "nprocs").group("width", n="count()").sort("width")
    ),
    "union of OSTs": lambda t: (
        t.files.group("job_id", osts=pfscope.mine.ost_count, all=pfscope.mine.ost_union)
        .sort("job_id")
    ),
    "join": lambda t: (
        t.jobs.join(t.slurm, "job_id")
        .project("job_id", "node_count", "bytes_read", "bytes_written")
        .sort("job_id")
    ),
    "left join": lambda t: (
        t.slurm.join(t.jobs, "job_id", how="left")
        .project("job_id", "cpus", "nprocs", "start", "start_darshan_job")
        .sort("job_id")
    ),
    "semi join": lambda t: (
        t.slurm.join(t.jobs, "job_id", how="semi").project("job_id", "state").sort("job_id")
    ),
    "anti join": lambda t: (
        t.slurm.join(t.jobs, "job_id", how="anti").group(jobs="count()")
    ),
    "interval and OST join": _neighbours,
    "join with the servers": _on_the_servers,
    "OST join": _osts_in_common,
    "percentiles by application": lambda t: (
        t.jobs.percentile("bytes_written", [5, 50, 99.5], by=["executable"]).sort("executable")
    ),
    "descending with nulls last": lambda t: (
        t.jobs.project("job_id", "ost_count", "read_start_s")
        .sort("-ost_count", "-job_id").limit(80)
    ),
    "ascending with nulls last": lambda t: (
        t.jobs.project("job_id", "read_start_s").sort("read_start_s", "job_id")
    ),
    "aggregates": lambda t: t.jobs.group(
        "executable", n="count()", known="count(ost_count)", sum="sum(bytes_read)",
        mean="mean(nprocs)", low="min(start)", high="max(bytes_read)", half="median(files)",
        std="std(files)", users="distinct(user)", any="any(nprocs > 4096)", all="all(files > 1)",
        ratio="sum(bytes_read) / (sum(bytes_read) + sum(bytes_written))",
    ).sort("executable"),
    "nothing has an answer": lambda t: t.jobs.project(
        "job_id", a="bytes_read / (nprocs - nprocs)", b="bytes_read % (nprocs - nprocs)",
        c="log(nprocs - nprocs)", d="sqrt(-nprocs)", e="log2(nprocs)", f="log10(nprocs)",
    ).sort("job_id").limit(5),
    "numbers": lambda t: t.jobs.project(
        "job_id", a="round(nprocs / 7)", b="floor(-nprocs / 7)", c="ceil(nprocs / 7)",
        d="abs(-files)", e="nprocs % 7", f="-nprocs + 2 * (files - 1)", g="nprocs / 3",
        h="least(nprocs, files)", i="greatest(nprocs, files)", j="sqrt(files)",
    ).sort("job_id").limit(50),
    "texts": lambda t: t.jobs.project(
        "job_id", "executable", a="length(executable)", b="contains(executable, 'si')",
        c="starts_with(executable, 'phy')", d="ends_with(executable, '1')",
        e="lower(executable) in ('climate1', 'quantum2')", f="if(nprocs > 1, 'many', 'one')",
    ).sort("job_id").limit(50),
    "times": lambda t: t.jobs.filter(
        "start >= '2018-01-01T06:00' and date < '2018-01-12'"
    ).project(
        "start", "date", a="hour(start)", b="day(start)", c="end - start", d="start + 1h",
        e="seconds(end, start) > 1m", f="start - 90s",
    ).sort("start"),
    "nulls": lambda t: t.jobs.project(
        "job_id", a="coalesce(ost_count, -1)", b="ost_count is null", c="ost_count is not null",
        d="not (ost_count > 3 or nprocs = 1)", e="ost_count > 3 and nprocs = 1",
    ).sort("job_id"),
    "Python functions": lambda t: (
        t.jobs.filter(large).project("job_id", field=first_letters).sort("job_id")
    ),
    "Python functions of groups": lambda t: (
        t.files.group("job_id", spread=spread).sort("job_id")
    ),
    "hostile texts": lambda t: t.jobs.project(
        "job_id", a=f"if(nprocs > 0, {HOSTILE_QUOTED}, '')", b=f"executable = {HOSTILE_QUOTED}",
        c=f"contains(executable, {HOSTILE_QUOTED})",
    ).sort("job_id").limit(3),
    "distinct keys": lambda t: t.jobs.group("user", "executable").sort("user"),
}  # fmt: skip
