"""What axe-core says of every view, light and dark: no serious or critical fault."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import window
from tests.support.page_world import INCIDENT

DAY = "from=2022-10-27T00:00:00Z&to=2022-10-27T06:00:00Z"
VIEWS = {
    "now": "/?at=2022-10-27T02:30:00Z",
    "interval": f"/history?{DAY}&a=2022-10-27T02:00:00Z&b=2022-10-27T03:00:00Z",
    "incidents": "/incidents?span=all",
    "incident": f"/incident?id={INCIDENT}",
    "user": "/user?name=1002&at=2022-10-27T03:00:00Z&span=1h",
    "mine": "/mine?name=1002",
    "quality": "/quality",
    "sign-in": "/sign-in",
}
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module", params=["light", "dark"])
def eyes(request, chromium, world):
    with window(chromium, world.url, scheme=request.param) as reader:
        yield reader


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_keeps_anybody_out(eyes, view):
    page = eyes.visit(VIEWS[view])
    for button in page.get_by_role("button", name="Table").all()[:2]:
        button.click()
    found = Axe().run(page).response["violations"]
    told = [(one["id"], [node["html"][:120] for node in one["nodes"][:3]])
            for one in found if one["impact"] in GRAVE]  # fmt: skip
    assert told == []
