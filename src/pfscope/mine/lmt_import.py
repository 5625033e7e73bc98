"""LMT's data into the lake: each target and step of time once, whichever files tell of them."""

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

import pyarrow as pa

from pfscope.logs.lmt import form_of, iter_lmt
from pfscope.logs.lmt_tables import Ask, iter_tables
from pfscope.mine.importing import Source, Summary, Watch
from pfscope.mine.inputs import Found
from pfscope.mine.lake import Lake
from pfscope.mine.records import Imports
from pfscope.mine.schema import table_schema
from pfscope.mine.telling import Told, import_tellings, tell
from pfscope.mine.upsert import Rule
from pfscope.mine.workers import Isolated

ENDINGS: Final = (".h5lmt", ".hdf5", ".h5", ".sqlite3", ".sqlite", ".db")
RULES: Final = {"lmt": Rule("lmt", (), "time")}


def import_lmt(lake: Lake, source: Source, time_zone: str, watch: Watch) -> Summary:
    """Import all files that are not known yet, one after another."""

    # A library that hostile files may take down reads HDF5: not in this process.
    isolated = Isolated()

    def read(found: Found, told: Told) -> Iterator[dict[str, pa.Table]]:
        path = Path(found.path)
        if form_of(path) == "hdf5":
            tables, missing = isolated(read_hdf5, found.path)
            told.missing.update(missing)
            yield from (_of_lake(table, found.digest) for table in tables)
            return
        for table in iter_lmt(
            path, time_zone=time_zone, missing=told.missing, period=source.period.bounds
        ):
            yield _of_lake(table, found.digest)

    with isolated:
        return import_tellings(lake, source, RULES, read, watch)


def import_live(
    lake: Lake, source: Source, ask: Ask, name: str, time_zone: str, watch: Watch
) -> Summary:
    """Import from a live database, from where the last import of it ended."""
    watch.total(1)
    known = blake2b(name.encode(), digest_size=16).hexdigest()
    found = Found(name, 0, 0, known)
    if source.period.from_us is None:
        source = source._replace(period=source.period._replace(from_us=Imports(lake).end_of(known)))

    def read(_: Found, told: Told) -> Iterator[dict[str, pa.Table]]:
        for table in iter_tables(ask, time_zone, told.missing, source.period.bounds):
            yield _of_lake(table, known)

    record = tell(lake, source, found, RULES, read)
    watch.done(1)
    return Summary(1, (record,))


def read_hdf5(path: str) -> tuple[list[pa.Table], Counter[str]]:
    """Read a whole file: of one day, as they are."""
    missing: Counter[str] = Counter()
    return list(iter_lmt(Path(path), missing=missing)), missing


def _of_lake(rows: pa.Table, log: str) -> dict[str, pa.Table]:
    logs = pa.array([log] * rows.num_rows, pa.string())
    return {"lmt": rows.append_column("log", logs).cast(table_schema("lmt"))}
