"""The one shape in which the server says no: `{"error": {"code", "message", "hint"}}`.

A `Refusal` is raised wherever the reason is known and becomes the answer to the whole request.
"""

from typing import Any

RETRY_AFTER_S = 5


class Refusal(Exception):  # noqa: N818 - a normal answer to a request, nothing that went wrong here
    """A request that is not served, and what its sender can do about it."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        hint: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.headers = headers or {}

    @property
    def content(self) -> dict[str, Any]:
        """The answer's body."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


def come_later(code: str, message: str, status: int = 429) -> Refusal:
    """Return the refusal of what would be welcome at another time."""
    hint = "keep it and send it again after the seconds in Retry-After"
    return Refusal(status, code, message, hint, {"Retry-After": str(RETRY_AFTER_S)})


def too_large(code: str, message: str, limit: str) -> Refusal:
    """Return the refusal of what exceeds a limit that the operator can raise."""
    return Refusal(413, code, message, f"send less at a time, or raise --limit {limit}=…")
