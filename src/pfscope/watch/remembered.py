"""Answers about the past, kept: what went on is asked for again and again, and was the same before.

Only for words that name their whole period, up to which everything was observed.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pfscope.query.data import Source
from pfscope.query.results import Result

_KEPT: Final = 1024


class Remembered:
    """A source of data that gives the same answer again without asking again."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._answers: OrderedDict[object, Result] = OrderedDict()

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the answer."""
        key = name, tuple(sorted((word, tuple(values)) for word, values in words.items()))
        answer = self._answers.pop(key, None)
        if answer is None:
            answer = self._source.ask(name, words)
        self._answers[key] = answer
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        return answer

    def incidents(self, words: Mapping[str, Sequence[str]]) -> Result:
        """Return what changed, who caused it and what to do."""
        return self._source.incidents(words)

    def incident(self, name: str) -> dict[str, Any]:
        """Return one of them with its evidence."""
        return self._source.incident(name)

    def close(self) -> None:
        """Let go of it."""
        self._source.close()
