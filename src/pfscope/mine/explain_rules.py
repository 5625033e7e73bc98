"""Rules on how a run used its files: each tells one thing, or nothing.

Sizes and places of accesses are weighted with the critical path, so a rule speaks of what took
time. Few accesses are no cause, whatever they look like.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from pfscope.mine.explain_facts import Evidence, Facts, Finding, Severity
from pfscope.mine.sweep_files import numbers

Rule = Callable[[Facts], Finding | None]

_MANY: Final = 1000
"""Accesses from which on their sizes and places matter."""
_MANY_FILES: Final = 10


def small(facts: Facts) -> Finding | None:
    """Most accesses are small."""
    percent = facts.value("small_pct")
    if not percent >= 10 or facts.counted("posix_{}s") < _MANY:
        return None
    scattered = facts.value("nonconsec_pct") >= 30
    severity: Severity = "info" if not scattered else "critical" if percent >= 50 else "warning"
    kib = facts.rules.small_bytes / 1024
    text = f"{percent:.0f} % of accesses on the critical path are of {kib:.4g} KiB or less."
    if not scattered:
        text += " Most follow one another, so that clients can put them together."
    codes = ["P05"] if "read" in facts.rules.kinds else []
    codes += ["P06"] if "write" in facts.rules.kinds else []
    if facts.shared_share > 0.5:
        codes += [{"P05": "P15", "P06": "P16"}[code] for code in codes]
    bins = [f"posix_size_{{}}_{size}" for size in facts.rules.small_bins]
    evidence = _counters(facts, "posix_{}s", *bins)
    return Finding(
        "small-accesses", severity, text,
        "Gather data in memory and move it in pieces of a MiB or more; with MPI-IO, HDF5 or"
        " NetCDF turn on collective buffering.",
        {"small_pct": percent, **evidence}, tuple(codes),
    )  # fmt: skip


def scattered(facts: Facts) -> Finding | None:
    """Accesses do not follow one another."""
    percent = facts.value("nonconsec_pct")
    accesses = facts.counted("posix_{}s")
    openers = int(np.nansum(numbers(facts.worked.files["ranks"])))
    if not percent >= 50 or accesses < _MANY or accesses <= 2 * openers:
        return None
    codes = {"read": "P11", "write": "P13"}
    evidence = _counters(facts, "posix_{}s", "posix_consec_{}s", "posix_seq_{}s")
    severity: Severity = "info" if facts.value("coll_pct") >= 50 else "warning"
    return Finding(
        "scattered-accesses", severity,
        f"{percent:.0f} % of accesses on the critical path do not begin where the one before"
        " ended.",
        "Let each process work on one stretch of the file, or use collective I/O, which puts"
        " accesses of many processes in order.",
        {"nonconsec_pct": percent, **evidence}, tuple(codes[k] for k in facts.rules.kinds),
    )  # fmt: skip


def consecutive(facts: Facts) -> Finding | None:
    """Accesses do follow one another: nothing to improve there."""
    percent = facts.value("nonconsec_pct")
    if not percent < 20 or facts.counted("posix_{}s") < _MANY:
        return None
    codes = {"read": "P12", "write": "P14"}
    return Finding(
        "consecutive-accesses", "good",
        f"{100 - percent:.0f} % of accesses on the critical path follow one another.", "",
        {"nonconsec_pct": percent, **_counters(facts, "posix_{}s", "posix_consec_{}s")},
        tuple(codes[k] for k in facts.rules.kinds),
    )  # fmt: skip


def misaligned(facts: Facts) -> Finding | None:
    """Accesses do not begin at the file system's boundaries."""
    percent = facts.value("misaligned_pct")
    if not percent >= 10 or facts.counted("posix_{}s") < _MANY:
        return None
    severity: Severity = "warning" if facts.shared_share > 0.5 else "info"
    names = ("posix_file_not_aligned", "posix_reads", "posix_writes")
    return Finding(
        "misaligned-accesses", severity,
        f"{percent:.0f} % of accesses on the critical path are not aligned in the file: in files"
        " that processes share, they wait for each other's locks.",
        "Align what each process writes to the stripe size (H5Pset_alignment in HDF5,"
        " nc_header_align_size in PnetCDF), and choose a stripe size that fits.",
        {"misaligned_pct": percent, **{name: facts.job[name] for name in names}}, ("P08",),
    )  # fmt: skip


def collective(facts: Facts) -> Finding | None:
    """Whether processes that share files act together."""
    percent = facts.value("coll_pct")
    if facts.run["nprocs"] < 2 or facts.shared_share < 0.5 or not facts.rules.kinds:
        return None
    together = facts.counted("mpiio_coll_{}s")
    alone = facts.counted("mpiio_indep_{}s") + facts.counted("mpiio_nb_{}s")
    evidence: Evidence = {"coll_pct": percent, "shared_pct": 100 * facts.shared_share}
    evidence |= _counters(facts, "mpiio_coll_{}s", "mpiio_indep_{}s")
    if percent >= 50:
        codes = {"read": "M04", "write": "M05"}
        return Finding(
            "collective", "good", "Processes that share files use collective I/O.", "", evidence,
            tuple(codes[k] for k in facts.rules.kinds),
        )  # fmt: skip
    if together + alone:
        codes = {"read": "M02", "write": "M03"}
        return Finding(
            "no-collective", "warning",
            "Processes share files by MPI-IO, but each acts for itself.",
            "Use the collective calls (MPI_File_write_all, H5FD_MPIO_COLLECTIVE,"
            " NC_COLLECTIVE): a few processes then move large pieces for all.",
            evidence, tuple(codes[k] for k in facts.rules.kinds),
        )  # fmt: skip
    return Finding(
        "no-mpi-io", "info", "Processes share files without MPI-IO.",
        "MPI-IO, or a library on top of it, can act for all processes together.",
        evidence, ("M01",),
    )  # fmt: skip


