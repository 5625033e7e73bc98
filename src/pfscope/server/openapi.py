"""The interface as OpenAPI 3.1: every route, parameter and answer; questions by their list."""

from typing import Any, Final

import pfscope
from pfscope.query.questions import QUESTIONS, Question
from pfscope.server import openapi_export, openapi_people, openapi_watch
from pfscope.server.export import PATH as EXPORT
from pfscope.server.incidents import ALERTS
from pfscope.server.incidents import PATH as INCIDENTS
from pfscope.server.judge import SERVER
from pfscope.server.openapi_query import PATH, SCHEMAS, answers, parameters, parameters_of_now
from pfscope.server.sign_in import ME, SIGN_IN, SIGN_OUT

Json = dict[str, Any]

_REASONS: Final = {
    400: "The request is malformed",
    401: "Nobody who is known asks: the token is missing, empty or unknown",
    403: "Who asks may not do this, or the request comes from another site",
    404: "There is nothing to answer from yet",
    405: "The route does not take this method",
    408: "The body arrived too slowly",
    413: "A limit was exceeded; nothing was taken",
    415: "The type or the encoding of the body is not known",
    429: "Too much is in flight; send it again after Retry-After seconds",
    500: "The server has a fault",
    503: "Not now; send it again after Retry-After seconds",
}
_QUESTION_ERRORS: Final = (400, 401, 403, 404, 405, 413, 429, 500, 503)
_BODY_ERRORS: Final = (400, 401, 403, 405, 408, 413, 415, 429, 500)


