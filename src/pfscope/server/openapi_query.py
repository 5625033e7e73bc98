"""What OpenAPI is told of questions, made from their list: the parameters and the answers."""

from collections.abc import Sequence
from typing import Any, Final

from pfscope.now.wish import FORM
from pfscope.query.keys import KEYS
from pfscope.query.questions import Question
from pfscope.query.request import Option
from pfscope.query.written import FORMATS

Json = dict[str, Any]
PATH: Final = "/api/v1/query"
_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": {"type": "string", "minLength": 1}}
_YES_NO: Final = {"enum": ["yes", "no"]}
TIME: Final = {"anyOf": [
    {"type": "string", "pattern": "^(now|-[1-9][0-9]{0,3}[smhdw])$"},
    {"type": "string", "format": "date-time", "pattern": "^20[0-9]{2}-"},
]}  # fmt: skip
_DURATION: Final = {"type": "string", "pattern": "^(observed|[1-9][0-9]{0,5}(ms|[smhdw])?)$"}
_KINDS: Final[dict[type, Json]] = {
    bool: _YES_NO,
    int: {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    float: {"type": "number"},
    str: _TEXT,
}


def parameters(question: Question) -> list[Json]:
    """Return what a question takes."""
    return [
        _parameter("from", TIME, "From when: ISO 8601 in UTC, or before the newest observation"),
        _parameter("to", TIME, "Until when"),
        _parameter("step", _DURATION, "How long a step is; `observed`: as servers were observed"),
        _by(KEYS, question.form.by),
        _parameter("operation", {"type": "string", "minLength": 1}, "An operation or a metric"),
        _parameter("system", _YES_NO, "Only system users, or only others"),
        _parameter("login", _YES_NO, "Only login nodes, or only others"),
        *(_parameter(option.name, _option(option), option.help)
          for option in question.form.options),
        *_FILTERS,
        _parameter("format", {"enum": list(FORMATS)}, "Instead of the Accept header"),
    ]  # fmt: skip


def parameters_of_now(*, live: bool) -> list[Json]:
    """Return what `now` takes, or `live`."""
    kinds: Json = {"at": TIME, "over": {"type": "string", "pattern": "^[1-9][0-9]{0,1}s$"}}
    keys = tuple(key for key in KEYS if key != "operation")
    return [
        _by(keys, FORM.by),
        _parameter("system", _YES_NO, "Only system users, or only others"),
        *(_parameter(option.name, kinds.get(option.name) or _option(option), option.help)
          for option in FORM.options if not (live and option.name == "at")),
        *_FILTERS,
    ]  # fmt: skip


def _by(keys: Sequence[str], usual: Sequence[str]) -> Json:
    schema = {"type": "array", "items": {"enum": list(keys)}, "uniqueItems": True}
    return _parameter("by", schema, f"What to group by; {', '.join(usual) or 'nothing'} otherwise")


def answers(answer: Json) -> Json:
    """Return the content of an answer, by media type."""
    content: Json = {media: {"schema": _TEXT | {"format": "binary"}}
                     for media, _write in FORMATS.values()}  # fmt: skip
    content["text/csv; charset=utf-8"] = {"schema": _TEXT}
    return content | {"application/json": {"schema": answer}}


def _parameter(name: str, schema: Json, description: str) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _option(option: Option) -> Json:
    if option.choices:
        return {"enum": list(option.choices)}
    default = {True: "yes", False: "no"}.get(option.default, option.default)
    return _KINDS[option.kind] | ({} if default is None else {"default": default})


def _fields(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_FILTERS: Final = tuple(
    _parameter(key, _TEXTS, f"Only this {key}: a glob, a range LOW..HIGH, or not with !")
    for key in KEYS
    if key != "operation"
)
_OPTION: Final = _fields(
    name=_TEXT, kind=_TEXT, default={}, choices=_list(_TEXT), help=_TEXT
)  # fmt: skip
_QUESTION: Final = _fields(
    name=_TEXT, summary=_TEXT, columns=_TEXT, by=_list(_TEXT), options=_list(_OPTION), example=_TEXT
)
SCHEMAS: Final[Json] = {
    "Questions": _fields(questions=_list(_QUESTION), keys=_list(_TEXT)),
    "Now": _fields(
        about={"type": "object"},
        servers=_list({"type": "object"}),
        targets=_list({"type": "object"}),
        columns=_list(_TEXT),
        units={"type": "object"},
        rows=_list(_list({})),
        all_rows={"type": "integer"},
        sums=_list({}),
    ),
    "Answer": _fields(about={"type": "object"}, columns=_list(_TEXT), rows=_list(_list({}))),
}
