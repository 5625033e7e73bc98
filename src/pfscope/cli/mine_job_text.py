"""A run explained on a terminal: who and how fast, where the time went, what was found."""

import textwrap
from collections.abc import Iterator
from typing import Final

from pfscope.cli.figures import abbreviated
from pfscope.mine.explain import findings, top_files
from pfscope.mine.explain_facts import Facts
from pfscope.mine.factors import MIB
from pfscope.mine.factors_cohort import standing
from pfscope.untrusted import printable

_WIDTH: Final = 96
_TOP: Final = 5
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
    partial = ", its log is partial" if run["partial"] else ""
    yield _line("job", f"{run['job_id']}, {run['executable'] or 'a program without a name'} on"
                f" {run['nprocs']} processes{partial}")  # fmt: skip
    yield _line("operation", f"{run['operation']}: {_amount(run['bytes'])} in {run['files']} files")
    yield _line("time", f"{run['critical_s']:.4g} s on the critical path through"
                f" {run['critical_files']} files, {run['span_s']:.4g} s from first to last")  # fmt: skip
    if run["bandwidth_critical_mib_s"] is not None:
        yield _line("bandwidth", f"{_rate(run['bandwidth_critical_mib_s'])} over the critical path,"
                    f" {_rate(run['bandwidth_span_mib_s'])} over the span")  # fmt: skip
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
        place = None if facts.peers is None else standing(facts.peers, name, float(value))
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
    for i in (i for i in order if use.time_share[i] > 0):
        slow = use.slowness[i]
        beside = f", {slow:.3g} times as slow as the others" if slow == slow else ""
        yield f"  {100 * use.time_share[i]:>5.1f} %  OST {use.ost[i]}{beside}"
    yield ""


def _line(name: str, text: str) -> str:
    return f"{name:<11}{text}"


def _wrapped(mark: str, text: str) -> list[str]:
    return textwrap.wrap(
        printable(text), _WIDTH, initial_indent=f"{mark} ", subsequent_indent="   ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _amount(value: int | None) -> str:
    return "no bytes" if value is None else abbreviated(value, "B")


def _rate(mib_s: float) -> str:
    return abbreviated(mib_s * MIB, "B/s")
