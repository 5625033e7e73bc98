"""`pfscope top --batch`: what a window would show, as rows: once, or after every observation.

CSV and JSON are contracts: `time`, the keys, and the same columns whatever anybody does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, TextIO

from pfscope.cli.output import print_rows
from pfscope.cli.table import HOT, WARM, Cell, Column, print_table
from pfscope.errors import InputError
from pfscope.figures import MOST, MUCH, UNKNOWN, abbreviated
from pfscope.query.metrics import is_bytes
from pfscope.times import iso
from pfscope.top.picture import Names, Number, Picture
from pfscope.top.source import Document, Source
from pfscope.top.view import View
from pfscope.untrusted import cell_text

SHARE: Final = "share"
COLUMNS: Final = (
    "load", SHARE, "iops", "metadata", "bytes", "read_bytes", "write_bytes",
)  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """What is printed."""

    view: View
    at: str | None = None
    columns: tuple[str, ...] | None = None
    count: int | None = None
    """So many observations; None: live until somebody ends it, recorded ones to the newest."""


def print_batch(source: Source, batch: Batch, style: str, out: TextIO) -> None:
    """Print it."""
    columns = batch.columns or COLUMNS
    _check(source, batch.view, columns)
    coming = _pictures(source, batch)
    pictures = chain([next(coming)], coming)  # nothing is printed before there is an answer
    try:
        if style == "table":
            for number, picture in enumerate(pictures):
                out.write("\n" if number else "")
                _print_table(picture, columns, batch.view.sort, out)
                out.flush()
        else:
            names = ["time", *batch.view.by, *columns]
            batches = _rows(pictures, columns, batch.view.sort, out)
            print_rows(names, batches, style, out)
    finally:
        source.close()


def _check(source: Source, view: View, columns: Sequence[str]) -> None:
    """Refuse a column that there is not: what nobody does is no mistake, what is misspelt is."""
    for name in columns:
        if name not in (*COLUMNS, *view.by):
            source.now(replace(view, sort=name, limit=1).words())


def _pictures(source: Source, batch: Batch) -> Iterator[Picture]:
    words = batch.view.words(batch.at)
    if source.pushes and batch.at is None and batch.count != 1:
        try:
            for number, picture in enumerate(_settled(source.live(words)), 1):
                yield picture
                if number == batch.count:
                    return
        except KeyboardInterrupt:  # what was printed is whole
            return
    first = Picture.read(source.now(words))
    yield first
    if batch.at is not None and batch.count != 1:
        yield from _later(source, batch, first)


def _settled(pushed: Iterator[Document]) -> Iterator[Picture]:
    """Pass by what is pushed within half a step: servers tell one after another."""
    last_us = None
    for told in pushed:
        picture = Picture.read(told)
        if last_us is None or picture.time_us - last_us >= (picture.step_us or 0) / 2:
            yield picture
            last_us = picture.time_us


def _later(source: Source, batch: Batch, last: Picture) -> Iterator[Picture]:
    """Go from one observation to the next, up to the newest."""
    newest_us = Picture.read(source.now(View(limit=1).words())).time_us
    moment_us, left = last.time_us, -1 if batch.count is None else batch.count - 1
    while left and moment_us < newest_us:
        moment_us = min(moment_us + (last.step_us or 60 * 10**6), newest_us)
        try:
            picture = Picture.read(source.now(batch.view.words(iso(moment_us))))
        except InputError:  # nothing was observed for a while
            continue
        if picture.time_us > last.time_us:
            yield picture
            last, left = picture, left - 1


def _rows(
    pictures: Iterator[Picture], columns: Sequence[str], sort: str, out: TextIO
) -> Iterator[list[list[Any]]]:
    """Return batches of columns; each is with the reader before the next is waited for."""
    for picture in pictures:
        told = [(names, _numbers(picture, row, columns, sort)) for names, row in picture.rows]
        safe = cell_text if out.isatty() else str
        keys = [
            [None if names[n] is None else safe(str(names[n])) for names, _ in told]
            for n in range(len(picture.by))
        ]
        values = [[numbers[n] for _, numbers in told] for n in range(len(columns))]
        yield [[iso(picture.time_us)] * len(told), *keys, *values]
        out.flush()


def _numbers(
    picture: Picture, row: Sequence[Number], columns: Sequence[str], sort: str
) -> list[Number]:
    by = picture.decided_by(sort)
    total = picture.total(by)
    own = picture.number(tuple(row), by)
    part = None if not total or own is None else own / total
    return [part if name == SHARE else picture.number(tuple(row), name) for name in columns]


def _print_table(picture: Picture, columns: Sequence[str], sort: str, out: TextIO) -> None:
    heads = [Column(name) for name in picture.by] + [Column(name, right=True) for name in columns]
    rows = []
    for names, row in picture.rows:
        values = _numbers(picture, row, columns, sort)
        rows.append([*_keys(names), *map(_cell, columns, values)])
    out.write(f"{iso(picture.time_us)}\n")
    print_table(heads, rows, out)


def _keys(names: Names) -> list[Cell]:
    return [Cell(UNKNOWN if name is None else cell_text(name)) for name in names]


def _cell(column: str, value: Number) -> Cell:
    if value is None:
        return Cell(UNKNOWN)
    if column == SHARE:
        return Cell(f"{value:.1%}", HOT if value >= MOST else WARM if value >= MUCH else "")
    return Cell(abbreviated(value, "B" if is_bytes(column) or column == "bytes" else ""))
