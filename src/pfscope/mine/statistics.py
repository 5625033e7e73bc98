"""Statistics of a lake, as the miner's own operations: the same on every engine.

A run is a Darshan log. Files are those of kind `file`: streams, libraries and what is in /proc are
not counted. Each function returns a table of a few rows.
"""

from typing import Any, Final

import pyarrow as pa

from pfscope.mine.frame import Frame
from pfscope.mine.miner import Miner

SIZES: Final = {
    "one process": "nprocs = 1",
    "2 to 1 024": "nprocs > 1 and nprocs <= 1024",
    "1 025 to 8 192": "nprocs > 1024 and nprocs <= 8192",
    "more than 8 192": "nprocs > 8192",
}
"""The classes of runs by their processes."""
TOP: Final = 10
RATIOS: Final = tuple(f"2^{power}" for power in range(-10, 15))
_RATIO_BOUNDS: Final = tuple(2.0**power for power in range(-10, 15))
STRIPE_KINDS: Final = {
    "size": "stripe_size != 1MiB",
    "width": "stripe_count > 1 or stripe_count < 0",
    "offset": "not coalesce(stripe_offset, -1) in (0, -1)",
}
"""When a setting of a file's stripes is not the default."""


def totals(miner: Miner) -> dict[str, Any]:
    """Return how much there is: runs, files, first and last start, incomplete runs."""
    asked = miner.table("darshan_job").group(
        runs="count()", files="sum(files)", first="min(start)", last="max(start)",
        bytes_read="sum(bytes_read)", bytes_written="sum(bytes_written)",
        applications="distinct(executable)", partial="sum(if(partial, 1, 0))",
    )  # fmt: skip
    row: dict[str, Any] = asked.to_arrow().to_pylist()[0]
    return row


def stripes(miner: Miner) -> dict[str, int]:
    """Return how many runs on Lustre have a file with a customised size, width or offset.

    The default is one stripe of 1 MiB on any OST; some sites have offset 0 for that.
    """
    files = miner.table("darshan_file").filter("ost_count is not null")
    odd = files.filter(" or ".join(f"({condition})" for condition in STRIPE_KINDS.values()))
    told = {name: f"any({condition})" for name, condition in STRIPE_KINDS.items()}
    found = odd.group("log", **told).group(
        customised="count()", **{name: f"sum(if({name}, 1, 0))" for name in STRIPE_KINDS}
    )
    lustre = miner.table("darshan_job").filter("ost_count is not null").group(runs="count()")
    (row,), (all_runs,) = found.to_arrow().to_pylist(), lustre.to_arrow().to_pylist()
    return {"lustre_runs": all_runs["runs"], **{name: n or 0 for name, n in row.items()}}


def top(miner: Miner, column: str) -> pa.Table:
    """Return the applications that moved most bytes: `executable, runs, bytes, share`."""
    jobs = miner.table("darshan_job")
    (row,) = jobs.group(bytes=f"sum({column})").to_arrow().to_pylist()
    whole = row["bytes"] or 0
    by = jobs.group("executable", runs="count()", bytes=f"sum({column})").filter("bytes > 0")
    rows = by.sort("-bytes", "executable").limit(TOP).to_arrow()
    shares = [each / whole for each in rows["bytes"].to_pylist()]
    return rows.append_column("share", pa.array(shares, pa.float64()))


def sequential(miner: Miner) -> pa.Table:
    """Return runs by their share of consecutive and of sequential accesses: `percent, …`.

    A file's first access is never consecutive. Percents are rounded down, so 100 is all.
    """
    jobs = miner.table("darshan_job").project(
        all="posix_reads + posix_writes",
        consecutive="posix_consec_reads + posix_consec_writes",
        sequential="posix_seq_reads + posix_seq_writes",
    )
    return _by_percent(jobs.filter("all > 0"), "all", ("consecutive", "sequential"))


def read_ratio(miner: Miner) -> pa.Table:
    """Return runs by the share of reads in their bytes: `percent, bytes_read`."""
    jobs = miner.table("darshan_job").project("bytes_read", all="bytes_read + bytes_written")
    return _by_percent(jobs.filter("all > 0"), "all", ("bytes_read",))


def _by_percent(runs: Frame, whole: str, parts: tuple[str, ...]) -> pa.Table:
    """Return a row for each whole percent from 0 to 100, with the runs that have it."""
    columns: dict[str, Any] = {"percent": list(range(101))}
    for part in parts:
        # First times 100, then divided: so what is a whole percent stays one.
        percents = runs.project(percent=f"floor(100 * {part} / {whole})")
        counts = [0] * 101
        for row in percents.group("percent", runs="count()").to_arrow().to_pylist():
            counts[min(max(int(row["percent"]), 0), 100)] += row["runs"]
        columns[part] = counts
    return pa.table(columns)


