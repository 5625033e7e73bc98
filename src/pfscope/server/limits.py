"""Every limit of the server, in one place and on by default; `--limit NAME=VALUE` changes one."""

import difflib
import re
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pfscope.errors import UsageError

_NUMBER = re.compile(r"([0-9]{1,15})([KMGT]?)")


def _limit(default: int, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, all requests together and the journal may take."""

    body_bytes: int = _limit(64 << 20, "a body as it travels")
    raw_bytes: int = _limit(256 << 20, "a body with its encoding undone, or a frame's texts")
    ratio: int = _limit(500, "how many times larger either may become by being undone")
    frames: int = _limit(1024, "frames and damaged stretches in one request")
    requests: int = _limit(64, "requests with a body in flight; others are told to come later")
    held_bytes: int = _limit(512 << 20, "all bodies in memory at one time")
    body_s: int = _limit(60, "seconds that a body may take to arrive")
    head_s: int = _limit(10, "seconds that a request's head may take to arrive")
    head_bytes: int = _limit(16 << 10, "a request's head")
    connections: int = _limit(2048, "open connections")
    servers: int = _limit(4096, "names of servers that are counted apart; others are rejected")
    journal_bytes: int = _limit(16 << 30, "the journal; beyond it frames are told to come later")
    free_bytes: int = _limit(256 << 20, "free disk space that frames never take")
    new_series: int = _limit(100_000, "new series an hour of one target; beyond it they share one")
    entries_per_target: int = _limit(
        250_000, "series of one target in memory; beyond it new ones share one"
    )
    reorder_s: int = _limit(30, "seconds that a frame waits for older ones of its server")
    questions: int = _limit(4, "questions that are answered at one time; others wait")
    question_s: int = _limit(60, "seconds that a question may wait and take")
    watchers: int = _limit(1000, "people who watch what happens now; others are told to come later")
    answer_rows: int = _limit(1_000_000, "rows of an answer")
    backlog: int = _limit(10_000, "frames waiting for the ingest before /ready says no")


def with_limits(texts: list[str], limits: Limits | None = None) -> Limits:
    """Return the limits with some changed, each given as `NAME=VALUE`; sizes may end in K, M, G, T.

    >>> with_limits(["body_bytes=1M"]).body_bytes
    1048576
    """
    limits = limits or Limits()
    for text in texts:
        name, _equals, value = text.partition("=")
        match = _NUMBER.fullmatch(value)
        known = [f.name for f in fields(Limits)]
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise UsageError(f"--limit {text}: unknown; {hint}")
        if not match or not int(match[1]):
            raise UsageError(f"--limit {text}: should be {name}=NUMBER, 1 or more, such as 64M")
        changed: dict[str, int] = {name: int(match[1]) << (10 * " KMGT".index(match[2] or " "))}
        limits = replace(limits, **changed)
    return limits


def describe_limits() -> str:
    """Return one line for each limit: name, default, meaning."""
    return "\n".join(
        f"  {f.name:18} {f.default:>12}  {f.metadata['meaning']}" for f in fields(Limits)
    )
