"""A run explained on a terminal: who and how fast, where the time went, what was found."""

import textwrap
from collections.abc import Iterator
from typing import Final

from pfscope.figures import abbreviated
from pfscope.mine.both_sides import BothSides
from pfscope.mine.explain import findings, top_files
from pfscope.mine.explain_facts import Facts
from pfscope.mine.factors import MIB
from pfscope.mine.factors_cohort import standing
from pfscope.untrusted import printable

_WIDTH: Final = 96
_TOP: Final = 5
_PEERS: Final = 10
"""With fewer of them, where a run stands among them says nothing."""
_FACTORS: Final = {
    "small_pct": ("small accesses", "%"),
    "nonconsec_pct": ("not consecutive", "%"),
    "coll_pct": ("collective", "%"),
    "ost_count": ("OSTs", ""),
    "proc_per_ost": ("processes per OST", ""),
    "misaligned_pct": ("not aligned", "%"),
    "imbalance_pct": ("imbalance of ranks", "%"),
    "metadata_pct": ("metadata", "%"),
    "idle_pct": ("idle between", "%"),
    "files_at_once": ("files at once", ""),
}
_MARKS: Final = {"critical": "!!", "warning": "! ", "info": "- ", "good": "+ "}


def job_text(facts: Facts) -> str:
    """Return it."""
    return "".join(f"{printable(line)}\n" for line in _lines(facts))


def _lines(facts: Facts) -> Iterator[str]:
    run = facts.run
    program = run["executable"] or "a program without a name"
    partial = ", its log is partial" if run["partial"] else ""
    yield _line("job", f"{run['job_id']}, {program} on {run['nprocs']} processes{partial}")
    moved = _amount(run["bytes"])
    yield _line("operation", f"{run['operation']}: {moved} in {_files(run['files'])}")
    through = _files(run["critical_files"])
    path = f"{run['critical_s']:.4g} s on the critical path through {through}"
    yield _line("time", f"{path}, {run['span_s']:.4g} s from first to last")
    if run["bandwidth_critical_mib_s"] is not None:
        critical, span = (_rate(run[f"bandwidth_{x}_mib_s"]) for x in ("critical", "span"))
        yield _line("bandwidth", f"{critical} over the critical path, {span} over the span")
    for side in facts.servers:
        yield _line("servers", side.reason or _of_servers(side))
    yield ""
    yield from _factors(facts)
    yield from _where(facts)
    for finding in findings(facts):
        codes = f" [{', '.join(finding.drishti)}]" if finding.drishti else ""
        yield from _wrapped(_MARKS[finding.severity], finding.text + codes)
        if finding.advice:
            yield from _wrapped("  ", f"> {finding.advice}")


def _factors(facts: Facts) -> Iterator[str]:
    for name, (title, unit) in _FACTORS.items():
        value = facts.run[name]
        if value is None:
            continue
        enough = facts.peers is not None and facts.peers.num_rows >= _PEERS
        place = standing(facts.peers, name, float(value)) if enough else None
        beside = "" if place is None else f"  more than {100 * place:.0f} % of its program's runs"
        yield f"  {title:<20}{value:>8.4g} {unit:<2}{beside}".rstrip()
    yield ""


def _where(facts: Facts) -> Iterator[str]:
    """Tell the files and OSTs that took most of the critical time."""
    for row in top_files(facts, _TOP):
        name = row["name"] or "a file without a name"
        yield f"  {100 * row['time_share']:>5.1f} %  {row['exclusive_s']:>9.4g} s  {name}"
    use = facts.use
    order = sorted(range(len(use.ost)), key=lambda i: -use.time_share[i])[:_TOP]
    if order and use.time_share[order[0]] < 2 / len(use.ost):
        yield f"  evenly on {len(use.ost)} OSTs"
        order = []
    for i in (i for i in order if use.time_share[i] > 0):
        slow = use.slowness[i]
        beside = f", {slow:.3g} times as slow as the others" if slow == slow else ""
        yield f"  {100 * use.time_share[i]:>5.1f} %  OST {use.ost[i]}{beside}"
    yield ""


def _of_servers(side: BothSides) -> str:
    own = "" if side.own_share is None else f", {100 * side.own_share:.0f} % of all on its targets"
    seen, done = _amount(side.servers_bytes), _amount(side.processes_bytes)
    return f"{side.kind}: {seen} seen by the servers, {done} done by processes{own}"


def _line(name: str, text: str) -> str:
    return f"{name:<11}{text}"


def _wrapped(mark: str, text: str) -> list[str]:
    return textwrap.wrap(
        printable(text), _WIDTH, initial_indent=f"{mark} ", subsequent_indent="   ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _files(count: int) -> str:
    return "one file" if count == 1 else f"{count} files"


def _amount(value: float | None) -> str:
    return "no bytes" if value is None else abbreviated(value, "B")


def _rate(mib_s: float) -> str:
    return abbreviated(mib_s * MIB, "B/s")
