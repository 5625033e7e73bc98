"""Answers questions from a store that is at hand."""

from collections.abc import Callable, Mapping, Sequence

import ibis.expr.types as ir

from pfscope.query.asked import Asked, Site, told
from pfscope.query.catalog import Catalog
from pfscope.query.empty import why_empty
from pfscope.query.engine import Engine
from pfscope.query.questions import find_question
from pfscope.query.rates import rates_of
from pfscope.query.request import Form
from pfscope.query.results import Result


class LocalSource:
    """A store's engine, and what the site says about questions."""

    explains = True
    """Whether an answer without rows says why there are none, which takes several questions."""

    def __init__(self, engine: Engine, site: Site, close: Callable[[], None]) -> None:
        self.engine = engine
        self.site = site
        self._close = close

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the answer to a question put in words."""
        question = find_question(name)
        asked = self._asked(name, question.form, words)
        rows = question.answer(asked)
        if self.explains and not rows.num_rows and "empty" not in asked.notes:
            asked.notes["empty"] = why_empty(asked)
        return Result(name, rows, told(asked))

    def rates(self, words: Mapping[str, Sequence[str]]) -> ir.Table:
        """Return rates as an expression."""
        asked = self._asked("series", find_question("series").form, words)
        return rates_of(asked, asked.steps, asked.horizon_us)

    def run(self, expression: ir.Table) -> Result:
        """Return the rows of an expression."""
        return Result("rows", self.engine.run(expression), {})

    def _asked(self, name: str, form: Form, words: Mapping[str, Sequence[str]]) -> Asked:
        catalog = Catalog.read(self.engine)
        return Asked(name, form.request(words), self.engine, catalog, self.site)

    def close(self) -> None:
        """Let go of the store."""
        self._close()
