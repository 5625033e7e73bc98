"""`pfscope logs import lmt`: files, and live databases by `mysql://USER@HOST[:PORT]/DATABASE`."""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pfscope.errors import InputError, UsageError

if TYPE_CHECKING:
    from pfscope.logs.lmt_tables import Ask
    from pfscope.mine.importing import Source, Summary, Watch
    from pfscope.mine.lake import Lake
    from pfscope.mine.records import Record

_LIVE = "mysql://"
_PASSWORD = "PFSCOPE_LMT_PASSWORD"  # noqa: S105 - the name of a variable
_PATIENCE_S = 60


def is_live(path: str) -> bool:
    """Return whether a path is the address of a database."""
    return path.startswith(_LIVE)


def import_lmt(
    args: argparse.Namespace, lake: "Lake", source: "Source", watch: "Watch"
) -> "Summary":
    """Import what is named, files and databases."""
    from pfscope.logs.slurm_values import times
    from pfscope.mine.importing import Summary
    from pfscope.mine.lmt_import import ENDINGS, import_live, import_lmt

    times(args.time_zone)  # refuses a zone that there is not
    files = tuple(path for path in source.paths if not is_live(path))
    found = 0
    records: list[Record] = []
    for address in (path for path in source.paths if is_live(path)):
        with _asking(address, args.password_file) as ask:
            summary = import_live(lake, source, ask, address, args.time_zone, watch)
        found += summary.found
        records += summary.records
    if files:
        named = source._replace(paths=files, endings=ENDINGS)
        summary = import_lmt(lake, named, args.time_zone, watch)
        found += summary.found
        records += summary.records
    return Summary(found, tuple(records))


@contextmanager
def _asking(address: str, password_file: Path | None) -> Iterator["Ask"]:
    """Connect to a database, and give what runs a query there."""
    import pymysql

    parts = urlsplit(address)
    base = parts.path.strip("/")
    if parts.password is not None:
        raise UsageError(
            "a password in an address can be read by everybody on this machine: use"
            f" --password-file or ${_PASSWORD}"
        )
    if not parts.hostname or not base:
        raise UsageError(f"{address} is no address: write mysql://USER@HOST[:PORT]/DATABASE")
    try:
        with pymysql.connect(
            host=parts.hostname,
            port=parts.port or 3306,
            user=parts.username,
            password=_password(password_file),
            database=base,
            connect_timeout=_PATIENCE_S,
            read_timeout=_PATIENCE_S,
            autocommit=True,
        ) as connection:

            def ask(query: str) -> Sequence[Sequence[Any]]:
                with connection.cursor() as cursor:
                    cursor.execute(query)
                    rows: Sequence[Sequence[Any]] = cursor.fetchall()
                return rows

            yield ask
    except pymysql.MySQLError as error:
        raise InputError(f"{address} does not answer as LMT does: {error}") from error


def _password(path: Path | None) -> str:
    if path is None:
        return os.environ.get(_PASSWORD, "")
    try:
        return path.read_text().strip()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
