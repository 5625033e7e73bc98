"""What each file of the lake contributes to factors, as one expression for any engine.

A row is a file that took part in the operation: when it was in use, and which part of its accesses
was small, not consecutive, collective or not aligned. Parts lie between 0 and 1, and are null where
no POSIX call was counted: STDIO has no sizes.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING, Final

from pfscope.mine.factors_rules import Rules
from pfscope.mine.sweep_files import SPANS

if TYPE_CHECKING:
    import ibis.expr.types as ir

    Span = tuple[ir.FloatingValue, ir.FloatingValue]
    Spans = dict[str, Span]

PARTS: Final = ("small", "nonconsec", "coll", "per_ost", "misaligned")
"""What is weighted with exclusive times."""
_BYTES: Final = {"read": "bytes_read", "write": "bytes_written"}
_COUNTING: Final = ("posix", "stdio", "dfs")


def files_measured(files: "ir.Table", rules: Rules, more: Sequence[str] = ()) -> "ir.Table":
    """Return `log`, `file_id`, the file's spans and parts, bytes, its ranks' time, and more."""
    spans = {name: _span(files, name, rules) for name in SPANS[rules.operation]}
    columns = {
        f"{name}_{end}": moment
        for name, span in spans.items()
        for end, moment in zip(("from", "until"), span, strict=True)
    }
    return files.filter(_took_part(files, spans)).select(
        "log", "file_id", "rank", "ranks", "slowest_rank", "slowest_rank_s", *more,
        seconds=_sum(files[f"{way}_s"].fill_null(0) for way in ("read", "write", "meta")),
        moved=_moved(files, rules), **columns, **_parts(files, rules),
    )  # fmt: skip


def runs_measured(files: "ir.Table", rules: Rules) -> "ir.Table":
    """Return `log`, `moved` and `span_s` of each run: no bandwidth of it is below their ratio."""
    import ibis

    spans = {name: _span(files, name, rules) for name in SPANS[rules.operation]}
    measured = files.filter(_took_part(files, spans)).select(
        "log",
        moved=_moved(files, rules),
        first=reduce(ibis.least, (start for start, _ in spans.values())),
        last=reduce(ibis.greatest, (end for _, end in spans.values())),
    )
    return measured.group_by("log").agg(
        moved=measured.moved.sum(), span_s=measured["last"].max() - measured["first"].min()
    )


def _took_part(files: "ir.Table", spans: "Spans") -> "ir.BooleanValue":
    """Choose files that were read, written or opened; standard streams are none."""
    used = (
        files[_BYTES[name]] > 0 if name in _BYTES else span[0].notnull()
        for name, span in spans.items()
    )
    return reduce(or_, used) & (files.kind.fill_null("") != "stream")


def _moved(files: "ir.Table", rules: Rules) -> "ir.IntegerValue":
    import ibis

    return (
        _sum(files[_BYTES[kind]].fill_null(0) for kind in rules.kinds or ())
        if rules.kinds
        else ibis.literal(0)
    )


def _span(files: "ir.Table", name: str, rules: Rules) -> "Span":
    import ibis

    if name in _BYTES:
        moved = files[_BYTES[name]] > 0
        end = (
            "write_flush_end_s"
            if (name, rules.intervals) == ("write", "flush")
            else f"{name}_end_s"
        )
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
    openers = _sum((files[f"posix_{kind}s"] > 0).ifelse(files.ranks, 0) for kind in rules.kinds)
    could = calls if rules.first_counts else calls - openers
    accesses = files.posix_reads + files.posix_writes
    return {
        "small": small / calls.nullif(0),
        "nonconsec": 1 - consecutive / (could > 0).ifelse(could, ibis.null("float64")),
        "coll": (collective > 0).ifelse(1.0, 0.0),
        "per_ost": per_ost,
        "misaligned": files.posix_file_not_aligned / accesses.nullif(0),
    }


def _sum(columns: Iterable["ir.NumericValue"]) -> "ir.FloatingValue":
    """Add counters; as floating numbers, so that nonsense in one log overflows nothing."""
    return reduce(add, (column.cast("float64") for column in columns))
