"""What OpenAPI is told of incidents and alerts."""

from typing import Any, Final

from pfscope.server.incidents import TEXT_AT_MOST
from pfscope.server.openapi_query import TIME
from pfscope.watch.alerts.listing import COLUMNS as ALERT_COLUMNS
from pfscope.watch.alerts.model import SEVERITIES
from pfscope.watch.book import ID
from pfscope.watch.model import State
from pfscope.watch.wanted import WORDS
from pfscope.watch.written import COLUMNS, WHO

Json = dict[str, Any]
_TEXT: Final = {"type": "string"}
_MAYBE_TEXT: Final = {"type": ["string", "null"]}
_MAYBE_NUMBER: Final = {"type": ["number", "null"]}
_KINDS: Final[Json] = {
    "from": TIME,
    "to": TIME,
    "severity": {"enum": list(SEVERITIES)},
    "state": {"enum": [state.value for state in State]},
}
NAME: Final[Json] = {
    "name": "name", "in": "path", "required": True, "description": "The incident's id",
    "schema": {"type": "string", "pattern": f"^{ID}$"},
}  # fmt: skip


def wishes() -> list[Json]:
    """Return what a list of incidents can be asked for."""
    return [
        {"name": name, "in": "query", "description": meaning, "schema": _KINDS.get(name, _TEXT)}
        for name, meaning in WORDS.items()
    ]


def words_of_care() -> list[Json]:
    """Return what is said when somebody takes care."""
    schema = {"type": "string", "minLength": 1, "maxLength": TEXT_AT_MOST, "pattern": r"\S"}
    return [
        NAME,
        *(
            {"name": name, "in": "query", "required": True, "description": meaning,
             "schema": schema}
            for name, meaning in (("author", "Who takes care"), ("comment", "How, or why"))
        ),
        {"name": "silent", "in": "query", "schema": {"type": "string", "examples": ["2h", "0"]},
         "description": "For how long nobody is reminded, 30d at most (default: 7d)"},
    ]  # fmt: skip


def _fields(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_CAUSE: Final = _fields(
    **dict.fromkeys(WHO, _MAYBE_TEXT), share=_MAYBE_NUMBER, confidence=_MAYBE_NUMBER
)
_ADVICE: Final = _fields(user=_TEXT, admin=_TEXT, commands=_list(_TEXT), link=_TEXT)
_LISTS: Final = dict.fromkeys(("targets", "operations"), _list(_TEXT))
_NUMBERS: Final = dict.fromkeys(("baseline", "peak", "ratio"), _MAYBE_NUMBER)
_OWN: Final[Json] = {
    **dict.fromkeys(COLUMNS, _TEXT), **_LISTS, **_NUMBERS,
    "end": _MAYBE_TEXT, "causes": _list(_CAUSE), "advice": _ADVICE,
}  # fmt: skip
_CARE: Final = {
    **_fields(author=_TEXT, comment=_TEXT, time_us={"type": "integer"}), "type": ["object", "null"]
}  # fmt: skip
_INCIDENT: Final = _fields(**_OWN, evidence={"type": "object"}, acknowledged=_CARE)
SCHEMAS: Final[Json] = {
    "Incident": _INCIDENT,
    "Incidents": _fields(
        about={"type": "object"}, incidents=_list({"$ref": "#/components/schemas/Incident"})
    ),
    "Alerts": _fields(
        alerts=_list(_fields(**{name: {} for name in ALERT_COLUMNS})),
        waiting={"type": "integer"},
        trouble={"type": "object"},
    ),
}