def document() -> Json:
    """Return the description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pfscope server",
            "version": pfscope.__version__,
            "description": "Receives what agents read on Lustre servers.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": openapi_people.SCHEMES,
        },
    }


def _paths() -> Json:
    return {
        "/": {"get": _reads("page", "What this is", "text/html", {"type": "string"})},
        "/health": {"get": _reads("health", "Whether the process lives", schema=_object("Health"))},
        "/ready": {
            "get": _reads("ready", "Whether frames are taken", schema=_object("Ready"), also=(503,))
        },
        "/metrics": {
            "get": _reads(
                "metrics", "Prometheus' text format", "text/plain", {"type": "string"}, guarded=True
            )
        },
        "/api/v1/openapi.json": {
            "get": _reads("openapi", "This description", schema={"type": "object"})
        },
        "/api/v1/ledger": {
            "get": _reads(
                "ledger",
                "What became of every frame",
                schema=_object("Ledger"),
                guarded=True,
                also=(503,),
            )
        },
        "/api/v1/frames": {"post": _frames()},
        "/api/v1/lctl": {"post": _lctl()},
        **_watch(),
        **_people(),
        EXPORT: {
            "get": _told(
                "export",
                "The files of an export",
                "ExportFiles",
                openapi_export.parameters(rows=False),
                (400, 503),
            )
        },
        f"{EXPORT}/rows": {"get": _export_rows()},
        "/api/v1/now": {"get": _now()},
        "/api/v1/live": {"get": _live()},
        PATH: {"get": _reads("questions", "What can be asked", schema=_object("Questions"))},
        **{f"{PATH}/{question.name}": {"get": _asks(question)} for question in QUESTIONS.values()},
    }


def _watch() -> Json:
    one, name = f"{INCIDENTS}/{{name}}", [openapi_watch.NAME]
    care = _told("acknowledge", "Say that somebody takes care", "Incident",
                 openapi_watch.words_of_care(), (400, 404))  # fmt: skip
    return {
        INCIDENTS: {"get": _told("incidents", "What changed, and who caused it", "Incidents",
                                 openapi_watch.wishes(), (400,))},
        one: {"get": _told("incident", "One incident", "Incident", name, (404,))},
        f"{one}/acknowledge": {"post": care | {"security": openapi_people.CHANGING}},
        ALERTS: {"get": _told("alerts", "Which alerts there are", "Alerts", [], (404,))},
    }  # fmt: skip


def _people() -> Json:
    begin = _done((400, 401, 403, 405, 408, 413, 415, 429, 500))
    end = _done((401, 403, 405, 500))
    return {
        ME: {"get": _reads("me", "Who asks, and in which role", schema=_object("Me"), guarded=True,
                           also=(503,))},
        SIGN_IN: {"post": openapi_people.sign_in() | {"responses": begin}},
        SIGN_OUT: {"post": openapi_people.sign_out() | {"responses": end}},
    }  # fmt: skip


def _done(errors: tuple[int, ...]) -> Json:
    """Describe answers without content."""
    answers = _answers({}, errors)
    del answers["200"]
    return answers | {"204": {"description": "It is done"}}


def _told(
    name: str, summary: str, schema: str, parameters: list[Json], also: tuple[int, ...]
) -> Json:
    """Describe what only readers are told."""
    read = _reads(name, summary, schema=_object(schema), guarded=True, also=also)
    return read | ({"parameters": parameters} if parameters else {})


def _asks(question: Question) -> Json:
    return {
        "operationId": f"query-{question.name}",
        "summary": f"{question.summary[0].upper()}{question.summary[1:]}",
        "description": f"Columns: {question.columns.replace('KEYS', 'the keys of `by`')}.",
        "security": openapi_people.SECURITY,
        "parameters": parameters(question),
        "responses": _answers(answers(_object("Answer")), _QUESTION_ERRORS),
    }


def _export_rows() -> Json:
    return {
        "operationId": "export-rows",
        "summary": "What stands in one file of an export, as an Arrow stream",
        "security": openapi_people.SECURITY,
        "parameters": openapi_export.parameters(rows=True),
        "responses": _answers(openapi_export.ROWS, _QUESTION_ERRORS),
    }


def _now() -> Json:
    answers = _answers(_json(_object("Now")), _QUESTION_ERRORS)
    answers["304"] = {"description": "It is what If-None-Match names"}
    return {
        "operationId": "now",
        "summary": "What everyone does, at the last observation or at a moment",
        "security": openapi_people.SECURITY,
        "parameters": parameters_of_now(live=False),
        "responses": answers,
    }


def _live() -> Json:
    content = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        "operationId": "live",
        "summary": "The same, pushed after every observation",
        "description": "Events named `now`, whose data is the answer of /api/v1/now.",
        "security": openapi_people.SECURITY,
        "parameters": parameters_of_now(live=True),
        "responses": _answers(content, _QUESTION_ERRORS),
    }


def _frames() -> Json:
    binary = {"schema": {"type": "string", "format": "binary", "minLength": 1}}
    return {
        "operationId": "frames",
        "summary": "Take encoded frames, one after another",
        "description": (
            "Each frame gets its own verdict; stored means durable. What is damaged is rejected "
            "with server and epoch empty and sequence -1, since its name cannot be told."
        ),
        "security": openapi_people.SENDING,
        "parameters": [_encoding()],
        "requestBody": {
            "required": True,
            "content": {"application/vnd.pfscope.frames": binary},
        },
        "responses": _answers(_json(_object("Verdicts")), _BODY_ERRORS),
    }


def _lctl() -> Json:
    text = {"schema": {"type": "string", "minLength": 1}}
    server = {
        "name": "server",
        "in": "query",
        "required": True,
        "description": "The server on which it was read",
        "schema": {"type": "string", "pattern": f"^{SERVER}$"},
    }
    when = {
        "name": "time",
        "in": "query",
        "description": "When: seconds since 1970, or ISO 8601; now where it is not given",
        "schema": {
            "anyOf": [
                {"type": "string", "pattern": "^[0-8][0-9]{0,8}$"},
                {"type": "string", "format": "date-time", "pattern": "^20[0-9]{2}-"},
            ]
        },
    }
    return {
        "operationId": "lctl",
        "summary": "Take the output of lctl get_param",
        "description": "The type of the body is not looked at: `curl --data-binary @-` will do.",
        "security": openapi_people.SENDING,
        "parameters": [server, when, _encoding()],
        "requestBody": {"required": True, "content": {"text/plain": text}},
        "responses": _answers(_json(_object("Verdicts")), (*_BODY_ERRORS, 503)),
    }


def _encoding() -> Json:
    return {
        "name": "Content-Encoding",
        "in": "header",
        "description": "How the body is compressed: identity, gzip or zstd",
        "schema": {"enum": ["identity", "gzip", "zstd"]},
    }


def _reads(
    name: str,
    summary: str,
    kind: str = "application/json",
    schema: Json | None = None,
    guarded: bool = False,
    also: tuple[int, ...] = (),
) -> Json:
    errors = (*((401, 403) if guarded else ()), 405, 500, *also)
    content = {kind: {"schema": schema}}
    operation = {"operationId": name, "summary": summary, "responses": _answers(content, errors)}
    return operation | ({"security": openapi_people.SECURITY} if guarded else {})


def _answers(content: Json, errors: tuple[int, ...]) -> Json:
    answers: Json = {"200": {"description": "As asked", "content": content}}
    for status in sorted(errors):
        answers[str(status)] = {
            "description": _REASONS[status],
            "content": _json(_object("Error")),
        }
        if status in (429, 503):
            seconds = {"description": "Seconds to wait", "schema": {"type": "integer"}}
            answers[str(status)]["headers"] = {"Retry-After": seconds}
    return answers


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _object(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas() -> Json:
    text, number = {"type": "string"}, {"type": "integer"}
    status = {"enum": ["stored", "duplicate", "rejected", "retry"]}
    frame = _fields(server=text, epoch=text, sequence=number, status=status, reason=text)
    line = _fields(
        stage=text, server=text, outcome=text, reason=text, frames=number, entries=number
    )
    return {
        "Error": _fields(error=_fields(code=text, message=text, hint=text)),
        "Verdicts": _fields(frames={"type": "array", "items": frame}),
        "Ledger": _fields(ledger={"type": "array", "items": line}),
        "Health": _fields(status={"const": "alive"}, version=text),
        "Ready": _fields(status={"const": "ready"}),
        **SCHEMAS,
        **openapi_people.SCHEMAS,
        **openapi_watch.SCHEMAS,
        **openapi_export.SCHEMAS,
    }


def _fields(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
