"""An answer as CSV, JSON, an Arrow stream or Parquet: the same from a command and from a server.

Times are ISO 8601 in UTC and whole numbers have no fraction. What is to be told beside the rows is
`about` in JSON, and the schema's metadata under `pfscope` in Arrow and Parquet.
"""

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from pfscope.query.results import Result
from pfscope.rows import Batch, write_csv
from pfscope.times import iso

ABOUT: Final = b"pfscope"
_ROWS: Final = 65_536
_EXACT: Final = 2**53
_UTC_US: Final = pa.timestamp("us", tz="UTC")
_iso = lru_cache(maxsize=131_072)(iso)


def cells(table: pa.Table) -> Iterator[Batch]:
    """Yield rows as text and numbers, in batches of columns."""
    for batch in table.to_batches(max_chunksize=_ROWS):
        yield [_plain(column) for column in batch.columns]


def about_text(about: Mapping[str, Any]) -> str:
    """Return what is to be told beside the rows as JSON."""
    return json.dumps(_as_json(about), allow_nan=False)


def as_json(result: Result) -> bytes:
    """Return `{"about": {…}, "columns": […], "rows": [[…], …]}`."""
    rows = (json.dumps(row) for batch in cells(result.table) for row in zip(*batch, strict=True))
    head = f'{{"about": {about_text(result.about)}, "columns": '
    columns = json.dumps(result.table.column_names)
    return f'{head}{columns}, "rows": [{", ".join(rows)}]}}'.encode("ascii")


def as_csv(result: Result) -> bytes:
    """Return a header and rows."""
    out = io.StringIO()
    write_csv(result.table.column_names, cells(result.table), out)
    return out.getvalue().encode()


def as_arrow(result: Result) -> bytes:
    """Return an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    table = _with_about(result)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def as_parquet(result: Result) -> bytes:
    """Return a Parquet file."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(_with_about(result), sink, compression="zstd")
    return bytes(sink.getvalue())


def from_arrow(name: str, data: bytes) -> Result:
    """Undo `as_arrow`; what is no such stream is a `ValueError`."""
    try:
        with pa.ipc.open_stream(data) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"this is no Arrow stream: {error}") from error
    about = json.loads((table.schema.metadata or {}).get(ABOUT, b"null"))
    if not isinstance(about, dict):
        raise ValueError("the stream tells nothing about an answer")  # noqa: TRY004
    return Result(name, table.replace_schema_metadata(None), about)


FORMATS: Final[Mapping[str, tuple[str, Callable[[Result], bytes]]]] = {
    "json": ("application/json", as_json),
    "csv": ("text/csv; charset=utf-8", as_csv),
    "arrow": ("application/vnd.apache.arrow.stream", as_arrow),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
}
"""Media type and writer, by the name of the format."""


def _with_about(result: Result) -> pa.Table:
    return result.table.replace_schema_metadata({ABOUT: about_text(result.about).encode()})


def _plain(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        times = column.cast(_UTC_US).cast(pa.int64()).to_pylist()
        return [None if time is None else _iso(time) for time in times]
    if pa.types.is_decimal(column.type):  # the sums of whole numbers that databases make
        return [value if value is None else int(value) for value in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    return [_number(v) for v in values] if pa.types.is_floating(column.type) else values


def _number(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def _as_json(value: Any) -> Any:
    """Return a value in words of JSON, which has none for infinity, NumPy's numbers and times."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_as_json(part) for part in value]
    return _as_json(value.item()) if hasattr(value, "item") else str(value)
