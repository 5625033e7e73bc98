"""Which texts fit patterns: the same globs, ranges and `!` that questions to a store take."""

import re
from collections.abc import Sequence

from pfscope.query.keys import NUMBER, WILD, regex


def fits(value: str | None, patterns: Sequence[str]) -> bool:
    """Tell whether any pattern fits, and none that begins with `!`.

    >>> fits("r01c07", ["r01*", "!r01c01"]), fits("r01c01", ["r01*", "!r01c01"])
    (True, False)
    >>> fits("1500", ["1000..1999"]), fits(None, ["!a"]), fits(None, ["*"])
    (True, True, False)
    """
    wanted = [p for p in patterns if not p.startswith("!")]
    unwanted = [p[1:] for p in patterns if p.startswith("!")]
    if value is None:
        return not wanted
    return (not wanted or any(_fits(value, p) for p in wanted)) and not any(
        _fits(value, p) for p in unwanted
    )


def _fits(value: str, pattern: str) -> bool:
    low, between, high = pattern.partition("..")
    if between and low and high:
        if NUMBER.fullmatch(low) and NUMBER.fullmatch(high):
            return bool(NUMBER.fullmatch(value)) and int(low) <= int(value) <= int(high)
        return low <= value <= high
    if not WILD.search(pattern):
        return value == pattern
    return re.search(regex(pattern), value) is not None
