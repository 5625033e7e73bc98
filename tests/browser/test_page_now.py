"""Now in a real browser: rings, drilling down, other times, and what is pushed."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import window
from tests.support.page_world import END_US, STORM_RATE, job_stats, make_page_store, page_server
from tests.support.store_rows import MINUTE_US

MOST = {
    "Jobs": ("job", "72"), "Nodes": ("node", "r01c02"), "Projects": ("project", "project_72"),
    "Programs": ("executable", "1002"),
}  # fmt: skip
AT_THE_STORM = "/?at=2022-10-27T02:30:00Z"


def words(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def ring(page, name):
    return page.locator("li.ring", has=page.locator(f"a.ring-name:text-is('{name}')"))


def test_there_is_a_ring_for_each_server_in_their_order(reader):
    page = reader.visit("/")
    assert page.locator(".ring-name").all_inner_texts() == ["mds1", "oss1", "oss2"]
    assert page.locator(".state").inner_text() == "live"


def test_the_width_of_a_segment_is_the_share(reader):
    page = reader.visit(AT_THE_STORM)
    largest = ring(page, "mds1").locator("a:has(.segment)").first
    assert largest.get_attribute("aria-label").startswith("1002 on mds1: 2\u202fk/s, 99")
    drawn = largest.locator("path").evaluate(
        "path => path.getTotalLength() / (2 * Math.PI * (84 + 60))"
    )
    assert 0.97 < drawn < 1.1


def test_hover_tells_names_and_rates(reader):
    page = reader.visit(AT_THE_STORM)
    ring(page, "mds1").locator("svg").hover(position={"x": 80, "y": 12})
    told = page.inner_text("#tip")
    assert "1002" in told
    assert "2\u202fk/s" in told
    ring(page, "mds1").locator(".centre").hover()
    assert "in all" in page.inner_text("#tip")


def test_the_centre_has_the_colour_of_the_total(reader):
    page = reader.visit(AT_THE_STORM)
    colours = page.locator(".centre").evaluate_all("all => all.map(one => one.style.fill)")
    assert colours[0] != colours[1]
    assert colours[1] == colours[2]


def test_a_click_drills_down_and_back_returns(reader):
    page = reader.visit(AT_THE_STORM)
    ring(page, "mds1").locator("a:has(.segment)").first.click(position={"x": 70, "y": 10})
    reader.settle()
    assert page.inner_text("h1") == "1002"
    assert words(page)["at"] == "2022-10-27T02:30:00Z"
    page.go_back()
    reader.settle()
    assert page.inner_text("h1") == "Then"
    page.go_forward()
    reader.settle()
    assert page.inner_text("h1") == "1002"


@pytest.mark.parametrize("by", MOST)
def test_segments_are_of_what_is_chosen_and_the_address_says_so(reader, by):
    page = reader.visit(AT_THE_STORM)
    page.get_by_role("button", name=by, exact=True).click()
    page.wait_for_selector(f"h2:text-is('{by} with the most')")
    first = page.locator(".side tbody th").first.inner_text()
    assert (words(page)["by"], first) == MOST[by]
    page.go_back()
    page.wait_for_selector("h2:text-is('Users with the most')")


def test_the_metric_is_chosen_from_a_list(reader):
    page = reader.visit(AT_THE_STORM)
    page.get_by_label("Metric").select_option("read_bytes")
    page.wait_for_selector("h2:has-text('Bytes read of each server')")
    assert "MB/s" in ring(page, "oss1").inner_text() or "GB/s" in ring(page, "oss1").inner_text()
    page.get_by_label("Metric").select_option("load")
    page.wait_for_selector("h2:has-text('Effective load of each server')")
    assert ring(page, "mds1").locator(".total").inner_html() == "4"


def test_what_no_id_tells_has_its_share(reader):
    reader.visit("/")
    assert re.search(r"Not attributed\s+20\u202f%", reader.text(".tiles"))


def test_incidents_of_that_time_are_told(reader):
    page = reader.visit(AT_THE_STORM)
    page.wait_for_selector(".incident-lines")
    assert re.search(r"Incidents that went on\s+2", reader.text(".tiles"))
    page.get_by_role("link", name="Metadata storm").first.click()
    reader.settle()
    assert page.inner_text("h1") == "Metadata storm"


def test_a_shared_address_shows_the_same(chromium, world, reader):
    page = reader.visit("/?by=job&metric=open&at=2022-10-27T02:30:00Z")
    seen = page.locator(".side tbody").inner_text()
    with window(chromium, world.url) as other:
        assert (
            other.visit(page.url.removeprefix(world.url)).locator(".side tbody").inner_text()
            == seen
        )
    assert seen.startswith("72")


def test_the_time_slider_shows_now_as_it_was(reader):
    page = reader.visit("/")
    slider = page.get_by_label("Show the time")
    slider.wait_for()
    assert page.locator(".side tbody th").first.inner_text() == "1001"
    slider.fill(str((END_US - 210 * MINUTE_US) // 1000))
    page.wait_for_selector("h1:text-is('Then')")
    page.wait_for_function("() => document.querySelector('.side tbody th')?.innerText === '1002'")
    assert words(page)["at"] == "2022-10-27T02:30:00Z"
    page.get_by_role("button", name="Five minutes later").click()
    page.wait_for_function("() => location.search.includes('02%3A35')")
    page.get_by_role("button", name="Back to now").click()
    page.wait_for_selector("h1:text-is('Now')")
    assert "at" not in words(page)


def test_the_keyboard_moves_in_time_and_stays_where_it_is(reader):
    page = reader.visit("/?at=2022-10-27T01:58:00Z")
    slider = page.get_by_label("Show the time")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.search.includes('02%3A02')")
    assert slider.evaluate("it => it === document.activeElement")


def test_what_arrives_is_shown_at_once(chromium, tmp_path):
    with page_server(make_page_store(tmp_path)) as world, window(chromium, world.url) as reader:
        page = reader.visit("/")
        page.get_by_role("button", name="Table").first.click()
        page.locator("a.ring-name").first.focus()
        for n, opened in enumerate((0, 60_000), 1):
            time_us = END_US + n * MINUTE_US
            query = f"server=mds1&time={time_us // 10**6}"
            world.lctl(job_stats(opened, time_us), query).raise_for_status()
        page.wait_for_function(
            "() => document.querySelector('.side tbody th')?.innerText === '1003'"
        )
        assert "06:02:00" in page.inner_text(".lead")
        assert ring(page, "mds1").locator(".total").inner_html() == "1"
        assert page.evaluate("document.activeElement.textContent") == "mds1"
        assert "1003" in page.inner_text(".under table")


def test_a_server_that_goes_away_is_told_and_found_again(chromium, tmp_path):
    make_page_store(tmp_path)
    with window(chromium, "", check=False) as reader:
        with page_server(tmp_path) as world:
            reader.url = world.url
            page = reader.visit("/")
        page.wait_for_selector(".pill:has-text('the server is away')")
        assert page.locator("li.ring").count() == 3
        listen = world.url.removeprefix("http://")
        with page_server(tmp_path, listen=listen):
            page.wait_for_selector(".pill.good", timeout=20000)


def test_a_store_with_nothing_in_it_says_what_to_do(chromium, tmp_path):
    with page_server(tmp_path) as world, window(chromium, world.url, check=False) as reader:
        page = reader.visit("/")
        page.wait_for_selector("text=There is nothing to show yet")
        assert f"{world.url}/api/v1/lctl" in reader.text()


def test_a_metric_that_nobody_ever_used_is_no_fault(reader):
    page = reader.visit("/?metric=quotactl&at=2022-10-27T02:30:00Z")
    page.wait_for_selector("text=Nothing was ever done that this metric counts")
    reader.faults.clear()  # a browser's own line about a refusal


def test_the_rings_can_be_had_as_csv_and_png(reader):
    page = reader.visit(AT_THE_STORM)
    with page.expect_download() as csv:
        page.get_by_role("link", name="CSV").first.click()
    rows = csv.value.path().read_text().splitlines()
    assert rows[0].startswith("rank,server,user,rate_mean")
    assert rows[1].startswith(f"1,mds1,1002,{STORM_RATE}")
    with page.expect_download() as png:
        page.get_by_role("button", name="PNG").first.click()
    assert png.value.suggested_filename == "all-requests-of-each-server-by-user.png"
    assert png.value.path().read_bytes().startswith(b"\x89PNG")


def test_the_question_behind_it_is_a_command(reader):
    page = reader.visit(AT_THE_STORM)
    page.get_by_role("button", name="As command line").first.click()
    told = page.inner_text(".command code")
    assert told.startswith(f"pfscope query top --server {reader.url} --by server --by user")
