"""The page of statistics in a real browser: drawn, silent, runs chosen by keyboard and mouse."""

import pytest

import pfscope.mine
from pfscope.report.lake_page import lake_page
from tests.support.mine_month import month, truth_of


@pytest.fixture(scope="module")
def lake():
    return month(1000, days=3)


@pytest.fixture(scope="module")
def path(lake, tmp_path_factory):
    written = tmp_path_factory.mktemp("page") / "stats.html"
    with pfscope.mine.open(lake) as miner:
        written.write_text(lake_page(miner), encoding="utf-8")
    return written


@pytest.fixture
def visit(chromium, path):
    """An open page, and what it complained about or asked the network for."""
    page, said = chromium.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if "http" in request.url else None)
    page.goto(path.as_uri())
    yield page, said
    page.close()


def test_every_figure_is_drawn_and_nothing_is_fetched(visit):
    page, said = visit
    figures = page.locator("[data-figure]").count()
    page.wait_for_function(f"document.querySelectorAll('.drawn').length === {figures}")
    assert figures == 8
    assert not said
    assert page.locator("section").count() == 10
    assert page.locator("section:not(:has(table))").count() == 0


def test_runs_are_chosen_by_keyboard_and_the_table_follows(visit, lake):
    page, said = visit
    runs = truth_of(lake)["low_read"]
    section = page.locator("section:has(#slow-reads)")
    rows = section.locator("tbody tr")
    assert rows.count() == section.locator("polyline").count() == runs > 1
    slider = section.locator("input[data-axis='0']").first
    slider.focus()
    page.keyboard.press("End")
    left = section.locator("polyline:not(.out)").count()
    assert left < runs
    assert section.locator("tbody tr:visible").count() == left
    assert section.locator("output.count").inner_text() == f"{left} of {runs} runs"
    section.get_by_role("button").press("Enter")
    assert section.locator("tbody tr:visible").count() == runs
    assert not said


def test_runs_are_chosen_by_dragging_along_an_axis_and_by_program(visit, lake):
    page, _ = visit
    runs = truth_of(lake)["low_read"]
    section = page.locator("section:has(#slow-reads)")
    grip = section.locator("rect.grip").last
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] * 0.3)
    page.mouse.up()
    assert 0 <= section.locator("polyline:not(.out)").count() < runs
    page.mouse.click(middle, box["y"] + box["height"] / 2)
    assert section.locator("polyline:not(.out)").count() == runs
    box = section.locator("input[data-application]").first
    box.uncheck()
    assert section.locator("polyline:not(.out)").count() < runs
