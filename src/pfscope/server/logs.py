"""The server's log: standard error, one line for each event, printable ASCII whatever was said."""

import logging
import re
import sys

_UNPRINTABLE = re.compile(r"[^ -~]")
_BEGIN, _END = 1000, 3000
"""What is kept of a long line: a traceback says most at its end."""


class OneLine(logging.Formatter):
    """Puts an event, its traceback included, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        text = super().format(record).replace("\n", " | ")
        text = _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
        return text if len(text) <= _BEGIN + _END else f"{text[:_BEGIN]} ... {text[-_END:]}"


def configure_logs() -> None:
    """Send our events and uvicorn's errors to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine("pfscope: %(levelname)s: %(message)s"))
    for name, level in (("pfscope.server", logging.INFO), ("uvicorn", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
