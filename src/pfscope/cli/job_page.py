"""One job in words, for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from textwrap import fill
from typing import Any, Final

from pfscope.figures import abbreviated, short_time, spaced
from pfscope.top.history import curve
from pfscope.untrusted import cell_text

Told = Mapping[str, Any]
_NAMES: Final = 4
_OPERATIONS: Final = 8
_CURVE: Final = 40
_SIGNS: Final = {"requests": "", "bytes": "B"}
_METRICS: Final = {"iops": "requests", "metadata": "metadata", "bytes": "bytes"}
_SMALL: Final = 0.001
_HARMLESS: Final = 0.02
"""What does less of everything than this part troubles nobody, whatever it looks like."""
_WIDTH: Final = 96


def job_text(told: Told) -> str:
    """Return everything that is known of a job."""
    return "".join(f"{line}\n".replace(" \n", "\n") for line in _lines(told))


def _lines(told: Told) -> Iterator[str]:
    yield _line("job", _name(told))
    yield from _who(told)
    yield _line("when", _when(told))
    yield _line("nodes", _listed("node", told["nodes"]))
    yield _line("targets", _listed("target", told["targets"]))
    for number, row in enumerate(told["shares"]):
        yield _line("did" if not number else "", _did(row))
    for number, row in enumerate(told["load"]):
        yield _line("load" if not number else "", _load(row))
    yield from _sizes(told)
    yield from _latency(told)
    yield from _balance(told)
    yield from _judged(told)
    yield ""
    yield from _operations(told)


def _line(name: str, text: str) -> str:
    return f"{name:<12}{text}"


def _name(told: Told) -> str:
    if not told["is_array"]:
        return cell_text(told["job"])
    tasks = told["tasks"]
    return f"{cell_text(told['job'])}, an array of which {len(tasks)} tasks did something"


def _who(told: Told) -> Iterator[str]:
    for key in ("user", "group", "project", "partition", "executable"):
        names = told[f"{key}s"]
        if names:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            yield _line(key, ", ".join(map(cell_text, names[:_NAMES])) + more)


def _when(told: Told) -> str:
    start, end = (datetime.fromisoformat(told[name]) for name in ("start", "end"))
    length = short_time((end - start).total_seconds())
    return f"{told['start']} to {told['end']} ({length})"


def _listed(key: str, rows: Sequence[Told]) -> str:
    if not rows:
        return "not known: the ids do not tell it"
    named = [f"{cell_text(row[key])} ({_percent(row['share'])})" for row in rows[:_NAMES]]
    more = f" and {len(rows) - _NAMES} more" if len(rows) > _NAMES else ""
    return f"{len(rows)}: {', '.join(named)}{more}" if len(rows) > 1 else named[0]


def _did(row: Told) -> str:
    sign = _SIGNS.get(row["unit"], "")
    name = f"{abbreviated(row['total'], sign)} {_METRICS[row['metric']]}".replace("B bytes", "B")
    mean, most = (abbreviated(row[key], f"{sign}/s") for key in ("rate_mean", "rate_max"))
    where = cell_text(row["filesystem"])
    return f"{name}: {mean} in the mean, {most} at most, {_percent(row['share'])} of {where}"


def _load(row: Told) -> str:
    if row["caused"] is None or row["load"] is None:
        return f"{cell_text(row['server'])}: not known, no load was collected"
    part = f", {_percent(row['caused'] / row['load'])}" if row["load"] else ""
    return f"{cell_text(row['server'])}: {row['caused']:.3g} of {row['load']:.3g}{part}"


def _sizes(told: Told) -> Iterator[str]:
    sums: dict[str, tuple[int, int]] = {}
    for row in told["sizes"]:
        requests, carried = sums.get(row["operation"], (0, 0))
        sums[row["operation"]] = requests + row["requests"], carried + row["bytes"]
    for number, (operation, (requests, carried)) in enumerate(sums.items()):
        if requests:
            mean = abbreviated(carried / requests, "B")
            text = f"{operation}: {abbreviated(requests)} requests of {mean} in the mean"
            yield _line("sizes" if not number else "", text)


def _latency(told: Told) -> Iterator[str]:
    slowest = sorted(told["latency"], key=lambda row: -(row["mean_us"] or 0.0) * row["requests"])
    for number, row in enumerate(slowest[:_NAMES]):
        mean, most = (
            "unknown" if row[key] is None else spaced(row[key] / 1e6)
            for key in ("mean_us", "maximum_us")
        )
        text = f"{cell_text(row['operation'])}: {mean} in the mean, {most} at most"
        yield _line("latency" if not number else "", text)


def _balance(told: Told) -> Iterator[str]:
    for number, row in enumerate(told["balance"]):
        if row["effective"] is None:
            continue
        spread = f"as on {row['effective']:.3g} of {row['targets']} OSTs"
        text = f"{cell_text(row['filesystem'])}: {spread}, most on {cell_text(row['busiest'])}"
        yield _line("balance" if not number else "", text)


def _judged(told: Told) -> Iterator[str]:
    evidence = f": {'; '.join(told['evidence'])}" if told["evidence"] else ""
    yield _line("looks like", cell_text(told["kind"].replace("_", " ") + evidence))
    most = max((row["share"] or 0.0 for row in told["shares"]), default=0.0)
    if most < _HARMLESS:
        yield _line("advice", f"none: it is {_percent(most)} of a file system at most")
    else:
        yield fill(_line("advice", told["advice"]), _WIDTH, subsequent_indent=_line("", ""))
    if told["incidents"] is None:
        yield _line("incidents", "not looked for: --incidents does")
        return
    if not told["incidents"]:
        yield _line("incidents", "it was the cause of none")
    for number, row in enumerate(told["incidents"]):
        where = ", ".join(map(cell_text, row["targets"])) or "all targets"
        text = f"{row['id']}: {row['severity']}, {row['kind'].replace('_', ' ')} on {where}"
        yield _line("incidents" if not number else "", cell_text(text))


def _operations(told: Told) -> Iterator[str]:
    """Return a line for each operation with its rates over time as a curve."""
    past: dict[str, dict[str, float]] = {}
    for row in told["series"]:
        past.setdefault(row["operation"], {})[row["time"]] = row["rate"]
    times = sorted({row["time"] for row in told["series"]})
    yield f"{'operation':<16}{'total':>9}{'mean':>11}{'most':>11}  over time"
    shown = [row for row in told["operations"] if row["share"] >= _SMALL][: 2 * _OPERATIONS]
    for row in shown:
        sign = _SIGNS[row["unit"]]
        values = [past.get(row["operation"], {}).get(time, 0.0) for time in times]
        total = abbreviated(row["total"], sign)
        mean, most = (abbreviated(row[key], f"{sign}/s") for key in ("rate_mean", "rate_max"))
        name = cell_text(row["operation"])
        yield f"{name:<16}{total:>9}{mean:>11}{most:>11}  {_curve(values)}"


def _curve(values: Sequence[float]) -> str:
    """Draw values; where they find no room, the means of neighbours."""
    size = -(-len(values) // _CURVE)
    means = [sum(values[n : n + size]) / size for n in range(0, len(values), size)]
    return curve(means, len(means))


def _percent(part: float | None) -> str:
    if part is None:
        return "an unknown part"
    return f"{part:.1%}" if part >= _SMALL or not part else "< 0.1%"
