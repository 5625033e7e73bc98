"""History in a real browser: the heat map, brushing an interval, and what is told of exactly it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.page_world import INCIDENT

DAY = "/history?from=2022-10-27T00:00:00Z&to=2022-10-27T06:00:00Z"
STORM = f"{DAY}&a=2022-10-27T02:00:00Z&b=2022-10-27T03:00:00Z"
ANSWER_BYTES = 100_000


def words(url):
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def section(page, title):
    return page.locator("section.figure", has=page.locator(f"h2:text-is('{title}')"))


def brush(page, first, last):
    """Drag over the map between two parts of its width."""
    box = page.locator(".field-of-heat").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * first, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (first + last) / 2, y, steps=3)
    page.mouse.move(box["x"] + box["width"] * last, y, steps=3)
    page.mouse.up()


def shade(page, x, y):
    """Return the colour of the map at a part of its width, in a row."""
    return page.locator(".field-of-heat canvas").evaluate(
        """(canvas, [x, y]) => {
            const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            copy.drawImage(canvas, -Math.round(canvas.width * x), -Math.round(canvas.height * y));
            return [...copy.getImageData(0, 0, 1, 1).data];
        }""",
        [x, y],
    )


def test_the_map_shows_when_which_server_was_busy(reader):
    page = reader.visit(DAY)
    assert page.locator(".heat-names a").all_inner_texts() == ["mds1", "oss1", "oss2"]
    calm, storm, elsewhere = shade(page, 0.2, 0.1), shade(page, 0.42, 0.1), shade(page, 0.42, 0.5)
    assert storm != calm
    assert sum(storm[:3]) < sum(elsewhere[:3])
    labels = page.locator(".heat-names > div").first.bounding_box()
    assert abs(labels["y"] - page.locator(".field-of-heat").bounding_box()["y"]) < 2


def test_targets_come_in_the_order_of_their_numbers(reader):
    page = reader.visit(f"{DAY}&rows=target&metric=read_bytes")
    assert page.locator(".heat-names a").all_inner_texts() == ["scratch-OST0000", "scratch-OST000a"]


def test_hover_tells_who_when_and_how_much(reader):
    page = reader.visit(DAY)
    box = page.locator(".field-of-heat").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.42, box["y"] + 5)
    told = page.inner_text("#tip")
    assert "mds1" in told
    assert "2022-10-27 02:3" in told
    assert "2.02\u202fk/s" in told


def test_a_brushed_interval_is_told_in_full_and_exactly(reader):
    page = reader.visit(DAY)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    brush(page, 0.335, 0.495)
    page.wait_for_function("() => location.search.includes('a=')")
    reader.settle()
    chosen = words(page.url)
    assert (chosen["a"], chosen["b"]) == ("2022-10-27T02:00:00Z", "2022-10-27T03:00:00Z")
    for title in ("Total", "Users", "What changed", "Density"):
        assert section(page, title).count() == 1
    times = {
        (urlsplit(url).path.rpartition("/")[2], words(url)["from"], words(url)["to"])
        for url in asked
        if "/query/" in url
    }
    this = (chosen["a"], chosen["b"])
    questions = ("totals", "top", "series", "density", "causes")
    week = ("totals", "2022-10-20T02:00:00Z", "2022-10-20T03:00:00Z")
    before = ("totals", "2022-10-27T01:00:00Z", chosen["a"])
    assert times == {*((name, *this) for name in questions), week, before}


def test_who_is_behind_the_change_is_named(reader):
    page = reader.visit(STORM)
    told = section(page, "What changed")
    assert told.locator("tbody a").all_inner_texts() == ["1002", "72"]
    assert "2\u202fk/s" in told.inner_text()


def test_lines_are_named_and_lead_on(reader):
    page = reader.visit(STORM)
    legend = section(page, "Users").locator(".legend")
    assert legend.locator("a").first.inner_text() == "1002"
    assert "all others" in legend.inner_text()
    assert section(page, "Users").locator("path.line").count() == 9


def test_it_is_compared_with_the_week_before(reader):
    page = reader.visit(f"{DAY}&a=2022-10-27T03:00:00Z&b=2022-10-27T04:00:00Z")
    told = section(page, "Total").inner_text()
    assert re.search(r"Against a week before\s+1.5\u202f×\s+then 31.5/s", told), told
    assert section(page, "Total").locator("path.line.dashed").count() == 1


def test_the_density_says_how_many_have_which_rate(reader):
    page = reader.visit(STORM)
    density = section(page, "Density")
    density.get_by_role("button", name="Table").click()
    rows = density.locator("tbody tr").all_inner_texts()
    assert any("1.02\u202fk/s\t2.05\u202fk/s\t1 user" in row for row in rows), rows
    box = density.locator(".plot").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 10)
    assert "1 user" in page.inner_text("#tip")


def test_the_keyboard_brushes_and_escape_drops(reader):
    page = reader.visit(DAY)
    page.locator(".field-of-heat").focus()
    page.keyboard.press("Home")
    page.keyboard.down("Shift")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.up("Shift")
    page.wait_for_function("() => location.search.includes('a=')")
    chosen = words(page.url)
    assert chosen["a"] == "2022-10-27T00:00:00Z"
    assert chosen["b"] > chosen["a"]
    page.locator(".field-of-heat").focus()
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.search.includes('a=')")
    assert section(page, "Total").count() == 0


def test_incidents_stand_over_the_map_and_lead_to_their_page(reader):
    page = reader.visit(DAY)
    flag = page.locator(".flag").first
    told = flag.get_attribute("aria-label")
    assert told == "Incident: Metadata storm, Thu 2022-10-27, 02:00 to 03:00"
    page.locator(f".flag[href='/incident?id={INCIDENT}']").focus()
    page.keyboard.press("Enter")
    reader.settle()
    assert page.inner_text("h1") == "Metadata storm"


def test_any_past_time_is_shown_as_now_was_then(reader):
    page = reader.visit(STORM)
    page.get_by_role("link", name="Show Now as it was then").click()
    page.wait_for_selector("h1:text-is('Then')")
    reader.settle()
    assert words(page.url)["at"] == "2022-10-27T03:00:00Z"
    assert page.locator(".side tbody th").first.inner_text() == "1002"
    page.go_back()
    reader.settle()
    assert section(page, "Total").count() == 1


@pytest.mark.parametrize("span", ["1 day", "1 year"])
def test_answers_fit_the_pixels_whatever_the_period(reader, span):
    page = reader.visit("/history")
    sizes = {}

    def answered(response):
        if "/query/" in response.url and response.ok:
            sizes[response.url] = len(response.body()), len(response.json()["rows"])

    page.on("requestfinished", lambda request: answered(request.response()))
    page.get_by_role("button", name=span, exact=True).click()
    page.wait_for_function("() => !document.querySelector('.waiting')")
    brush(page, 0.1, 0.98)
    reader.settle()
    page.wait_for_selector("h2:text-is('Density')")
    assert len(sizes) >= 5
    assert max(size for size, _ in sizes.values()) < ANSWER_BYTES
    width = page.locator(".field-of-heat").bounding_box()["width"]
    assert max(rows for url, (_, rows) in sizes.items() if "totals" in url) <= 3 * width / 4


def test_figures_can_be_had_as_csv_png_and_command(reader):
    page = reader.visit(STORM)
    users = section(page, "Users")
    with page.expect_download() as csv:
        users.get_by_role("link", name="CSV").click()
    lines = csv.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "time,user,rate"
    assert any(line.startswith("2022-10-27T02:05:00Z,1002,2000") for line in lines)
    for title in ("Total", "Density"):
        with page.expect_download() as png:
            section(page, title).get_by_role("button", name="PNG").click()
        assert png.value.path().read_bytes().startswith(b"\x89PNG")
    section(page, "Density").get_by_role("button", name="As command line").click()
    told = section(page, "Density").locator("code").inner_text()
    assert "--from 2022-10-27T02:00:00Z --to 2022-10-27T03:00:00Z" in told


def test_an_interval_of_nothing_says_so(reader):
    page = reader.visit("/history?from=2022-10-24T00:00:00Z&to=2022-10-24T06:00:00Z")
    assert "There is nothing to show" in reader.text()
    assert page.locator("canvas").count() == 0
