"""Answers questions from a store that is at hand."""

from collections.abc import Callable, Mapping, Sequence

from pfscope.query.asked import Asked, Site, told
from pfscope.query.catalog import Catalog
from pfscope.query.empty import why_empty
from pfscope.query.engine import Engine
from pfscope.query.questions import find_question
from pfscope.query.results import Result


class LocalSource:
    """A store's engine, and what the site says about questions."""

    def __init__(self, engine: Engine, site: Site, close: Callable[[], None]) -> None:
        self.engine = engine
        self.site = site
        self._close = close

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the answer to a question put in words."""
        question = find_question(name)
        request = question.form.request(words)
        asked = Asked(name, request, self.engine, Catalog.read(self.engine), self.site)
        rows = question.answer(asked)
        if not rows.num_rows and "empty" not in asked.notes:
            asked.notes["empty"] = why_empty(asked)
        return Result(name, rows, told(asked))

    def close(self) -> None:
        """Let go of the store."""
        self._close()