def sharing(miner: Miner) -> pa.Table:
    """Return runs of several processes by who shares their files: `pattern, runs`.

    N-1: every file is used by all processes. N-N: as many files as processes. N-M: all others.
    """
    runs = _shared(miner).project(
        pattern="if(by_all = files, 'N-1', if(files = nprocs, 'N-N', 'N-M'))"
    )
    found = {
        r["pattern"]: r["runs"]
        for r in runs.group("pattern", runs="count()").to_arrow().to_pylist()
    }
    patterns = ["N-N", "N-1", "N-M"]
    return pa.table({"pattern": patterns, "runs": [found.get(name, 0) for name in patterns]})


def sharing_ratio(miner: Miner) -> pa.Table:
    """Return runs of several processes by R, processes for each file: `ratio, bound, runs`."""
    runs = _shared(miner).project(ratio="nprocs / files").bin("bin", _RATIO_BOUNDS, "ratio")
    rows = runs.group("bin", runs="count()").to_arrow().to_pylist()
    found = {row["bin"]: row["runs"] for row in rows}
    below = found.get(None, 0)
    labels = [
        f"{low}..{high}" for low, high in zip(_RATIO_BOUNDS, [*_RATIO_BOUNDS[1:], ""], strict=True)
    ]
    counts = [found.get(label, 0) for label in labels]
    return pa.table({
        "ratio": ["less", *RATIOS], "bound": [0.0, *_RATIO_BOUNDS], "runs": [below, *counts]
    })  # fmt: skip


def _shared(miner: Miner) -> Frame:
    files = miner.table("darshan_file").filter("kind = 'file' and nprocs > 1")
    return files.group(
        "log", nprocs="max(nprocs)", files="count()", by_all="sum(if(ranks >= nprocs, 1, 0))"
    )


def middleware(miner: Miner) -> pa.Table:
    """Return runs by processes and by what they use: `processes, POSIX, independent, collective`.

    A run with any collective call is collective, one with other calls of MPI-IO is independent.
    """
    jobs = miner.table("darshan_job").project(
        "nprocs",
        collective="coalesce(mpiio_coll_reads, 0) + coalesce(mpiio_coll_writes, 0) > 0",
        independent="coalesce(mpiio_indep_reads, 0) + coalesce(mpiio_indep_writes, 0) > 0",
    )
    layer = jobs.project(
        "nprocs", layer="if(collective, 'collective', if(independent, 'independent', 'POSIX'))"
    )
    layers = ("POSIX", "independent", "collective")
    rows = [
        {row["layer"]: row["runs"] for row in
         layer.filter(condition).group("layer", runs="count()").to_arrow().to_pylist()}
        for condition in SIZES.values()
    ]  # fmt: skip
    columns = {name: [row.get(name, 0) for row in rows] for name in layers}
    return pa.table({"processes": list(SIZES), **columns})


def coverage(miner: Miner) -> pa.Table:
    """Return what logs cover of what the servers and Slurm saw: `what, logs, all, share`.

    Bytes are those of files on Lustre, beside LMT's. Jobs and core time are of completed jobs.
    """
    runs, lmt = miner.load("darshan_job", "lmt")
    files = miner.table("darshan_file").filter("ost_count is not null")
    moved = {name: f"sum({name})" for name in ("bytes_read", "bytes_written")}
    (seen,), (served,) = (frame.group(**moved).to_arrow().to_pylist() for frame in (files, lmt))
    done = miner.table("slurm").filter("state = 'COMPLETED'")
    used = {"jobs": "count()", "core_seconds": "sum(cpus * elapsed_s)"}
    logged = done.join(runs, "job_id", how="semi")
    (ours,), (theirs,) = (frame.group(**used).to_arrow().to_pylist() for frame in (logged, done))
    rows = [(name, seen[name], served[name]) for name in moved]
    rows += [(name, ours[name], theirs[name]) for name in ("core_seconds", "jobs")]
    part = [a or 0 for _, a, _ in rows]
    whole = [b or 0 for _, _, b in rows]
    pairs = list(zip(part, whole, strict=True))
    return pa.table({
        "what": [name for name, _, _ in rows], "logs": pa.array(part, pa.int64()),
        "all": pa.array(whole, pa.int64()),
        "share": pa.array([a / b if b else None for a, b in pairs], pa.float64()),
    })  # fmt: skip


def low_bandwidth(
    miner: Miner, operation: str, below: str = "1GB/s", processes: int = 1000, each: str = "10MB"
) -> pa.Table:
    """Return the factors of large runs that were slow, with their nodes where Slurm knows them."""
    moved = {"read": "bytes_read", "write": "bytes_written"}[operation]
    jobs = miner.table("darshan_job").filter(f"nprocs > {processes}", f"{moved} >= {each} * nprocs")
    found = jobs.extract_perf_factors("0", below, operation).to_arrow()
    named = jobs.project("job_id", "log").join(
        miner.table("slurm").project("job_id", "node_count"), "job_id"
    )
    nodes = {row["log"]: row["node_count"] for row in named.to_arrow().to_pylist()}
    counts = [nodes.get(log) for log in found["log"].to_pylist()]
    return found.append_column("node_count", pa.array(counts, pa.int64()))
