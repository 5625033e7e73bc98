"""job_stats of every Lustre release, bytes to columns; streaming, in memory bounded by the result.

The release is never asked for: each entry is read by its own text, so dialects may mix. A text is
cut into pieces at the beginnings of entries, and each piece goes through `scan`.
"""

from collections.abc import Iterable, Iterator

from pfscope.lustre.columns import UNKNOWN_TIME, JobStats, concatenate
from pfscope.lustre.defects import Defects
from pfscope.lustre.dictionary import Dictionary
from pfscope.lustre.index import MARK, Parameter
from pfscope.lustre.scan import Names, scan

__all__ = [
    "UNKNOWN_TIME",
    "Defects",
    "JobStats",
    "JobStatsReader",
    "iter_job_stats",
    "parse_job_stats",
]

PIECE_BYTES = 4 << 20
_NEXT_ENTRY = b"\n" + MARK


def parse_job_stats(
    text: bytes | Iterable[bytes], *, target: str = "", offset: int = 0
) -> JobStats:
    """Read a whole text: `lctl get_param` output of many targets, or the content of one file.

    `target` is the one in force until the text names another. `offset` is added to all offsets.
    """
    reader = JobStatsReader()
    reader.feed(text, target=target, offset=offset)
    return reader.finish()


class JobStatsReader:
    """Reads several texts, each of one target or of many, into columns of one set.

    `ids` goes on from reader to reader where the numbers of ids are to stay the same.
    """

    def __init__(self, ids: Dictionary[bytes] | None = None) -> None:
        self._names = Names(ids=Dictionary() if ids is None else ids)
        self._batches: list[JobStats] = []

    def feed(self, text: bytes | Iterable[bytes], *, target: str = "", offset: int = 0) -> None:
        """Read one more text."""
        chunks = [text] if isinstance(text, bytes) else text
        self._batches += _scan_pieces(chunks, target, offset, self._names)

    def finish(self) -> JobStats:
        """Return the columns of all texts."""
        return concatenate(self._batches or list(_scan_pieces([], "", 0, self._names)))


def iter_job_stats(
    chunks: Iterable[bytes], *, target: str = "", offset: int = 0
) -> Iterator[JobStats]:
    """Read a stream of any length in batches; each batch has dictionaries of its own."""
    return _scan_pieces(chunks, target, offset, None)


def _scan_pieces(
    chunks: Iterable[bytes], target: str, offset: int, names: Names | None
) -> Iterator[JobStats]:
    parameter = Parameter(target)
    for piece, final in _pieces(chunks):
        batch, parameter = scan(piece, offset, parameter, names or Names(), final=final)
        offset += len(piece)
        yield batch


def _pieces(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Cut a stream into pieces that begin with an entry and end with a line."""
    pending: list[bytes] = []
    size, enough = 0, PIECE_BYTES
    for part in _parts(chunks):
        pending.append(part)
        size += len(part)
        if size < enough:
            continue
        buffer = b"".join(pending)
        cut = buffer.rfind(_NEXT_ENTRY) + 1
        if not cut and size >= 4 * PIECE_BYTES:
            # No entry is this long: whatever it is, it need not be kept together.
            cut = buffer.rfind(b"\n") + 1 or size
        if cut:
            yield buffer[:cut], False
        pending, size = [buffer[cut:]], size - cut
        enough = PIECE_BYTES if cut else 2 * size
    yield b"".join(pending), True


def _parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for begin in range(0, len(chunk), PIECE_BYTES):
            yield chunk[begin : begin + PIECE_BYTES] if len(chunk) > PIECE_BYTES else chunk
