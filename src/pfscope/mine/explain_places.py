"""Rules on where a run's time went: OSTs, ranks, single files, flushes, others, earlier runs."""

from typing import Final

import numpy as np

from pfscope.mine.explain_facts import Facts, Finding, Severity
from pfscope.mine.explain_rules import Rule
from pfscope.mine.factors_cohort import BANDWIDTH, FEWEST, SCALE, Separation, standing
from pfscope.mine.sweep_files import numbers

_DID: Final = {"read": "read", "write": "wrote"}
_SLOW: Final = 3
"""An OST that takes so many times as long as the median of the others is suspicious."""


def slow_ost(facts: Facts) -> Finding | None:
    """One OST holds up all."""
    use = facts.use
    if not len(use.ost):
        return None
    worst = int(np.argmax(use.time_share))
    share, part, slowness = (
        float(column[worst]) for column in (use.time_share, use.bytes_share, use.slowness)
    )
    if share < 0.25 or share < _SLOW * part or not slowness >= _SLOW:
        return None
    ost = int(use.ost[worst])
    return Finding(
        "slow-ost", "critical",
        f"OST {ost} is the cause of {100 * share:.1f} % of the critical time with"
        f" {100 * part:.1f} % of the bytes: for a byte it takes {slowness:.3g} times as long as"
        " the others.",
        f"Tell the administrators of OST {ost}: its disks, its server or what others did on it."
        " Until it is sound, keep files off it (lfs setstripe --pool, or lfs migrate).",
        {
            "ost": ost, "time_share": share, "bytes_share": part, "slowness": slowness,
            "osts": len(use.ost),
        },
    )  # fmt: skip


def few_osts(facts: Facts) -> Finding | None:
    """Many processes share few OSTs."""
    ratio = facts.value("proc_per_ost")
    row = facts.top_file
    if not ratio >= 4 or row is None:
        return None
    together = facts.value("coll_pct") >= 50
    severity: Severity = "info" if together else "critical" if ratio >= 16 else "warning"
    stripes, ranks = (facts.of_critical(name, row) for name in ("stripe_count", "ranks"))
    text = f"{ratio:.3g} processes share each OST on the critical path."
    if together:
        text += " With collective I/O only some of them act."
    return Finding(
        "few-osts", severity, text,
        "Stripe files that many processes share over more OSTs before they are written"
        " (lfs setstripe -c -1 DIRECTORY); where they are on all already, let fewer processes"
        " act (collective I/O, cb_nodes).",
        {
            "proc_per_ost": ratio, "ost_count": facts.run["ost_count"],
            "top_file_ranks": ranks, "top_file_stripe_count": stripes,
        },
    )  # fmt: skip


def imbalance(facts: Facts) -> Finding | None:
    """Few ranks do the most."""
    percent = facts.value("imbalance_pct")
    if not percent >= 50 or facts.run["nprocs"] < 2:
        return None
    text = f"The busiest rank's time in I/O is {_times(percent)} that of the mean rank."
    evidence: dict[str, float | int | str | None] = {"imbalance_pct": percent}
    codes = ["P19"]
    if facts.ranks:
        rank, share = max(facts.ranks.items(), key=lambda pair: (pair[1], -pair[0]))
        part = _part_of(facts, rank)
        evidence |= {"rank": rank, "rank_time_share": share, "rank_bytes_share": part}
        text += (
            f" Rank {rank} is the cause of {100 * share:.0f} % of the critical time with"
            f" {100 * part:.2g} % of the bytes."
        )
        if part > 2 / facts.run["nprocs"]:
            codes.append("P18")
    severity: Severity = "info" if slow_ost(facts) else "warning"
    return Finding(
        "imbalance", severity, text,
        "Share the work out evenly; where one rank writes for all, let several of them do so.",
        evidence, tuple(codes),
    )  # fmt: skip


def one_file(facts: Facts) -> Finding | None:
    """One file of many is where the time goes."""
    percent, row = facts.value("top_file_pct"), facts.top_file
    if not percent >= 80 or facts.run["files"] < 2 or row is None:
        return None
    return Finding(
        "one-file", "info",
        f"One of {facts.run['files']} files is the cause of {percent:.0f} % of the critical time:"
        f" {facts.of_critical('name', row) or 'one without a name'}",
        "Look at how this file is used first.",
        {
            "top_file_pct": percent, "file_id": facts.of_critical("file_id", row),
            "ranks": facts.of_critical("ranks", row),
            "stripe_count": facts.of_critical("stripe_count", row),
        },
    )  # fmt: skip


def flushes(facts: Facts) -> Finding | None:
    """Writes end long before their data is safe."""
    critical, flushed = facts.run["critical_s"], facts.flushed_s
    if flushed is None or flushed < critical + 1 or flushed < 1.2 * critical:
        return None
    return Finding(
        "flushes", "warning",
        f"Writes take {critical:.4g} s, with their flushes (fsync, close) {flushed:.4g} s.",
        "Flush once at the end, not after each write; judge bandwidth with --intervals flush.",
        {
            "critical_s": critical, "flushed_s": flushed,
            "posix_fsyncs": facts.job["posix_fsyncs"], "posix_fdsyncs": facts.job["posix_fdsyncs"],
            "posix_f_write_time": facts.job["posix_f_write_time"],
        },
    )  # fmt: skip


