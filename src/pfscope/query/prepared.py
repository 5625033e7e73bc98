"""SQL of questions, compiled once for all periods: only the times in it differ.

Compiling takes longer than many answers. A question is compiled with times that occur nowhere else,
and wherever these stand in the text the times of the day are written.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

import ibis
import ibis.expr.types as ir

from pfscope.query.tables import iso_text
from pfscope.query.window import EvenSteps, Steps, Window

_KEPT: Final = 256
_ORIGIN, _START, _END, _HORIZON = (4_000_000_000_123_451 + 1_000_117_000_013 * i for i in range(4))

Build = Callable[[Steps, int | None], ir.Table]
"""Makes the expression of a question for some steps and a horizon."""


class Prepared:
    """Remembers what questions look like in one dialect of SQL."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._texts: OrderedDict[Hashable, str] = OrderedDict()

    def sql(self, key: Hashable, build: Build, steps: EvenSteps, horizon_us: int | None) -> str:
        """Return the text of a question; questions of one key differ in their times alone."""
        key = key, steps.step_us, horizon_us is None
        text = self._texts.pop(key, None)
        if text is None:
            stand_in = EvenSteps(Window(_START, _END), steps.step_us, _ORIGIN)
            question = build(stand_in, None if horizon_us is None else _HORIZON)
            text = self.compiled(question)
        self._texts[key] = text
        if len(self._texts) > _KEPT:
            self._texts.popitem(last=False)
        window = steps.window
        times = {_ORIGIN: steps.origin_us, _START: window.start_us, _END: window.end_us}
        if horizon_us is not None:
            times[_HORIZON] = horizon_us
        for written, meant in times.items():
            text = text.replace(iso_text(written), iso_text(meant))
            text = text.replace(str(written), str(meant))
        return text

    def compiled(self, question: ir.Table) -> str:
        """Return the text of a question as it is."""
        return str(ibis.to_sql(question, dialect=self._dialect))
