"""Incidents and alerts as people see them: kinds and causes, and no foreign name."""

import json
from contextlib import contextmanager

import pytest

from tests.support.people_store import ANNA, BEN, CAUSE, SECRETS, people
from tests.support.store_rows import at


def incident(**more):
    return {
        "id": "20221027T0002-abcdef", "start_us": at(minute=2), "end_us": at(minute=3),
        "state": "ended",
        "severity": "warning", "filesystem": "scratch", "targets": ["scratch-MDT0000"],
        "operations": ["open"], "baseline": 1.0, "peak": 9.0, "ratio": 9.0,
        "causes": [CAUSE, {**CAUSE, "user": ANNA, "job": "7100071", "node": "r01c01",
                             "executable": "vasp"}],
        "kind": "metadata_storm",
        "advice": {"user": "Open less.", "admin": f"user {BEN}, job 7300073 makes up 90%",
                   "commands": ["scontrol suspend 7300073"], "link": "docs"},
        "evidence": {"sign": "ben.x runs on r02c02", "measure": "open"},
        "acknowledged": {"author": "root", "comment": "told carol", "time_us": 1}, **more,
    }  # fmt: skip


@contextmanager
def watched_people(directory, **rules):
    """Serve the same people, one of whose programs made an incident."""
    folder = directory / "incidents"
    folder.mkdir()
    (folder / "20221027T0002-abcdef.json").write_text(json.dumps(incident()))
    with people(directory, **rules) as site:
        yield site


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    with watched_people(tmp_path_factory.mktemp("watched")) as site:
        yield site


PERIOD = {"from": "2022-10-27", "to": "2022-10-28"}


def test_an_incident_tells_its_kind_and_causes_without_foreign_names(watched):
    one = "/api/v1/incidents/20221027T0002-abcdef"
    assert BEN in watched.ask("admin", one).text
    for who in ("anna", None):
        for answer in (watched.ask(who, one), watched.ask(who, "/api/v1/incidents", **PERIOD)):
            assert answer.status_code == 200
            assert [name for name in SECRETS if name in answer.text] == []
            assert "metadata_storm" in answer.text
            assert (ANNA in answer.text) == (who == "anna")
    told = watched.ask("anna", one).json()
    assert told["advice"] == {"user": "Open less.", "admin": "The details are for admins.",
                              "commands": [], "link": "docs"}  # fmt: skip
    # The pseudonym of an incident leads to the user of its day.
    culprit = told["causes"][0]["user"]
    found = watched.rows("anna", "top", by="user", user=culprit)
    assert [row["user"] for row in found] == [culprit]
    assert culprit.startswith("user-")


def test_staff_see_the_causes_of_whom_they_may_see_and_nothing_that_quotes_others(tmp_path):
    one = "/api/v1/incidents/20221027T0002-abcdef"
    with watched_people(tmp_path, staff_sees_groups=("secret*",)) as site:
        told = site.ask("staff", one).json()
        assert told["causes"][0] == CAUSE
        assert told["causes"][1]["user"].startswith("user-")
        assert told["advice"]["commands"] == []
        assert site.ask("staff", "/api/v1/alerts").status_code == 403


def test_incidents_are_found_by_the_own_name_and_by_no_other(watched):
    def found(user):
        answer = watched.ask("anna", "/api/v1/incidents", user=user, **PERIOD)
        return len(answer.json()["incidents"])

    assert [found(user) for user in (ANNA, "2001*", BEN, "2002*", "user-*")] == [1, 1, 0, 0, 1]
    assert (
        len(watched.ask("admin", "/api/v1/incidents", user=BEN, **PERIOD).json()["incidents"]) == 1
    )


def test_alerts_and_what_machines_need_are_not_for_users(watched):
    exports = ("/api/v1/export", "/api/v1/export/rows?table=series")
    for path in exports:
        for who in ("anna", None):
            assert watched.world.error(watched.ask(who, path)) == (403, "not-allowed")
    for path in ("/api/v1/export", "/api/v1/alerts", "/api/v1/ledger", "/metrics"):
        assert watched.ask("anna", path).status_code == 403
        assert watched.ask(None, path).status_code == 403
        assert watched.ask("admin", path).status_code == 200
