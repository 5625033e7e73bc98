"""Prepared SQL is what compiling anew would give, for every question that uses it."""

import pytest

from pfscope.query.prepared import Prepared
from pfscope.query.window import EvenSteps, Window
from tests.support.query_tables import data_of, frames_at, named, one_series, used

HOUR = 3600 * 10**6


class Compiling:
    """Checks every prepared text against the expression compiled for its very times."""

    def __init__(self, engine):
        self._engine = engine
        self.checked = set()

    def run(self, question):
        return self._engine.run(question)

    def run_prepared(self, key, build, steps, horizon_us):
        direct = Prepared("duckdb").compiled(build(steps, horizon_us))
        prepared = Prepared("duckdb").sql(key, build, steps, horizon_us)
        assert prepared == direct
        self.checked.add(key if isinstance(key, str) else key[0])
        return self._engine.run_prepared(key, build, steps, horizon_us)


@pytest.mark.parametrize("end", [None, "1970-01-01T03:00:00"])
def test_questions_differ_in_their_times_alone(end):
    opened = data_of(
        operations=named("open"), series=[one_series(0, user="1000")],
        usage_mdt=[used(0, n * HOUR, (n + 1) * HOUR, 60) for n in range(5)],
        frames=frames_at(*(n * HOUR for n in range(6))),
        quality=[{"time": 5 * HOUR, "target": "scratch-MDT0000", "server": "mds1"}],
    )  # fmt: skip
    with opened:
        engine = opened._source.engine = Compiling(opened._source.engine)
        for name in ("totals", "top", "density", "series"):
            opened.ask(
                name, by=("server", "user"), start="1970-01-01T01:00:00", end=end, step="90m"
            )
    assert engine.checked >= {"totals", "top", "density", "series"}


def test_a_question_is_compiled_once_for_all_times():
    made = []

    def build(steps, _horizon):
        made.append(steps)
        from pfscope.query.tables import moment, table

        return table("frames").filter(table("frames").time > moment(steps.window.start_us))

    prepared = Prepared("duckdb")
    texts = [
        prepared.sql("q", build, EvenSteps.over(Window(n * HOUR, (n + 1) * HOUR), 10**6), None)
        for n in range(3)
    ]
    assert len(made) == 1
    assert [f"0{n}:00:00.000000+00:00" in text for n, text in enumerate(texts)] == [True] * 3
