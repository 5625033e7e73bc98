"""Large runs that were slow, as parallel coordinates: what they have in common, and a table."""

from typing import Any, Final

from pfscope.mine import statistics
from pfscope.mine.miner import Miner
from pfscope.report import draw, numbers, parallel
from pfscope.report.markup import Child, element, table
from pfscope.report.parallel import Quantity

_SHOWN: Final = 500
_MIB: Final = 2**20
_PERCENT: Final = (0.0, 100.0)


def low(miner: Miner, operation: str) -> Child:
    """Return the section on reads or on writes."""
    found = statistics.low_bandwidth(miner, operation)
    which = "with more than 1 000 processes, at least 10 MB for each, and less than 1 GB/s"
    if not found.num_rows:
        return element("p", f"No run {which}.")
    rows = found.slice(0, _SHOWN).to_pylist()
    cut = "" if found.num_rows == len(rows) else f" The {_SHOWN} slowest are shown."
    what = (
        f"{numbers.how_many(found.num_rows, 'run').capitalize()} {which} over the critical path, "
        f"coloured by program.{cut} Drag along an axis, or use the sliders, to choose some; a line "
        "passes below an axis where the value is not known."
    )
    name = f"table-{operation}"
    drawn = parallel.parallel(
        _quantities(rows), [draw.plain(row["executable"]) for row in rows], name, what
    )
    return element(
        "figure",
        drawn,
        element("figcaption", what),
        element("div", _table(rows, operation), id=name),
    )


def _quantities(rows: list[dict[str, Any]]) -> list[Quantity]:
    def of(name: str, title: str, *, log: bool = False) -> Quantity:
        return Quantity(title, [row[name] for row in rows], log, None if log else _PERCENT)

    return [
        of("small_pct", "Small, %"), of("nonconsec_pct", "Non-consec, %"),
        of("coll_pct", "Coll, %"),
        of("ost_count", "OSTs", log=True), of("proc_per_ost", "Proc/OST", log=True),
        of("node_count", "Nodes", log=True), of("bytes", "Bytes", log=True),
        Quantity("B/s", [row["bandwidth_critical_mib_s"] * _MIB for row in rows], log=True),
    ]  # fmt: skip


def _table(rows: list[dict[str, Any]], operation: str) -> Child:
    head = (
        "job", "program", "processes", "nodes", "bytes", "bandwidth", "small, %", "non-consec, %",
        "coll, %", "OSTs", "proc/OST",
    )  # fmt: skip
    shown = [
        (row["job_id"], draw.plain(row["executable"]), numbers.si(row["nprocs"]),
         numbers.si(row["node_count"]), numbers.amount(row["bytes"], "bytes"),
         numbers.si(row["bandwidth_critical_mib_s"] * _MIB, "B/s"),
         *(numbers.si(row[name]) for name in ("small_pct", "nonconsec_pct", "coll_pct", "ost_count",
                                              "proc_per_ost")))
        for row in rows
    ]  # fmt: skip
    return table(f"Slow {operation}s", head, shown, numeric=range(2, len(head)))