def neighbours(facts: Facts) -> Finding | None:
    """Others were busy on the same OSTs."""
    if facts.others is None or (share := facts.others.share) is None or share < 0.5:
        return None
    others = float(facts.others.others_bytes.sum())
    return Finding(
        "neighbours", "warning",
        f"Of the bytes that its OSTs moved in the run's time, {100 * share:.0f} % were others'.",
        "See with pfscope query top who else was at work there; run it again at another time"
        " before changing the program.",
        {
            "others_pct": 100 * share, "others_bytes": int(others),
            "own_bytes": int(facts.others.own_bytes.sum()), "covered": facts.others.covered,
        },
    )  # fmt: skip


def servers(facts: Facts) -> Finding | None:
    """What the servers saw of the job differs from what its processes did."""
    for side in facts.servers:
        seen, own = side.servers_bytes, side.processes_bytes
        if side.reason is not None or not own or 0.9 <= seen / own <= 1.1:
            continue
        more = seen > own
        why = {
            ("read", False): "clients had the rest in their caches",
            ("write", False): "the rest was written again before clients sent it, or was still in"
            " their caches",
        }.get((side.kind, more), "the job has processes that Darshan did not watch, or clients"
              " moved whole pages for parts of them")  # fmt: skip
        return Finding(
            "servers-differ", "info",
            f"Servers saw {seen / own:.2g} times the bytes that processes {_DID[side.kind]}:"
            f" {why}.",
            "",
            {f"{side.kind}_servers_bytes": int(seen), f"{side.kind}_processes_bytes": int(own)},
        )  # fmt: skip
    return None


def neighbours_seen(facts: Facts) -> Finding | None:
    """Others were busy on the same targets, and the servers' usage tells who."""
    for side in facts.servers:
        if side.own_share is None or side.own_share > 0.5 or not side.neighbours:
            continue
        first = side.neighbours[0]
        who = " ".join(
            f"{word} {name}" for word, name in (("user", first.user), ("job", first.job)) if name
        )
        return Finding(
            "busy-targets", "warning",
            f"Of the {side.kind}s on its targets {100 * side.own_share:.0f} % were the job's own;"
            f" most others by {who or 'somebody without a name'}, {100 * first.share:.0f} %.",
            "Run it again at another time before changing the program, or speak with them.",
            {
                "own_share": side.own_share, "neighbour_user": first.user,
                "neighbour_job": first.job, "neighbour_share": first.share,
            },
        )  # fmt: skip
    return None


def partial(facts: Facts) -> Finding | None:
    """The log is not whole."""
    if not facts.run["partial"]:
        return None
    return Finding(
        "partial-log", "info",
        "The log does not have all records, so that sums are too small and files are missing:"
        f" {facts.job['partial_modules']}.",
        "Give Darshan more memory (DARSHAN_MODMEM, MAX_RECORDS in its configuration).",
        {"partial_modules": facts.job["partial_modules"]},
    )  # fmt: skip


def cohort(facts: Facts) -> Finding | None:
    """What separates the slow runs of this program from its fast ones, if anything does."""
    if facts.cohort is None or facts.peers is None:
        return None
    runs = facts.cohort.runs
    place = standing(facts.peers, BANDWIDTH, facts.value(BANDWIDTH))
    faster = "" if place is None else f" This one is faster than {100 * place:.0f} % of them."
    evidence: dict[str, float | int | str | None] = {"runs": runs, "faster_than_share": place}
    if not facts.cohort.separations:
        why = "too few" if runs < 3 * FEWEST else "all alike"
        known = "One run of this program is" if runs == 1 else f"{runs} runs of this program are"
        text = f"{known} known, {why} to tell slow from fast."
        return Finding("cohort", "info", text, "", evidence)
    found = facts.cohort.separating
    for one in found:
        evidence |= {f"{one.factor}_effect": one.effect, f"{one.factor}_p": one.p}
    text = f"{runs} runs of this program are known.{faster}"
    if not found:
        text += " No factor separates its slow runs from its fast ones."
    else:
        text += f" What separates slow from fast: {'; '.join(map(_separation, found[:3]))}."
    return Finding("cohort", "info", text, "", evidence)


def _separation(one: Separation) -> str:
    scale = " (how much it does, no fault)" if one.factor in SCALE else ""
    return f"{one.factor}, {one.slow:.3g} against {one.fast:.3g} in the median{scale}"


def _times(percent: float) -> str:
    return f"{100 / (100 - percent):.3g} times" if percent < 99.99 else "over 1000 times"


def _part_of(facts: Facts, rank: int) -> float:
    """Return which part of the bytes a rank moved in files of its own."""
    files = facts.worked.files
    moved = numbers(files["moved"])
    own = moved[numbers(files["rank"]) == rank].sum()
    return float(own / moved.sum()) if moved.sum() else 0.0


PLACES: Final[tuple[Rule, ...]] = (
    slow_ost, few_osts, imbalance, one_file, flushes, neighbours, neighbours_seen, servers,
    partial, cohort,
)  # fmt: skip
