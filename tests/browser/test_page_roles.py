"""Who sees what on the page: signed in as each role, and not at all."""

import re
from contextlib import contextmanager

import pytest

from pfscope.watch.book import Book
from pfscope.web.pages import routes
from tests.browser.conftest import window
from tests.support.page_world import incident
from tests.support.people_store import ANNA, BEN, SECRETS, people

REFUSED = "the server responded with a status of 401"
ALIAS = re.compile(r"^(user|job|node|project|executable)-[0-9a-f]{10}$")
STORM = "20221027T0205-00ab01"
VIEWS = (
    "/?by=node&at=2022-10-27T00:03:00Z", "/?by=executable&at=2022-10-27T00:03:00Z",
    "/history?from=2022-10-27T00:00:00Z&to=2022-10-27T00:04:00Z&a=2022-10-27T00:00:00Z"
    "&b=2022-10-27T00:04:00Z&by=job", "/incidents?span=all", f"/user?name={BEN}",
    "/node?name=r01c01", "/mine",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("people")
    with people(directory, pages=routes()) as site:
        yield site


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("closed")
    Book(directory).keep(incident(user=BEN, job="7300073"))
    with people(directory, pages=routes(), anonymous="nothing") as site:
        yield site


@contextmanager
def signed_in(chromium, site, who):
    """A window in which somebody has signed in with a token; `bodies` are what came to it."""
    with window(chromium, site.url) as reader:
        reader.bodies = {}
        page = reader.visit("/sign-in?to=/incidents")
        page.on("requestfinished", lambda request: _keep(reader.bodies, request.response()))
        page.get_by_label("Token").fill(site.tokens[who])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{site.url}/incidents")
        reader.settle()
        reader.faults = [fault for fault in reader.faults if REFUSED not in fault]
        yield reader


def _keep(bodies, response):
    if "/api/" in response.url and "/live" not in response.url:
        bodies[response.url] = response.body()


def links(page):
    return page.locator("#top nav a").all_inner_texts()


@pytest.mark.parametrize("who", ["admin", "staff"])
def test_admins_and_staff_see_everybody_by_name(chromium, site, who):
    with signed_in(chromium, site, who) as reader:
        assert reader.text(".who") == f"{who} · {who}"
        page = reader.visit("/")
        assert {ANNA, BEN} <= set(page.locator(".side tbody .name").all_inner_texts())
        assert ("Data quality" in links(page)) == (who == "admin")


def test_an_admin_sees_quality_and_the_ledger(chromium, site):
    with signed_in(chromium, site, "admin") as reader:
        reader.page.get_by_role("link", name="Data quality").click()
        reader.page.wait_for_selector("h2:text-is('The ledger')")


@pytest.fixture(scope="module")
def anna(chromium, site):
    with signed_in(chromium, site, "anna") as reader:
        yield reader


def test_a_user_sees_the_own_work_by_name_and_others_under_pseudonyms(anna):
    page = anna.visit("/")
    names = page.locator(".side tbody a.name").all_inner_texts()
    assert ANNA in names
    assert [name for name in names if name != ANNA and not ALIAS.match(name)] == []
    page.get_by_role("link", name="My jobs").click()
    page.wait_for_selector(".card")
    assert page.inner_text(".title-row .pill") == f"user {ANNA}"
    assert "Job 7100071" in anna.text()


def test_a_pseudonym_leads_to_a_page_of_its_own(anna):
    page = anna.visit("/")
    alias = next(n for n in page.locator(".side tbody a.name").all_inner_texts() if n != ANNA)
    page.get_by_role("link", name=alias, exact=True).first.click()
    page.wait_for_selector(f"h1:text-is('{alias}')")
    anna.settle()
    assert page.locator("section.figure path.area").count() == 1


def test_no_answer_to_a_user_names_anybody_else(anna):
    own = {BEN, "7300073"}  # which Anna writes into addresses herself
    for address in VIEWS:
        anna.visit(address)
    assert len(anna.bodies) > 30
    for url, body in anna.bodies.items():
        asked = {name for name in own if name in url}
        found = {name for name in SECRETS if name.encode() in body}
        assert found <= asked, url


def test_who_is_not_signed_in_sees_pseudonyms_alone(chromium, site):
    with window(chromium, site.url) as reader:
        page = reader.visit("/")
        names = page.locator(".side tbody a.name").all_inner_texts()
        assert names
        assert [name for name in names if not ALIAS.match(name)] == []
        assert page.get_by_role("link", name="Sign in").count() == 1
        assert "Data quality" not in links(page)


def test_where_nothing_is_shown_to_anybody_one_is_led_to_sign_in_and_back(chromium, closed):
    with window(chromium, closed.url) as reader:
        page = reader.page
        page.goto(f"{closed.url}/history?rows=target")
        page.wait_for_selector("h1:text-is('Sign in')")
        page.get_by_label("Token").fill("not a token")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_selector("text=the token is unknown")
        page.get_by_label("Token").fill(closed.tokens["anna"])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{closed.url}/history?rows=target")
        reader.settle()
        assert reader.text(".who") == "anna · user"
        reader.faults = [fault for fault in reader.faults if REFUSED not in fault]


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example/x", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(chromium, closed, to):
    with window(chromium, closed.url) as reader:
        page = reader.page
        page.goto(f"{closed.url}/sign-in?to={to}")
        page.get_by_label("Token").fill(closed.tokens["anna"])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_selector(".who")
        assert page.url.startswith(closed.url)
        reader.faults = [fault for fault in reader.faults if REFUSED not in fault]


def test_who_signs_out_sees_nothing_any_more(chromium, closed):
    with signed_in(chromium, closed, "admin") as reader:
        page = reader.page
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_selector("h1:text-is('Sign in')")
        page.goto(f"{closed.url}/")
        page.wait_for_selector("h1:text-is('Sign in')")
        assert page.evaluate("document.cookie") == ""
        reader.faults = [fault for fault in reader.faults if REFUSED not in fault]


def test_staff_take_care_in_their_own_name_and_users_cannot(chromium, closed):
    with signed_in(chromium, closed, "staff") as reader:
        page = reader.visit(f"/incident?id={STORM}")
        assert page.get_by_label("Who takes care").input_value() == "staff"
        page.get_by_label("What is done").fill("called")
        page.get_by_role("button", name="Acknowledge").click()
        page.wait_for_selector("text=Taken care of by staff: called")
    with signed_in(chromium, closed, "anna") as reader:
        page = reader.visit(f"/incident?id={STORM}")
        assert page.get_by_role("button", name="Acknowledge").count() == 0
        assert BEN not in reader.text()


def test_the_token_is_kept_nowhere_in_the_browser(chromium, closed):
    with signed_in(chromium, closed, "anna") as reader:
        kept = reader.page.evaluate(
            "JSON.stringify([localStorage, sessionStorage, location.href, document.cookie])"
        )
        assert closed.tokens["anna"] not in kept
        cookies = reader.page.context.cookies()
        assert [(c["httpOnly"], c["sameSite"]) for c in cookies] == [(True, "Strict")]
