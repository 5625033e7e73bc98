"""What each file of the lake contributes to factors, as one expression for any engine.

A row is a file that took part in the operation: when it was in use, and which part of its accesses
was small, not consecutive, collective or not aligned. Parts lie between 0 and 1, and are null where
no POSIX call was counted: STDIO has no sizes.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final

from pfscope.mine.factors_rules import Rules
from pfscope.mine.sweep_files import SPANS

if TYPE_CHECKING:
    import ibis.expr.types as ir

PARTS: Final = ("small", "nonconsec", "coll", "per_ost", "misaligned")
"""What is weighted with exclusive times."""
_BYTES: Final = {"read": "bytes_read", "write": "bytes_written"}
_COUNTING: Final = ("posix", "stdio", "dfs")


def files_measured(files: "ir.Table", rules: Rules) -> "ir.Table":
    """Return `log`, `file_id`, the file's spans, its parts, and the time that its ranks spent."""
    spans = {name: _span(files, name, rules) for name in SPANS[rules.operation]}
    moved = {name: span for name, span in spans.items() if name in _BYTES}
    columns = {
        f"{name}_{end}": moment
        for name, span in spans.items()
        for end, moment in zip(("from", "until"), span, strict=True)
    }
    took_part = _any(
        files[_BYTES[name]] > 0 if name in moved else span[0].notnull()
        for name, span in spans.items()
    )
    measured = files.filter(took_part).select(
        "log", "file_id", "rank", "ranks", "slowest_rank", "slowest_rank_s",
        seconds=files.read_s.fill_null(0) + files.write_s.fill_null(0) + files.meta_s.fill_null(0),
        **columns, **_parts(files, rules),
    )  # fmt: skip
    return measured


def _span(
    files: "ir.Table", name: str, rules: Rules
) -> tuple["ir.FloatingValue", "ir.FloatingValue"]:
    import ibis

    if name in _BYTES:
        moved = files[_BYTES[name]] > 0
        end = "write_flush_end_s" if (name, rules.intervals) == ("write", "flush") else f"{name}_end_s"
        nothing = ibis.null("float64")
        return moved.ifelse(files[f"{name}_start_s"], nothing), moved.ifelse(files[end], nothing)
    first = ibis.least(*(files[f"{m}_f_{name}_start_timestamp"] for m in _COUNTING))
    last = ibis.greatest(*(files[f"{m}_f_{name}_end_timestamp"] for m in _COUNTING))
    if name == "close":
        return first, last
    # Before Darshan 3.2 the end of opens was not kept: then it is the mean time of a rank.
    mean = files.meta_start_s + files.meta_s / files.ranks
    return first, ibis.coalesce(last, ibis.least(mean, files.meta_end_s))


def _parts(files: "ir.Table", rules: Rules) -> dict[str, "ir.FloatingValue"]:
    import ibis

    per_ost = files.ranks / files.stripe_count.nullif(0)
    nothing = ibis.null("float64")
    if not rules.kinds:
        return dict.fromkeys(PARTS, nothing) | {"per_ost": per_ost}
    calls = _sum(files[f"posix_{kind}s"] for kind in rules.kinds)
    small = _sum(
        files[f"posix_size_{kind}_{size}"] for kind in rules.kinds for size in rules.small_bins
    )
    consecutive = _sum(files[f"posix_consec_{kind}s"] for kind in rules.kinds)
    collective = _sum(files[f"mpiio_coll_{kind}s"].fill_null(0) for kind in rules.kinds)
    # A file that is both read and written is begun twice by each of its ranks.
    openers = _sum(
        (files[f"posix_{kind}s"] > 0).ifelse(files.ranks, 0) for kind in rules.kinds
    )
    could = calls if rules.first_counts else calls - openers
    accesses = files.posix_reads + files.posix_writes
    return {
        "small": small / calls.nullif(0),
        "nonconsec": 1 - consecutive / (could > 0).ifelse(could, ibis.null("int64")),
        "coll": (collective > 0).ifelse(1.0, 0.0),
        "per_ost": per_ost,
        "misaligned": files.posix_file_not_aligned / accesses.nullif(0),
    }


def _sum(columns: Iterable["ir.IntegerValue"]) -> "ir.IntegerValue":
    return reduce(add, columns)


def _any(conditions: Iterable["ir.BooleanValue"]) -> "ir.BooleanValue":
    return reduce(lambda a, b: a | b, conditions)
