"""Questions as an audience may ask them: put to a store in which foreign names are pseudonyms.

They are the pseudonyms of the UTC day on which the period that is asked for ends: who asks the same
tomorrow gets the same names, and a link with its times goes on to lead where it led.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa

from pfscope.privacy.audience import Audience
from pfscope.privacy.masked import MASKED_LOGIN, Masked, Within
from pfscope.privacy.pseudonyms import DayKey, Pseudonyms
from pfscope.query.asked import Asked, Site
from pfscope.query.engine import Queryable, StoreEngine
from pfscope.query.local import LocalSource
from pfscope.query.prepared import Build
from pfscope.query.request import Form
from pfscope.query.window import EvenSteps, Window

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class SeenBy(LocalSource):
    """Answers what an audience asks."""

    def __init__(
        self,
        engine: StoreEngine,
        store: Queryable,
        site: Site,
        audience: Audience,
        pseudonyms: Pseudonyms,
    ) -> None:
        shown = Site(site.metrics, (*site.login_nodes, MASKED_LOGIN))
        super().__init__(engine, shown, lambda: None)
        self._shared, self._store = engine, store
        self._login_nodes = site.login_nodes
        self._audience, self._pseudonyms = audience, pseudonyms

    def _asked(self, name: str, form: Form, words: Mapping[str, Sequence[str]]) -> Asked:
        asked = super()._asked(name, form, words)
        key = self._pseudonyms.of(asked.window.end_us)
        del asked.window  # a question may settle on another beginning
        asked.engine = _SeenEngine(
            self._shared, self._store, self._audience, key, self._login_nodes
        )
        return asked


class _SeenEngine(StoreEngine):
    """An engine that sees a store as an audience may."""

    def __init__(
        self,
        engine: StoreEngine,
        store: Queryable,
        audience: Audience,
        key: DayKey,
        login_nodes: Sequence[str],
    ) -> None:
        super().__init__(Masked(store, audience, key, login_nodes), prepared=engine.prepared)
        self._of = store, audience, key, login_nodes

    def run_prepared(
        self, key: object, build: Build, steps: EvenSteps, horizon_us: int | None
    ) -> pa.Table:
        """Return the rows; of all series, only those matter that did something in these steps."""
        masked = Masked(*self._of, within=_during(steps.window))
        during = StoreEngine(masked, prepared=self.prepared)
        return during.run_prepared(key, build, steps, horizon_us)


def _during(window: Window) -> Within:
    """Return which series have usage that reaches into a window."""
    reaching = "SELECT series FROM {} WHERE time > ? AND begin <= ?"
    both = " UNION ALL ".join(reaching.format(name) for name in ("usage_mdt", "usage_ost"))
    span = [_EPOCH + timedelta(microseconds=us) for us in (window.start_us, window.end_us)]
    return f"series IN ({both})", [*span, *span]
