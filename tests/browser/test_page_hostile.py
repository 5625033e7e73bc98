"""Names that users wrote do nothing on the page: in no table, chart, tooltip, title or export."""

from urllib.parse import urlencode, urlsplit

import pytest

from tests.support.page_world import HOSTILE, INCIDENT

SHOWN = tuple(name for name in HOSTILE if len(name) < 100)
STORM = {"from": "2022-10-27T00:00:00Z", "to": "2022-10-27T06:00:00Z",
         "a": "2022-10-27T02:00:00Z", "b": "2022-10-27T03:00:00Z"}  # fmt: skip
AT = "2022-10-27T02:30:00Z"
HURT = """() => {
    const nodes = [...document.querySelectorAll("*")];
    const own = new Set([...document.head.querySelectorAll("script")]);
    return {
        scripts: nodes.filter(n => n.localName === "script" && !own.has(n)).length,
        images: document.querySelectorAll("img, iframe, object, embed").length,
        handlers: nodes.filter(n => [...n.attributes].some(a => a.name.startsWith("on"))).length,
        links: nodes.map(n => n.getAttribute("href") ?? "").filter(href =>
            href && !href.startsWith("#") && !new URL(href, location).protocol.startsWith("http")),
        away: nodes.map(n => n.getAttribute("href") ?? "").filter(href =>
            href && new URL(href, location).origin !== location.origin),
    };
}"""
NOTHING = {"scripts": 0, "images": 0, "handlers": 0, "links": [], "away": []}


def views():
    """Return addresses that between them show every name everywhere."""
    yield from (f"/?by={by}&at={AT}" for by in ("user", "job", "node", "project"))
    yield from (f"/history?{urlencode({**STORM, 'by': by})}" for by in ("user", "executable"))
    yield from ("/incidents?span=all", "/incident?id=20221027T0206-00ab02")
    yield from (f"/user?{urlencode({'name': name})}" for name in (HOSTILE[0], HOSTILE[-1]))
    yield f"/job?{urlencode({'name': HOSTILE[0]})}"
    yield f"/mine?{urlencode({'name': HOSTILE[1]})}"
    for path, name in (("/", HOSTILE[0]), ("/history", HOSTILE[1])):
        words = ("by", "metric", "at", "rows", "span", "a", "b", "from", "which")
        yield f"{path}?{urlencode(dict.fromkeys(words, name))}"


def hurt(page):
    return page.evaluate(HURT)


@pytest.mark.parametrize("address", views(), ids=lambda address: address[:50])
def test_no_name_does_anything(reader, address):
    page = reader.page
    page.goto(reader.url + address)
    page.wait_for_selector("main .view, main .notice")
    page.wait_for_function("() => !document.querySelector('main .waiting')")
    assert hurt(page) == NOTHING
    assert page.title().endswith("pfscope")
    if "metric=%" in address:  # a browser's own line about a refusal
        reader.faults = [fault for fault in reader.faults if "400 (Bad Request)" not in fault]


def test_names_are_shown_as_they_were_written(reader):
    page = reader.visit(f"/?at={AT}")
    names = page.locator(".side tbody .name").all_text_contents()
    assert set(names) >= set(HOSTILE)


def test_a_long_name_takes_no_more_room_than_a_few_lines(reader):
    page = reader.visit(f"/?at={AT}")
    heights = page.locator(".side tbody tr").evaluate_all("all => all.map(r => r.offsetHeight)")
    assert max(heights) < 100
    page.goto(f"{reader.url}/user?{urlencode({'name': HOSTILE[-1]})}")
    reader.settle()
    assert page.locator("h1").bounding_box()["height"] < 150
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_tooltips_show_text(reader):
    page = reader.visit(f"/?at={AT}")
    segments = page.locator("li.ring").nth(1).locator("a:has(.segment)")
    told = []
    for n in range(segments.count()):
        segments.nth(n).focus()
        told.append(page.text_content("#tip strong"))
        assert page.locator("#tip img, #tip script, #tip a").count() == 0
    assert set(told) >= set(SHOWN)
    assert hurt(page) == NOTHING


def test_links_lead_to_the_page_of_that_name_and_no_other(reader):
    page = reader.visit(f"/?at={AT}")
    for name in SHOWN:
        link = page.locator(".side tbody a.name").filter(has_text=name).first
        url = urlsplit(link.evaluate("link => link.href"))
        assert f"{url.scheme}://{url.netloc}" == reader.url
        assert url.path == "/user"
    page.get_by_role("link", name=SHOWN[-1], exact=True).first.click()
    page.wait_for_selector("h1.name")
    reader.settle()
    assert page.inner_text("h1") == SHOWN[-1]
    assert page.locator("section.figure").first.inner_text().startswith("All requests")


@pytest.mark.parametrize(
    "name", ["../../sign-out?x=[a]*&y=%00#z", "' autofocus onfocus=document.title='pwned' '"]
)
def test_a_name_is_a_pattern_for_itself_alone(reader, name):
    page = reader.visit(f"/user?{urlencode({'name': name, 'span': '6h'})}")
    jobs = page.locator("section.figure", has=page.locator("h2:text-is('Jobs')"))
    assert jobs.locator("tbody th").all_inner_texts() == [name]


def test_exports_hold_no_formula(reader):
    page = reader.visit(f"/history?{urlencode(STORM)}")
    users = page.locator("section.figure", has=page.locator("h2:text-is('Users')"))
    users.get_by_role("button", name="As command line").click()
    told = users.locator("code").inner_text()
    assert r"""'=cmd|'\''/C calc'\''!A0'""" in told
    with page.expect_download() as csv:
        users.get_by_role("link", name="CSV").click()
    cells = [line.split(",", 2)[1] for line in csv.value.path().read_text("utf-8").splitlines()[1:]]
    assert any(cell.startswith("'=cmd") for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", '"=', "+", "-", "@"))]


def test_where_to_go_after_signing_in_is_always_here(reader):
    page = reader.page
    for to in ("https://evil.example/", "//evil.example", "javascript:alert(1)", "/incidents"):
        page.goto(f"{reader.url}/sign-in?{urlencode({'to': to})}")
        page.wait_for_selector("#token")
        assert hurt(page) == NOTHING


def test_an_incident_that_is_not_there_is_told_and_no_more(reader):
    page = reader.page
    page.goto(f"{reader.url}/incident?{urlencode({'id': HOSTILE[0]})}")
    page.wait_for_selector("main .notice")
    assert "there is no such incident" in reader.text() or "nothing here" in reader.text()
    assert hurt(page) == NOTHING
    reader.faults = [fault for fault in reader.faults if "404" not in fault]
    assert INCIDENT not in reader.text()
