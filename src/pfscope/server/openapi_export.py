"""What OpenAPI is told of exports."""

from typing import Any, Final

from pfscope.server.export import MEDIA_TYPE
from pfscope.server.openapi_query import TIME
from pfscope.store.export import STYLES
from pfscope.store.schema import TIMED

Json = dict[str, Any]
SCHEMAS: Final[Json] = {
    "ExportFiles": {
        "type": "object",
        "properties": {"files": {"type": "array", "items": {"type": "string"}}},
        "required": ["files"],
        "additionalProperties": False,
    }
}
ROWS: Final[Json] = {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}


def parameters(*, rows: bool) -> list[Json]:
    """Return what an export takes, or the rows of one of its files."""
    tables = {"type": "array", "items": {"enum": list(TIMED)}, "uniqueItems": True}
    own = [
        _parameter("from", TIME, "From when: ISO 8601 in UTC, or before the newest row"),
        _parameter("to", TIME, "Until when; a day is meant whole"),
        _parameter("table", tables, "Only these tables"),
        _parameter("format", {"enum": list(STYLES)}, "What the files are to be"),
        _parameter("wide", {"enum": ["yes", "no"]}, "Who and what beside each usage row"),
    ]
    if not rows:
        return own
    file = {"type": "string", "pattern": "^[a-z_]+(/day=[0-9-]+)?/part-[0-9]+[.](parquet|csv)$"}
    return [*own, _parameter("file", file, "One of the files that the list names") | _REQUIRED]


_REQUIRED: Final = {"required": True}


def _parameter(name: str, schema: Json, description: str) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema}
