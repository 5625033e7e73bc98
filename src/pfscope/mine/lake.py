"""The lake as files: what is where, and how a batch of new files becomes part of it, whole or not.

```
lake/lake.json                                   says that this is a lake
     TABLE/date=YYYY-MM-DD/part-BATCH-N.parquet  rows of a table
     imports/part-BATCH-N.parquet
     .staging/BATCH/…                            a batch that is being written, in the same places
     .committed/BATCH/…                          a batch that is on its way to its places
     stripes.sh                                  on Lustre alone: how to spread days over OSTs
     .lock                                       held by the one who writes
```
A batch counts from the moment at which its directory is renamed from `.staging` to `.committed`.
What a crash left in `.committed` is finished by the next writer, and what it left in `.staging` is
thrown away: no file is ever half written, and no batch half there for long. Names that begin with a
dot are not seen by DuckDB, Spark and Arrow. `delete.json` in a batch lists files that it replaces.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pfscope.errors import InputError
from pfscope.mine.schema import DATE, TABLES

FORMAT: Final = 1
MARK: Final = "lake.json"
_STAGING: Final = ".staging"
_COMMITTED: Final = ".committed"
_DELETE: Final = "delete.json"


class Lake:
    """A directory that is a lake. Reading needs no more than this."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            mark = json.loads((path / MARK).read_text())
        except (OSError, ValueError):
            raise InputError(
                f"{path} is no lake: make one with `pfscope logs import … --lake {path}`"
            ) from None
        if not isinstance(mark, dict) or mark.get("format") != FORMAT:
            raise InputError(f"{path} is a lake of another version of pfscope")

    def files(self, table: str, dates: Iterable[str] | None = None) -> list[Path]:
        """Return a table's files, of these days alone if any are named."""
        root = self.path / table
        if TABLES[table].when is None:
            return sorted(root.glob("*.parquet"))
        wanted = None if dates is None else {f"{DATE}={date}" for date in dates}
        return [
            file
            for day in sorted(root.glob(f"{DATE}=*"))
            if wanted is None or day.name in wanted
            for file in sorted(day.glob("*.parquet"))
        ]

    def dates(self, table: str) -> list[str]:
        """Return the days of which a table has rows."""
        found = (self.path / table).glob(f"{DATE}=*")
        return sorted(day.name.partition("=")[2] for day in found if any(day.iterdir()))

    def staging(self, batch: str) -> Path:
        """Return an empty directory in which a batch is to be written."""
        place = self.staged(batch)
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(parents=True)
        return place

    def staged(self, batch: str) -> Path:
        """Return the directory in which a batch is being written."""
        return self.path / _STAGING / batch

    def abandon(self, batch: str) -> None:
        """Throw away a batch that was not committed."""
        shutil.rmtree(self.staged(batch), ignore_errors=True)

    def commit(self, batch: str, replaced: Iterable[Path] = ()) -> None:
        """Make a batch part of the lake; the files that it replaces go."""
        staged = self.staged(batch)
        gone = [str(path.relative_to(self.path)) for path in replaced]
        if any((staged / name).exists() for name in gone):
            raise ValueError(f"the batch {batch} replaces files by others of the same name")
        (staged / _DELETE).write_text(json.dumps(gone))
        for folder, _, names in os.walk(staged):
            for name in names:
                _sync(Path(folder, name))
            _sync(Path(folder))
        committed = self.path / _COMMITTED
        committed.mkdir(exist_ok=True)
        staged.rename(committed / batch)
        _sync(committed)
        self._finish(committed / batch)

    def recover(self) -> None:
        """Finish what was committed, throw away what was not; only for who holds the lock."""
        for batch in sorted((self.path / _COMMITTED).glob("*")):
            self._finish(batch)
        shutil.rmtree(self.path / _STAGING, ignore_errors=True)

    def _finish(self, batch: Path) -> None:
        """Move a batch's files to their places; may be done again from any point."""
        if not (batch / _DELETE).exists():  # it was about to be removed
            batch.rmdir()
            return
        gone = json.loads((batch / _DELETE).read_text())
        touched = set()
        for file in sorted(batch.rglob("*.parquet")):
            place = self.path / file.relative_to(batch)
            place.parent.mkdir(parents=True, exist_ok=True)
            file.rename(place)
            touched.add(place.parent)
        for name in gone:
            (self.path / name).unlink(missing_ok=True)
            touched.add((self.path / name).parent)
        for folder in touched:
            if folder.exists():
                _sync(folder)
        _remove(batch)


@contextmanager
def writing(path: Path) -> Iterator[Lake]:
    """Open a lake to write, which one process may at a time; make it where there is nothing."""
    _make(path)
    lake = Lake(path)
    with (path / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another import writes to {path}: wait until it has ended") from None
        lake.recover()
        yield lake


def _make(path: Path) -> None:
    try:
        if path.is_dir() and not (path / MARK).exists() and any(path.iterdir()):
            raise InputError(f"{path} is no lake and not empty: name a new directory")
        path.mkdir(parents=True, exist_ok=True)
        if not (path / MARK).exists():
            fresh = path / f".{MARK}"
            fresh.write_text(json.dumps({"format": FORMAT}))
            fresh.rename(path / MARK)
    except OSError as error:
        raise InputError(f"cannot make the lake {path}: {error.strerror}") from error


def _remove(batch: Path) -> None:
    """Remove a batch that is in its places; its list of deletions goes last."""
    for child in batch.iterdir():
        if child.name != _DELETE:
            shutil.rmtree(child)
    (batch / _DELETE).unlink()
    batch.rmdir()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
