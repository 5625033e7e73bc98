"""To take care of an incident: noted in the book, and its alerts are silenced, usually for a week.

Whoever heard of the incident still hears of its end.
"""

import time
from pathlib import Path
from typing import Final

from pfscope.watch.alerts.listing import FOLDER
from pfscope.watch.alerts.rules import HOUR_US
from pfscope.watch.alerts.silences import SilenceFile
from pfscope.watch.book import Book, Record

SILENT_US: Final = 7 * 24 * HOUR_US


def acknowledge(
    directory: Path,
    book: Book,
    name: str,
    author: str,
    comment: str,
    silent_us: int = SILENT_US,
) -> Record | None:
    """Note who takes care of an incident; None: there is no such incident."""
    now_us = time.time_ns() // 1000
    record = book.acknowledge(name, author, comment, now_us)
    if record is not None and silent_us:
        SilenceFile(directory / FOLDER).add(
            {"incident": (name,)}, author=author, comment=comment,
            start_us=now_us, end_us=now_us + silent_us,
        )  # fmt: skip
    return record
