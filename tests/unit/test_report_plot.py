"""`Result.plot()` draws each kind of answer, and nothing that the answer does not say."""

from itertools import pairwise

import numpy as np
import pytest

from pfscope.errors import UsageError
from pfscope.query.results import Result
from pfscope.report import draw
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import MINUTE_US, at

STEP_US = 2 * MINUTE_US
STEPS = 10


@pytest.fixture(scope="module")
def data():
    ends = [at() + n * STEP_US for n in range(STEPS + 1)]
    rows = [used(0, a, b, 120) for a, b in pairwise(ends[:5])]
    rows += [used(0, ends[7], ends[8], 1200), used(1, ends[0], ends[1], 12_000)]
    with data_of(
        operations=named("open"),
        series=[one_series(0, user="1001"), one_series(1, user="<b>1002</b>")],
        usage_mdt=rows,
        frames=frames_at(*ends, server="mds1"),
        quality=[
            {"time": t, "target": "scratch-MDT0000", "class": c, "system": False, "entries": n + 1}
            for t in ends
            for n, c in enumerate(("sound", "malformed"))
        ],
    ) as opened:
        yield opened


def test_a_series_is_drawn_with_its_zeros(data):
    figure = data.series(by="user", operation="open").plot()
    line = next(trace for trace in figure.data if trace.name == "1001")
    assert line.line.shape == "vh"
    minutes = (np.asarray(line.x) - at() / 1e3) / 60_000
    assert minutes.tolist() == [0, 2, 4, 6, 8, 14, 16, 20]
    assert line.y.tolist() == [1, 1, 1, 1, 1, 0, 10, 0]


def test_a_name_is_drawn_as_text(data):
    figure = data.series(by="user", operation="open").plot()
    assert "&lt;b&gt;1002&lt;/b&gt;" in [trace.name for trace in figure.data]


def test_a_ranking_has_a_bar_for_each_with_its_share(data):
    figure = data.top(by="user", operation="open").plot()
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;1002&lt;/b&gt;", "1001")
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.data[0].x == (10.0, 1.4)
    assert figure.data[0].text[1] == "1.4/s, 12 %"


def test_a_density_is_a_map_with_logarithmic_colours(data):
    result = data.density(by="user", operation="open")
    cells = result.plot().data[0]
    assert cells.type == "heatmap"
    assert np.nansum(cells.customdata) == sum(row["count"] for row in result.to_pylist())
    seen = np.asarray(cells.customdata) > 0
    assert np.allclose(np.asarray(cells.z)[seen], np.log10(np.asarray(cells.customdata)[seen]))
    assert np.isnan(np.asarray(cells.z)[~seen]).all()


def test_members_of_a_bucket_are_lines(data):
    figure = data.density(by="user", operation="open", bucket=100).plot()
    assert [trace.name for trace in figure.data] == ["&lt;b&gt;1002&lt;/b&gt;"]


def test_the_other_answers_have_figures_too(data):
    assert len(data.ask("quality").plot().data) == 2
    causes = data.ask("causes", by="user", operation="open", start="2022-10-27T00:12")
    assert causes.plot().data[0].type == "bar"
    counted = data.ask("counters", operation="open", by="user").plot().data
    assert {trace.line.shape for trace in counted} == {"linear"}
    assert data.ask("balance", operation="open").plot().data[0].text == ("1.00 times the mean",)


def test_many_lines_become_few_and_the_rest():
    ends = [at(), at() + STEP_US]
    with data_of(
        operations=named("open"),
        series=[one_series(n, user=str(n)) for n in range(40)],
        usage_mdt=[used(n, *ends, 120 * (n + 1)) for n in range(40)],
        frames=frames_at(*ends, server="mds1"),
    ) as data:
        figure = data.series(by="user", operation="open").plot()
    assert len(figure.data) == 13
    assert figure.data[-1].name == draw.label(draw.OTHERS)
    assert sum(trace.y[-1] for trace in figure.data) == sum(range(1, 41))


def test_an_answer_without_rows_is_an_empty_figure(data):
    for name in ("series", "top", "density"):
        figure = data.ask(name, by="user", operation="open", user="nobody").plot()
        assert not [trace for trace in figure.data if trace.x is not None and len(trace.x)]


def test_what_has_no_figure_says_so(data):
    table = data.top(by="user", operation="open").table.select(["user"])
    with pytest.raises(UsageError, match="no figure for riddle"):
        Result("riddle", table, {}).plot()
