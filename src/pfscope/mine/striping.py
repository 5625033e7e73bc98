"""Where a lake on Lustre should put its days, so that executors that read different days are apart.

A day of every table goes to one OST, as in the paper: a join of tables by job then reads one OST,
and executors that have different days do not meet. The lake tells how in a script, `stripes.sh`:
`lfs setstripe` for directories of days, whose files to come go there, and `lfs migrate` for files.
"""

import os
import shlex
from pathlib import Path
from typing import Final

from pfscope.mine.lake import Lake
from pfscope.mine.schema import DATE, TABLES

SCRIPT: Final = "stripes.sh"
_MOUNTS: Final = Path("/proc/self/mountinfo")
_HEAD: Final = """\
#!/bin/sh
# Puts each day of this lake on an OST of its own, all of its tables together. Run it on a client,
# by hand; it may be run again. Files that are there are moved while nobody imports.
set -eu
cd "$(dirname "$0")"
osts=$(lfs osts . | grep -c ' ACTIVE$')
day() {  # DIRECTORY NUMBER
  mkdir -p "$1"
  lfs setstripe -c 1 -i $(($2 % osts)) "$1"
  find "$1" -name '*.parquet' -exec lfs migrate -c 1 -i $(($2 % osts)) {} +
}
"""


def fs_type_of(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """Return the type of the file system that a path is on; None: the kernel does not tell."""
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    best, found = -1, None
    whole = os.fspath(path.resolve())
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = fields[4].encode("ascii", "surrogateescape").decode("unicode_escape")
        inside = whole == point or whole.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, found = len(point), after.split()[0]
    return found


def write_hints(lake: Lake, mounts: Path = _MOUNTS) -> Path | None:
    """Write the script where the lake is on Lustre; return where it is."""
    if fs_type_of(lake.path, mounts) != "lustre":
        return None
    script = lake.path / SCRIPT
    fresh = lake.path / f".{SCRIPT}"
    fresh.write_text(_HEAD + "".join(_days(lake)))
    fresh.chmod(0o755)
    fresh.rename(script)
    return script


def _days(lake: Lake) -> list[str]:
    """Return a line for each table and day; a day has the same number in all tables."""
    tables = [table.name for table in TABLES.values() if table.when]
    dates = sorted({date for table in tables for date in lake.dates(table)})
    return [
        f"day {shlex.quote(f'{table}/{DATE}={date}')} {number}\n"
        for number, date in enumerate(dates)
        for table in tables
        if (lake.path / table / f"{DATE}={date}").is_dir()
    ]
