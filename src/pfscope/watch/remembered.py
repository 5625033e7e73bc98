"""Answers that are kept: one look at what goes on asks much of the same again and again.

A `Remembered` source is for words that name their whole period, up to which everything was
observed; a `RememberedEngine` is for a short while, in which nothing new counts.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import ibis.expr.types as ir
import pyarrow as pa

from pfscope.query.data import Source
from pfscope.query.engine import Engine
from pfscope.query.prepared import Build
from pfscope.query.results import Result
from pfscope.query.window import EvenSteps

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


class RememberedEngine:
    """An engine that answers what it was asked since `forget` without asking again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._answers: dict[Hashable, pa.Table] = {}

    def forget(self) -> None:
        """Take note that there is something new."""
        self._answers.clear()

    def run(self, question: ir.Table) -> pa.Table:
        """Return the rows."""
        return self._engine.run(question)

    def run_prepared(
        self, key: Hashable, build: Build, steps: EvenSteps, horizon_us: int | None
    ) -> pa.Table:
        """Return the rows, known ones without asking."""
        asked = key, steps, horizon_us
        if asked not in self._answers:
            self._answers[asked] = self._engine.run_prepared(key, build, steps, horizon_us)
        return self._answers[asked]
