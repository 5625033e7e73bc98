"""A page is whole by itself and runs its own scripts alone, whatever names are in its data."""

import json
import re
from itertools import pairwise

import pytest

import pfscope
from pfscope.errors import InputError
from pfscope.report.asking import Asking
from pfscope.report.day import report
from pfscope.report.digest import days
from pfscope.report.figures import figures
from pfscope.report.gallery import write_gallery
from pfscope.report.page import digest
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.report_store import HOSTILE, HOURS, Seen, hostile_store, scripts_of
from tests.support.store_rows import at


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    with pfscope.open(hostile_store(tmp_path_factory.mktemp("store"), days=(0, 1))) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(data):
    return report(data, "day", "2022-10-28", {})


@pytest.fixture(scope="module")
def seen(page):
    return Seen(page)


def test_the_day_that_is_told_is_the_last_that_is_over(data, seen):
    assert days(data, None, 1, {}) == (at(), at(1))
    assert days(data, "2022-10-28", 1, {}) == (at(1), at(2))
    assert days(data, "2022-10-28", 7, {}) == (at(-5), at(2))
    assert any("Friday 2022-10-28" in text for text in seen.text)


def test_only_its_own_scripts_may_run(page, seen):
    policy = next(m["content"] for m in seen.all("meta") if "http-equiv" in m)
    allowed = re.findall(r"'sha256-[^']+'", policy)
    scripts = scripts_of(page)
    assert len(scripts) == len(allowed) == 2
    assert {digest(script) for script in scripts} == set(allowed)
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert "unsafe-eval" not in policy


def test_nothing_is_fetched(seen):
    for tag, attributes in seen.tags:
        for name in ("src", "href", "action", "srcset", "data"):
            assert name not in attributes or attributes[name].startswith("#"), (tag, attributes)


def test_hostile_names_are_text_and_nothing_else(seen):
    told = "".join(seen.text)
    for name in HOSTILE:
        assert name in told
    assert {tag for tag, _ in seen.tags} <= {
        "a", "b", "body", "caption", "dd", "details", "div", "dl", "dt", "figcaption", "figure",
        "footer", "h1", "h2", "h3", "head", "header", "html", "li", "main", "meta", "nav", "p",
        "rect", "script", "section", "span", "style", "summary", "svg", "table", "tbody", "td",
        "th", "thead", "title", "tr", "ul",
    }  # fmt: skip
    assert not [a for _, attributes in seen.tags for a in attributes if a.startswith("on")]


def test_figures_have_names_that_plotly_takes_for_text(seen):
    drawn = [json.loads(text) for name, text in seen.data.items() if name.startswith("figure-")]
    names = {trace.get("name") for figure in drawn for trace in figure["data"]}
    assert len(names) > 5
    assert not [name for name in names if name and ("<" in name or "%{" in name or "$" in name)]


def test_every_figure_and_table_is_told_in_words(seen):
    drawings = [a for tag, a in seen.tags if "data-figure" in a]
    assert len(drawings) >= 5
    assert all(len(a["aria-label"]) > 30 and a["role"] == "img" for a in drawings)
    assert {a["data-figure"] for a in drawings} <= seen.ids
    assert len(seen.all("caption")) == len(seen.all("table")) > 5
    assert seen.all("html") == [{"lang": "en"}]


def test_links_lead_somewhere(seen):
    assert {a["href"].removeprefix("#") for a in seen.all("a")} <= seen.ids


def test_it_tells_what_happened(seen):
    told = " ".join("".join(seen.text).split())
    assert "06:00–07:00 open on scratch-MDT0000 rose to 108/s" in told
    assert f"mostly by user {HOSTILE[0]}" in told
    assert "Nothing was read of scratch-OST0000 for 60 min" in told
    assert "3 × the day before" in told


def test_a_day_without_a_past_says_so(data):
    told = "".join(Seen(report(data, "day", "2022-10-27", {})).text)
    assert "There is no data of the day before" in told


def test_a_week_is_told_as_one(data):
    told = "".join(Seen(report(data, "week", "2022-10-28", {})).text)
    assert "2022-10-22 to 2022-10-28" in told
    assert "There is no data of the week before" in told


def test_a_day_without_data_is_refused(data):
    with pytest.raises(InputError, match="nothing was observed on 2022-11-05"):
        report(data, "day", "2022-11-05", {})


def test_a_gallery_has_a_page_for_each_figure(data, tmp_path):
    made = write_gallery(tmp_path, figures(asking := Asking(data)), asking)
    names = [drawing.name for drawing in made]
    assert names == [
        "03-mdt-entries-by-class", "04-ost-entries-by-class", "05-job-1-write", "06-job-2-write",
        "07-job-3-write", "08-mdt-open", "15-ost-read-write", "16-ost-read_bytes-write_bytes",
        "20-change-open",
    ]  # fmt: skip
    index = Seen((tmp_path / "index.html").read_text())
    assert {a["href"] for a in index.all("a")} == {"#content", *(f"{n}.html" for n in names)}
    assert not index.all("script")
    for name in names:
        one = Seen((tmp_path / f"{name}.html").read_text())
        assert [a.get("src") for a in one.all("script") if "src" in a] == ["plotly.min.js"]
        assert len(one.all("table")) == 1
    assert (tmp_path / "plotly.min.js").stat().st_size > 10**6


def test_a_period_without_usage_has_no_figures(data):
    asking = Asking(data, "2023-01-01", "2023-01-02")
    with pytest.raises(InputError, match="nothing was done from 2023-01-01"):
        list(figures(asking))


def test_the_change_of_the_storm_is_drawn_with_its_numbers(data):
    found = list(figures(Asking(data, "2022-10-27", f"2022-10-27T{HOURS:02}:00")))
    change = next(drawing for drawing in found if drawing.name == "20-change-open")
    assert "From 06:00 to 07:00 it was up to 108/s, 12 × the usual 8.94/s." in change.caption
    assert "eight between 1/s and" not in change.caption
    assert f"({HOSTILE[0]}, at 06:10)" in change.caption


def test_a_site_that_has_osts_alone_is_told_too():
    ends = [at(minute=minute) for minute in range(0, 40, 10)]
    with data_of(
        operations=named(("write_bytes", "bytes")),
        series=[one_series(0, "scratch-OST0000")],
        usage_ost=[used(0, a, b, 6, total=10**9) for a, b in pairwise(ends)],
        frames=frames_at(*ends),
    ) as data:
        told = "".join(Seen(report(data, "day", None, {})).text)
        assert "Ids that tell no user had 100 % of all that was written" in told
        assert "There is nothing on the quality of this data." in told
        assert [d.name for d in figures(Asking(data))] == ["15-ost-write", "16-ost-write_bytes"]
