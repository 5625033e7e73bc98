"""The other views in a real browser: incidents, pages of one thing, my jobs, data quality."""

import json
import re

import pytest

from tests.browser.conftest import PHONE, window
from tests.support.page_world import INCIDENT, make_page_store, page_server

AT = "at=2022-10-27T03:00:00Z&span=1h"


def section(page, title):
    return page.locator("section", has=page.locator(f"h2:text-is('{title}')"))


def test_incidents_are_listed_the_newest_first_and_lead_to_their_page(reader):
    page = reader.visit("/incidents?span=all")
    assert page.locator("tbody tr").count() == 2
    page.get_by_role("button", name="Going on").click()
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 1")
    assert page.locator("tbody .pill").inner_text() == "critical"
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("link", name="Metadata storm").click()
    page.wait_for_selector("h1:text-is('Metadata storm')")


def test_an_incident_is_told_with_evidence_advice_and_commands(reader):
    page = reader.visit(f"/incident?id={INCIDENT}")
    assert section(page, "Who").locator("tbody a").all_inner_texts() == ["1002", "72"]
    assert "of 1002" in section(page, "Evidence").inner_text()
    assert "Open a file once." in section(page, "What the user can do").inner_text()
    assert page.locator("section.figure .band").count() == 1


def test_commands_are_copied_by_a_button(chromium, world):
    rights = ["clipboard-read", "clipboard-write"]
    with window(chromium, world.url, permissions=rights) as reader:
        page = reader.visit(f"/incident?id={INCIDENT}")
        page.get_by_role("button", name="Copy").first.click()
        page.wait_for_selector("button:text-is('Copied')")
        assert page.evaluate("navigator.clipboard.readText()") == "scontrol show job '72'"


def test_who_takes_care_is_said_and_shown(chromium, tmp_path):
    with page_server(make_page_store(tmp_path)) as world, window(chromium, world.url) as reader:
        page = reader.visit(f"/incident?id={INCIDENT}")
        page.get_by_label("Who takes care").fill("anna")
        page.get_by_label("What is done").fill("I call <b>the user</b>")
        page.get_by_label("Silence its alerts").select_option("for two hours")
        page.get_by_role("button", name="Acknowledge").click()
        page.wait_for_selector("text=Taken care of by anna: I call <b>the user</b>")
        told = world.client.get(f"/api/v1/incidents/{INCIDENT}").json()["acknowledged"]
        assert (told["author"], told["comment"]) == ("anna", "I call <b>the user</b>")
        silences = (tmp_path / "alerts" / "silences.json").read_text()
        (silence,) = json.loads(silences)["silences"]
        assert silence["end_us"] - silence["start_us"] == 2 * 3600 * 10**6
        assert silence["matchers"] == {"incident": [INCIDENT]}


@pytest.mark.parametrize(
    ("path", "links"),
    [("/user?name=1002", {"/job", "/target", "/node", "/executable", "/project"}),
     ("/job?name=72", {"/user", "/node", "/target", "/executable", "/project", "/partition"}),
     ("/project?name=project_72", {"/user", "/job", "/target"}),
     ("/target?name=scratch-MDT0000", {"/user", "/job", "/node"}),
     ("/server?name=mds1", {"/target", "/user", "/job"})],
)  # fmt: skip
def test_each_thing_has_a_page_that_leads_to_the_others(reader, path, links):
    page = reader.visit(f"{path}&{AT}")
    hrefs = page.locator("main a.name").evaluate_all("all => all.map(link => link.pathname)")
    assert set(hrefs) >= links
    assert "2.02\u202fk/s" in reader.text(".tiles") or "2\u202fk/s" in reader.text(".tiles")
    assert page.locator("section.figure path.area").count() == 1


def test_what_is_shown_of_a_thing_can_be_had_and_shared(chromium, world, reader):
    page = reader.visit(f"/user?name=1002&{AT}")
    with page.expect_download() as csv:
        page.get_by_role("link", name="CSV").first.click()
    assert ",1002,2000" in csv.value.path().read_text()
    page.get_by_role("button", name="As command line").first.click()
    assert "--user 1002" in page.inner_text(".command code")
    page.get_by_label("Metric").select_option("metadata")
    page.wait_for_selector("h2:text-is('Metadata, weighted')")
    assert "metric=metadata" in page.url
    seen = section(page, "Jobs").locator("tbody").inner_text()
    with window(chromium, world.url) as other:
        shared = other.visit(page.url.removeprefix(world.url))
        assert section(shared, "Jobs").locator("tbody").inner_text() == seen


