"""`sacct --parsable` and `--parsable2` cut into cells: blocks of whole lines to columns of bytes.

Slurm escapes neither `|` nor line breaks in what users wrote. A line with too many fields is put
right where only one column can be the cause, and left out otherwise; it never moves other columns.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.errors import InputError
from pfscope.logs.slurm_defects import Defects

BLOCK_BYTES: Final = 1 << 22
"""So much text is cut at once; no line is longer."""
USERS_TEXT: Final = frozenset(
    ("jobname", "comment", "admincomment", "systemcomment", "constraints", "container", "extra",
     "reservation", "stderr", "stdin", "stdout", "submitline", "wckey", "workdir")
)  # fmt: skip
"""The columns of sacct in which a `|` can stand."""

_BREAK: Final = ord("\n")
_BAR: Final = ord("|")
_NAME: Final = re.compile(rb"[A-Za-z]+")
_NO_COLUMNS: Final = (
    "the columns are unknown: the text begins with no header of sacct that names JobID or JobIDRaw."
    " Collect it without --noheader and with --parsable2, or name its columns in their order (the"
    " list that sacct's --format had)"
)


class Cells(NamedTuple):
    """Some records as text: columns of equal length, empty where there is nothing."""

    line: pa.Array
    """Where each record stands in the text."""
    columns: dict[str, pa.Array]
    """Bytes, by the name of the column in lower case."""


NO_CELLS: Final = Cells(pa.array([], pa.int64()), {})


class _Layout(NamedTuple):
    """What the lines look like that follow a header."""

    names: tuple[str, ...]
    bar_at_end: bool

    @property
    def bars(self) -> int:
        return len(self.names) - (not self.bar_at_end)


def iter_cells(
    chunks: Iterable[bytes], fields: Sequence[str] | None, wanted: frozenset[str], defects: Defects
) -> Iterator[Cells]:
    """Cut text into cells of the wanted columns; `fields` are its columns if it has no header."""
    layout = header = None
    for line, block in _whole_lines(chunks, defects):
        if layout is None and block.strip():
            # Only here: whoever has a line break in a job's name could write a header of his own.
            first = block.lstrip(b"\n").partition(b"\n")[0]
            layout, header = _layout(first, fields)
        if layout is not None:
            text = block if header is None else _without(header, block)
            yield from _Cutter(text, line, layout, wanted).cells(defects)


def _layout(first: bytes, fields: Sequence[str] | None) -> tuple[_Layout, bytes | None]:
    """Tell from the first line what all look like; return it, too, if it is a header."""
    layout = _header(first)
    if layout is not None:
        return layout, first
    if fields is None:
        raise InputError(_NO_COLUMNS)
    names = tuple(name.partition("%")[0].strip().lower() for name in fields)
    return _Layout(names, first.endswith(b"|") and first.count(b"|") >= len(names)), None


def _header(line: bytes) -> _Layout | None:
    cells = line.split(b"|")
    bar_at_end = len(cells) > 1 and not cells[-1]
    names = cells[:-1] if bar_at_end else cells
    if not {b"JobID", b"JobIDRaw"} & set(names) or not all(map(_NAME.fullmatch, names)):
        return None
    return _Layout(tuple(name.decode("ascii").lower() for name in names), bar_at_end)


def _without(header: bytes, block: bytes) -> bytes:
    """Blank the lines that repeat the header, as files that were joined have them."""
    block = b"\n" + block
    for _ in range(2):  # of two such lines in a row the first pass finds one
        block = block.replace(b"\n%b\n" % header, b"\n\n")
    return block[1:]


def _whole_lines(chunks: Iterable[bytes], defects: Defects) -> Iterator[tuple[int, bytes]]:
    """Yield blocks that end with a line break, with the number of their first line.

    A line that is longer than a block is left out.
    """
    parts: list[bytes] = []
    size = 0
    line = 1
    skipping = False
    for piece in _pieces(chunks):
        parts.append(piece)
        size += len(piece)
        if size < BLOCK_BYTES:
            continue
        text = _unix(b"".join(parts))
        if skipping:
            _, found, text = text.partition(b"\n")
            skipping = not found
        whole, found, rest = text.rpartition(b"\n")
        if found:
            yield line, whole + found
            line += whole.count(b"\n") + 1
        elif not skipping and len(rest) >= BLOCK_BYTES:
            defects.reject(line, f"line longer than {BLOCK_BYTES} bytes")
            line += 1
            skipping, rest = True, b""
        parts, size = [rest], len(rest)
    text = _unix(b"".join(parts))
    if skipping:
        text = text.partition(b"\n")[2]
    if text:
        yield line, text if text.endswith(b"\n") else text + b"\n"


def _unix(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for at in range(0, len(chunk), BLOCK_BYTES):
            yield chunk[at : at + BLOCK_BYTES]


class _Cutter:
    """Lines of one layout: the regular ones cut with arrays, the others one by one."""

    def __init__(self, text: bytes, line: int, layout: _Layout, wanted: frozenset[str]) -> None:
        self.text = text
        self.line = line
        self.layout = layout
        self.wanted = {
            name: index for index, name in reversed(list(enumerate(layout.names))) if name in wanted
        }
        self.data = np.frombuffer(text, np.uint8)
        self.ends = np.flatnonzero(self.data == _BREAK)
        self.starts = np.concatenate(([0], self.ends[:-1] + 1))

    def cells(self, defects: Defects) -> Iterator[Cells]:
        bars = np.flatnonzero(self.data == _BAR)
        count = np.diff(np.searchsorted(bars, self.ends), prepend=0)
        regular = (count == self.layout.bars) & (self.ends > self.starts)
        if self.layout.bar_at_end:
            regular &= self.data[self.ends - 1] == _BAR
        if regular.any():
            inner = bars[np.repeat(regular, count)].reshape(-1, self.layout.bars)
            yield self._regular(np.flatnonzero(regular), inner)
        odd = np.flatnonzero(~regular & (self.ends > self.starts))
        if odd.size:
            yield from self._odd(odd, defects)

    def _regular(self, which: NDArray[np.int64], bars: NDArray[np.int64]) -> Cells:
        starts = np.column_stack((self.starts[which], bars + 1))
        ends = bars if self.layout.bar_at_end else np.column_stack((bars, self.ends[which]))
        columns = {
            name: _gathered(self.data, starts[:, index], ends[:, index])
            for name, index in self.wanted.items()
        }
        return Cells(pa.array(which + self.line), columns)

    def _odd(self, which: NDArray[np.int64], defects: Defects) -> Iterator[Cells]:
        lines, rows = [], []
        for index in which.tolist():
            cells = self.text[self.starts[index] : self.ends[index]].split(b"|")
            whole = _put_right(cells, self.layout)
            if whole is None:
                few = len(cells) <= self.layout.bars
                reason = "fewer fields than columns" if few else "more fields than columns"
                defects.reject(index + self.line, reason)
            else:
                lines.append(index + self.line)
                rows.append(whole)
        if rows:
            columns = {
                name: pa.array([row[index] for row in rows], pa.binary())
                for name, index in self.wanted.items()
            }
            yield Cells(pa.array(lines), columns)


def _gathered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> pa.Array:
    """Return the stretches of `data` as one column."""
    lengths = ends - starts
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data[places])]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)


def _put_right(cells: list[bytes], layout: _Layout) -> list[bytes] | None:
    """Give the bars that are too many to the one column that users write, if there is one alone.

    With two of them a user could choose which value the columns between them seem to have.
    """
    if layout.bar_at_end:
        if cells[-1]:
            return None
        cells = cells[:-1]
    loose = [index for index, name in enumerate(layout.names) if name in USERS_TEXT]
    extra = len(cells) - len(layout.names)
    if extra <= 0 or len(loose) != 1:
        return None
    at = loose[0]
    # Some collectors escape what Slurm does not.
    text = b"|".join(cells[at : at + extra + 1]).replace(b"\\|", b"|")
    return [*cells[:at], text, *cells[at + extra + 1 :]]
