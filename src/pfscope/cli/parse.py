"""`pfscope parse`: what was understood of job_stats text, one row per entry and operation."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfscope.cli.inputs import read_chunks
from pfscope.cli.output import Batch, Number, add_format, print_rows
from pfscope.config import Config, add_config, load_config
from pfscope.lustre.job_stats import UNKNOWN_TIME, Defects, JobStats, iter_job_stats
from pfscope.lustre.names import filesystem_of, parameter_of_path, target_of_parameter
from pfscope.model import Identity, Untrusted
from pfscope.untrusted import ascii_text

COLUMNS = (
    "target", "entry_id", "class", "system", "job", "user", "group", "node", "executable",
    "snapshot_time", "start_time", "operation", "unit", "samples", "min", "max", "sum", "sumsq",
)  # fmt: skip
_FIELDS = ("job", "user", "group", "node", "executable")
EXAMPLES = """examples:
  lctl get_param 'mdt.*.job_stats' | pfscope parse -
  pfscope parse /proc/fs/lustre/obdfilter/*/job_stats --format json
  pfscope parse oss1.txt.gz --jobid-name %e.%u --jobid-name %j:%u:%H

Rows are counters with samples above zero. What cannot be read goes to standard error, with its
offset in bytes, and the rest is read all the same.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "files", nargs="*", default=["-"], metavar="FILE",
        help="text of job_stats, plain or compressed; - is standard input (default)",
    )  # fmt: skip
    parser.add_argument(
        "--jobid-name", action="append", metavar="FORMAT",
        help="a format of entry ids, as in Lustre's jobid_name; may be repeated",
    )  # fmt: skip
    add_config(parser)
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print every counter of every file."""
    config = load_config(args.config)
    if args.jobid_name:
        config = config.with_jobid_name(args.jobid_name)
    print_rows(COLUMNS, _batches(args.files, config), args.format)
    return 0


def _batches(files: list[str], config: Config) -> Iterator[Batch]:
    for name in files:
        defects = Defects()
        target = target_of_parameter(parameter_of_path(str(Path(name).absolute())) or "")
        for stats in iter_job_stats(read_chunks(name), target=target):
            yield _rows(stats, config)
            defects.extend(stats.defects)
        _tell(name, defects)


def _tell(name: str, defects: Defects) -> None:
    where = "standard input" if name == "-" else name
    for defect in defects.first:
        print(f"pfscope parse: {where}: offset {defect.offset}: {defect.reason}", file=sys.stderr)
    if len(defects) > len(defects.first):
        counts = ", ".join(f"{n} × {reason}" for reason, n in defects.counts.most_common())
        print(f"pfscope parse: {where}: in all {counts}", file=sys.stderr)


def _rows(stats: JobStats, config: Config) -> Batch:
    """Spread the columns of a batch over its counters."""
    identities = _identities(stats, config)
    entry = stats.entry
    who = [
        identities[key]
        for key in zip(stats.target[entry].tolist(), stats.entry_id[entry].tolist(), strict=True)
    ]
    ids = [ascii_text(raw) for raw in stats.ids]
    return [
        _pick(stats.targets, stats.target[entry]),
        _pick(ids, stats.entry_id[entry]),
        [i.id_class.value for i in who],
        [i.system for i in who],
        *([_shown(getattr(i, name)) for i in who] for name in _FIELDS),
        _times(stats.snapshot_ns[entry]),
        _times(stats.start_ns[entry]),
        _pick(stats.operations, stats.operation),
        _pick(stats.units, stats.unit),
        stats.samples.tolist(),
        *(_where(stats.measured, column) for column in (stats.minimum, stats.maximum, stats.total)),
        _where(stats.squared, stats.sumsq),
    ]  # fmt: skip


def _identities(stats: JobStats, config: Config) -> dict[tuple[int, int], Identity]:
    """Read each id once for each target that it occurs on."""
    readers = [config.identifier(filesystem_of(target)) for target in stats.targets]
    pairs = set(zip(stats.target.tolist(), stats.entry_id.tolist(), strict=True))
    return {(t, i): readers[t].identify(stats.ids[i]) for t, i in pairs}


def _pick(values: Any, numbers: NDArray[np.int32]) -> list[Any]:
    return [values[n] for n in numbers.tolist()]


def _shown(value: Untrusted | None) -> str | None:
    return None if value is None else ascii_text(value)


def _times(nanoseconds: NDArray[np.int64]) -> list[Number | None]:
    return [None if ns == UNKNOWN_TIME else _seconds(ns) for ns in nanoseconds.tolist()]


def _seconds(nanoseconds: int) -> Number:
    seconds, rest = divmod(nanoseconds, 10**9)
    return Number(f"{seconds}.{rest:09d}" if rest else str(seconds))


def _where(there: NDArray[np.bool_], column: NDArray[np.uint64]) -> list[int | None]:
    return [n if yes else None for n, yes in zip(column.tolist(), there.tolist(), strict=True)]
