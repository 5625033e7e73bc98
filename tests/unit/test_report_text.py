"""Hostile text stays text on its way into pages and figures; numbers are written for people."""

import doctest
import json
from html.parser import HTMLParser

import pytest

from pfscope import untrusted
from pfscope.report import figure_changes, figure_jobs, markup, numbers
from pfscope.report.asking import Asking
from pfscope.report.draw import label
from pfscope.report.markup import Markup, element, table
from pfscope.untrusted import file_name, plotly_text, script_data
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.report_store import HOSTILE
from tests.support.store_rows import at


class Text(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("module", [untrusted, numbers, markup, figure_changes, figure_jobs])
def test_the_examples_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_an_element_holds_hostile_text_as_text(name):
    seen = Text(element("p", name, title=name))
    assert seen.tags == ["p"]
    assert seen.attributes == [("title", name)]
    assert seen.text == name


@pytest.mark.parametrize("name", HOSTILE)
def test_a_table_holds_hostile_text_as_text(name):
    seen = Text(table(name, [name], [[name]], numeric=()))
    assert set(seen.tags) == {"div", "table", "caption", "thead", "tr", "th", "tbody"}
    assert seen.text == name * 3


def test_elements_are_not_escaped_again_and_nothing_is_left_out_as_empty():
    assert element("b", element("i", "<"), None, ["&", Markup("<br>")]) == (
        "<b><i>&lt;</i>&amp;<br></b>"
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_a_label_has_no_tag_no_template_and_no_tex(name):
    shown = label((name, None))
    assert "<" not in shown
    assert "%{" not in shown
    assert "$" not in shown
    assert shown.endswith("(not told)")


def test_labels_of_different_names_differ():
    assert len({plotly_text(name) for name in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize("name", [*HOSTILE, "<!--", "]]>"])
def test_data_cannot_end_its_script(name):
    written = script_data(json.dumps([name]))
    assert "<" not in written
    assert json.loads(written) == [name]


@pytest.mark.parametrize("name", [*HOSTILE, "../../etc/passwd", "a" * 300, ".hidden", ""])
def test_a_file_has_a_harmless_name(name):
    found = file_name(f"08-{name}")
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert 3 <= len(found) <= 100


@pytest.mark.parametrize("job", ["a*b", "!x", "1..5", "[ab]", "?", "plain"])
def test_a_job_is_drawn_alone_whatever_it_is_called(job):
    jobs = [job, "axb", "yx", "3", "1xx5", "a", "plain2"]
    with data_of(
        operations=named(("write_bytes", "bytes")),
        series=[one_series(n, "scratch-OST0000", job=name) for n, name in enumerate(jobs)],
        usage_ost=[used(n, at(), at(minute=2), 120 * (n + 1)) for n in range(len(jobs))],
        frames=frames_at(at(), at(minute=2)),
    ) as data:
        (drawing,) = figure_jobs.jobs(Asking(data), [job])
    assert [row[-3:-1] for row in drawing.rows] == [["1/s", "1/s"]]


def test_a_job_that_is_not_there_has_no_figure():
    with data_of(
        operations=named(("write_bytes", "bytes")),
        series=[one_series(0, "scratch-OST0000", job="1")],
        usage_ost=[used(0, at(), at(minute=2), 120)],
        frames=frames_at(at(), at(minute=2)),
    ) as data:
        assert list(figure_jobs.jobs(Asking(data), ["2"])) == []
