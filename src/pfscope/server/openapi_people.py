"""What OpenAPI is told of signing in, and of who one is."""

from typing import Any, Final

from pfscope.privacy.people import Role
from pfscope.server.reception import COOKIE, MARK

Json = dict[str, Any]
_TEXT: Final = {"type": ["string", "null"]}
_ME: Final[Json] = {
    "role": {"enum": [role.value for role in Role]},
    "name": _TEXT,
    "user": _TEXT,
    "csrf": _TEXT,
    "session": {"type": "boolean"},
    "plain": {"type": "boolean"},
}
SCHEMAS: Final[Json] = {
    "Me": {
        "type": "object", "properties": _ME, "required": list(_ME), "additionalProperties": False
    },
}  # fmt: skip
SCHEMES: Final[Json] = {
    "token": {"type": "http", "scheme": "bearer"},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
    "csrf": {"type": "apiKey", "in": "header", "name": MARK},
}
SECURITY: Final[list[Json]] = [{"token": []}, {"session": []}, {}]
"""By token, by cookie, or not at all where the server lets everybody in."""
SENDING: Final[list[Json]] = [{"token": []}, {}]
"""Machines have no sessions."""
CHANGING: Final[list[Json]] = [{"token": []}, {"session": [], "csrf": []}, {}]
"""The same where something is changed: a cookie alone is not enough."""


def sign_in() -> Json:
    """Return the description of `POST /sign-in`, without its answers."""
    token = {"type": "string", "minLength": 1, "maxLength": 4096}
    body = {"type": "object", "properties": {"token": token}, "required": ["token"]}
    return {
        "operationId": "sign-in",
        "summary": "Begin a session with a token",
        "description": "The answer sets a cookie that no script can read.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
    }


def sign_out() -> Json:
    """Return the description of `POST /sign-out`, without its answers."""
    return {
        "operationId": "sign-out",
        "summary": "End the session",
        "security": CHANGING,
    }
