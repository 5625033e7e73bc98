"""Answers questions from a store that is at hand."""

from collections.abc import Callable, Mapping, Sequence

from pfscope.errors import UsageError
from pfscope.query.asked import Asked, Site, told
from pfscope.query.catalog import Catalog
from pfscope.query.engine import Engine
from pfscope.query.questions import QUESTIONS
from pfscope.query.results import Result


class LocalSource:
    """A store's engine, and what the site says about questions."""

    def __init__(self, engine: Engine, site: Site, close: Callable[[], None]) -> None:
        self.engine = engine
        self.site = site
        self._close = close

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the answer to a question put in words."""
        if name not in QUESTIONS:
            raise UsageError(f"there is no question {name!r}; there are {', '.join(QUESTIONS)}")
        question = QUESTIONS[name]
        request = question.form.request(words)
        asked = Asked(name, request, self.engine, Catalog.read(self.engine), self.site)
        return Result(name, question.answer(asked), told(asked))

    def close(self) -> None:
        """Let go of the store."""
        self._close()