def metadata(facts: Facts) -> Finding | None:
    """Much time goes to opens, closes, stats and seeks."""
    percent = facts.value("metadata_pct")
    if not percent >= 30 or (facts.job["meta_s"] or 0) < 1:
        return None
    names = (
        "meta_s", "read_s", "write_s", "posix_opens", "posix_stats", "posix_seeks",
        "posix_f_meta_time", "stdio_f_meta_time",
    )  # fmt: skip
    return Finding(
        "metadata", "critical" if percent >= 60 else "warning",
        f"{percent:.0f} % of the time in I/O calls goes to opens, closes, stats and seeks.",
        "Open files once and keep them open; put many small files into few large ones; let one"
        " process look and tell the others.",
        {"metadata_pct": percent, **{name: facts.job[name] for name in names}}, ("P17",),
    )  # fmt: skip


def stdio(facts: Facts) -> Finding | None:
    """Much goes through STDIO."""
    names = [{"read": "bytes_read", "write": "bytes_written"}[kind] for kind in facts.rules.kinds]
    moved = sum(facts.job[name] or 0 for name in names)
    by_stdio = sum(facts.job[f"stdio_{name}"] or 0 for name in names)
    if not moved or by_stdio / moved < 0.1 or by_stdio < 2**20:
        return None
    return Finding(
        "stdio", "warning",
        f"{100 * by_stdio / moved:.0f} % of bytes go through STDIO (fread, fprintf, …), which cuts"
        " them into small pieces.",
        "Give streams larger buffers (setvbuf), or use POSIX or MPI-IO for bulk data.",
        {f"stdio_{name}": facts.job[f"stdio_{name}"] for name in names}
        | {name: facts.job[name] for name in names},
        ("S01",),
    )  # fmt: skip


def again(facts: Facts) -> Finding | None:
    """The same bytes are moved more than once."""
    if len(facts.rules.kinds) != 1:
        return None
    (kind,) = facts.rules.kinds
    way, code = {"read": ("read", "P09"), "write": ("written", "P10")}[kind]
    files = facts.worked.files
    last = numbers(files[f"posix_max_byte_{way}"])
    moved = np.where(last > 0, numbers(files[f"posix_bytes_{way}"]), np.nan)
    extra = np.nansum(np.maximum(moved - last - 1, 0))
    whole = np.nansum(moved)
    if not whole or extra / whole < 0.1 or extra < 2**20:
        return None
    times = float(whole / (whole - extra)) if whole > extra else float("inf")
    advice = {
        "read": "Read once and hand the data to the other processes (MPI_Bcast), or keep it.",
        "write": "Keep data in memory until it is final.",
    }
    return Finding(
        f"{kind}-again", "warning" if times >= 2 else "info",
        f"Every byte is {way} {times:.3g} times in the mean.", advice[kind],
        {f"posix_bytes_{way}": int(whole), "bytes_again": int(extra)}, (code,),
    )  # fmt: skip


def one_after_another(facts: Facts) -> Finding | None:
    """Files take turns, where they could be in use at once."""
    at_once = facts.value("files_at_once")
    if facts.run["critical_files"] < _MANY_FILES or not at_once < 1.5 or facts.run["nprocs"] < 2:
        return None
    return Finding(
        "one-after-another", "warning",
        f"{facts.run['critical_files']} files are in use one after another: {at_once:.2g} at a"
        f" time, by {facts.run['nprocs']} processes.",
        "Let processes work on different files at once, or put the files together.",
        {"critical_files": facts.run["critical_files"], "files_at_once": at_once},
    )  # fmt: skip


def idle(facts: Facts) -> Finding | None:
    """Between accesses is nothing."""
    percent = facts.value("idle_pct")
    if not percent >= 30:
        return None
    return Finding(
        "idle-between", "info",
        f"In {percent:.0f} % of the time from the first access to the last no file is in use: the"
        " bandwidth over that span says little.",
        "Compare bandwidths over the critical path.",
        {"span_s": facts.run["span_s"], "critical_s": facts.run["critical_s"]},
    )  # fmt: skip


def _counters(facts: Facts, *forms: str) -> Evidence:
    """Return the run's counters of reads or writes, or of both."""
    names = [form.format(kind) for form in forms for kind in facts.rules.kinds]
    return {name: facts.job[name] for name in names}


RULES: Final[tuple[Rule, ...]] = (
    small, scattered, consecutive, misaligned, collective, metadata, stdio, again,
    one_after_another, idle,
)  # fmt: skip