def test_my_jobs_are_told_in_plain_words(reader):
    page = reader.visit("/mine?name=1002")
    assert "1 job of yours could go easier on the file system" in reader.text()
    card = page.locator(".card").inner_text()
    assert "Job 72" in card
    assert "It opens and closes files again and again." in card
    assert "What you can do: Open a file once and keep it open" in card
    reader.visit("/mine?name=1001")
    reader.visit("/mine?name=nobody")
    assert "Nothing of yours touched the file system" in reader.text()


def test_data_quality_and_the_ledger_are_told(reader):
    page = reader.visit("/quality")
    assert "sound" in section(page, "How sound ids are").inner_text()
    hidden = section(page, "What no id tells")
    assert re.search(r"scratch-MDT0000\s.*20\u202f%", hidden.inner_text(), re.DOTALL)
    assert "It balances" in section(page, "The ledger").inner_text()


def test_all_of_it_can_be_reached_by_keyboard(reader):
    page = reader.visit("/?at=2022-10-27T02:30:00Z")
    page.wait_for_selector("[data-control=time]")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    reached = []
    while page.keyboard.press("Tab") or page.evaluate("document.activeElement !== document.body"):
        reached.append(page.evaluate(
            "document.activeElement.dataset.control ?? document.activeElement.getAttribute('href')"
            " ?? document.activeElement.textContent"
        ))  # fmt: skip
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or page.evaluate("document.activeElement.ownerSVGElement !== null")
    for control in ("By user", "metric", "time", "Table", "PNG", "As command line"):
        assert control in reached
    page.locator("li.ring svg a").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("1002 on")
    assert page.locator("#tip").is_visible()
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text-is('1002')")
    reader.settle()


def test_the_focus_stays_on_what_was_chosen(reader):
    page = reader.visit("/history?from=2022-10-27T00:00:00Z&to=2022-10-27T06:00:00Z")
    page.get_by_role("button", name="Targets").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("h2:has-text('by target')")
    assert page.evaluate("document.activeElement.textContent") == "Targets"


@pytest.mark.parametrize(
    "path",
    ["/?at=2022-10-27T02:30:00Z", "/history", "/incidents?span=all", f"/incident?id={INCIDENT}",
     f"/user?name=1002&{AT}", "/mine?name=1002", "/quality", "/sign-in"],
)  # fmt: skip
def test_a_phone_shows_it_without_scrolling_sideways(phone, path):
    page = phone.visit(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.fixture(scope="module")
def phone(chromium, world):
    with window(chromium, world.url, size=PHONE, has_touch=True) as reader:
        yield reader


def test_light_and_dark_follow_the_system_or_the_button(chromium, world):
    with window(chromium, world.url, scheme="dark") as reader:
        page = reader.visit("/incidents")
        paper = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(paper) == "rgb(19, 26, 34)"
        page.get_by_role("button", name="Light").click()
        assert page.evaluate(paper) == "rgb(255, 255, 255)"
        page.reload()
        assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_the_page_is_there_before_the_server_has_answered_a_question(chromium, world):
    with window(chromium, world.url) as reader:
        page = reader.page
        held = []
        page.route(re.compile("/api/v1/(query|incidents)"), lambda route: held.append(route))  # noqa: PLW0108
        page.goto(f"{world.url}/history")
        page.wait_for_selector("h1:text-is('History')")
        assert page.locator(".waiting").count() == 1
        height = page.evaluate("document.querySelector('.toolbar').offsetTop")
        for route in held:
            route.continue_()
        page.unroute_all(behavior="ignoreErrors")
        page.wait_for_selector("canvas")
        assert page.evaluate("document.querySelector('.toolbar').offsetTop") == height


def test_a_visit_loads_the_page_once(chromium, world):
    with window(chromium, world.url) as reader:
        loaded = []
        reader.page.on("requestfinished", lambda request: loaded.append(request.url))
        reader.visit("/incidents")
        files = [url for url in loaded if "/page/" in url]
        assert len(files) == len(set(files)) < 60
        loaded.clear()
        reader.page.get_by_role("link", name="History").click()
        reader.page.wait_for_selector("canvas, main .notice")
        assert not [url for url in loaded if url.endswith((".js", ".css"))]
