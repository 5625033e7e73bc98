"""Who sees whom: people try to get around it, on a real server over HTTP."""

import json
import re

import pytest

from pfscope.query.questions import QUESTIONS
from pfscope.query.written import FORMATS, from_arrow
from pfscope.server import openapi
from tests.support.people_store import ANNA, BEN, SECRETS, T2, people
from tests.support.store_rows import at

PEOPLE_KEYS = ("user", "group", "project", "job", "array", "node", "executable")
FROM = {"from": "-1h"}
FOR_ALL = {"/", "/health", "/ready", "/api/v1/openapi.json", "/api/v1/query"}
"""The routes that say nothing of people."""
READ = {
    path.format(name="x")
    for path, item in openapi.document()["paths"].items()
    if "get" in item and path != "/api/v1/live"
}
ALIAS = r"(user|group|project|job|array|node|login-node|executable)-[0-9a-f]{10}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with people(tmp_path_factory.mktemp("people")) as site:
        yield site


def known_to_anna(key, rows):
    return {row[key] for row in rows if row[key] and not re.fullmatch(ALIAS, row[key])}


def names(rows, key):
    return [row[key] for row in rows]


def test_an_admin_and_staff_see_everybody(site):
    for who in ("admin", "staff"):
        assert {ANNA, BEN, "carol"} <= set(names(site.rows(who, "top", by="user"), "user"))


def test_a_user_sees_the_own_work_by_name_and_all_else_under_pseudonyms(site):
    own = {
        "user": {ANNA}, "job": {"7100071", "7200072", "7500075"}, "node": {"r01c01"},
        "executable": {"vasp"}, "group": {"annagroup"}, "project": {"annaproject"}, "array": set(),
    }  # fmt: skip
    for key, seen in own.items():
        rows = site.rows("anna", "top", by=key)
        assert known_to_anna(key, rows) == seen
        assert any(re.fullmatch(ALIAS, row[key] or "") for row in rows) == (key != "array")


def test_nobody_signed_in_sees_pseudonyms_alone_or_nothing(site, tmp_path):
    for key in PEOPLE_KEYS:
        assert known_to_anna(key, site.rows(None, "top", by=key)) == set()
    with people(tmp_path, anonymous="nothing") as closed:
        assert closed.ask(None, "/api/v1/query/top").status_code == 401


def test_no_route_answers_nobody_but_those_that_say_nothing_of_people(tmp_path):
    """Whatever is added to the interface has to decide who may see it."""
    with people(tmp_path, anonymous="nothing") as closed:
        for path in READ | {"/api/v1/live"}:
            assert (closed.ask(None, path).status_code != 401) == (path in FOR_ALL), path
            if path not in FOR_ALL:
                answer = closed.world.client.get(path, headers={"Origin": "https://evil.example"})
                assert closed.world.error(answer) == (403, "origin")


def test_numbers_are_the_same_for_all(site):
    def numbers(who):
        rows = site.rows(who, "top", by="user")
        return sorted((row["rate_mean"], row["rate_max"], row["share"]) for row in rows)

    assert numbers("anna") == numbers("admin") == numbers(None)


def every_answer(site, who):
    """Yield all that there is to be had, in every form, as bytes."""
    together = ",".join(PEOPLE_KEYS)
    for name in QUESTIONS:
        words = {"operation": "open"} if name in ("counters", "density") else {}
        words |= {"bucket": "1"} if name == "density" else {}
        wishes = [("json", together)]
        if name == "top":
            wishes += [(style, together) for style in FORMATS]
            wishes += [("json", by) for by in PEOPLE_KEYS]
        for style, by in wishes:
            path = f"/api/v1/query/{name}"
            yield site.ask(who, path, by=by, format=style, **FROM, **words).content
    for by in PEOPLE_KEYS:
        yield site.ask(who, "/api/v1/now", by=by, parts="5").content
    yield site.ask(who, "/api/v1/now", by=together, at="-1m").content
    for path in READ - {f"/api/v1/query/{name}" for name in QUESTIONS}:
        yield site.ask(who, path).content


def test_no_answer_in_any_format_names_anybody_else(site):
    """Where the admin finds each of the names, the user finds none of them anywhere."""
    found = site.ask("admin", "/api/v1/query/top", by=",".join(PEOPLE_KEYS)).text
    assert [name for name in SECRETS if name not in found and name != "dora"] == []
    for body in every_answer(site, "anna"):
        assert [name for name in SECRETS if name.encode() in body] == []
    for body in every_answer(site, None):
        hidden = (*SECRETS, ANNA, "7100071", "r01c01")
        assert [name for name in hidden if name.encode() in body] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [("user", BEN), ("user", "carol"), ("job", "7300073"), ("node", "r02c02"),
     ("executable", "ben.x"), ("group", "secretgroup"), ("project", "benproject")],
)  # fmt: skip
def test_a_filter_by_a_foreign_name_is_one_by_a_name_that_is_not_there(site, key, value):
    def answered(name):
        answer = site.ask("anna", "/api/v1/query/top", by="user", **{key: name})
        told = json.loads(answer.text.replace(name, "NAME"))
        hint = told["about"].pop("empty").partition("; did you mean")[2]
        assert not set(re.findall(r"'([^']+)'", hint)) & set(SECRETS)
        return answer.status_code, told

    assert answered(value) == answered("nobodyatall")
    assert site.rows("admin", "top", by="user", **{key: value})


@pytest.mark.parametrize("glob", ["2002*", "c*", "[c]arol", "?????", "20020000..20029999", "b..d"])
def test_a_glob_or_a_range_finds_only_what_is_shown(site, glob):
    shown = site.rows("anna", "top", by="user", user=glob)
    assert {ANNA, *known_to_anna("user", shown)} == {ANNA}
    assert site.now("anna", by="user", user=glob) == [] or glob == "b..d"
    everybody = site.rows("anna", "top", by="user", user="!" + glob)
    assert len(everybody) == len(site.rows("anna", "top", by="user"))


def test_numbers_cannot_be_told_apart_by_a_filter_that_a_foreign_name_fits(site):
    """What is left when some are left out would tell what they do."""

    def total(**filters):
        return sum(row["total"] for row in site.rows("anna", "top", by="kind", **filters))

    assert total() == total(user="!carol") == total(job="!73*") == total(node="!r02*")


def test_a_filter_by_a_pseudonym_leads_on_to_what_is_behind_it(site):
    for row in site.rows("anna", "top", by="user"):
        user = row["user"]
        if user is None:
            continue
        (same,) = site.rows("anna", "top", by="user", user=user)
        assert same["total"] == row["total"]
        assert (
            sum(r["total"] for r in site.rows("anna", "top", by="job", user=user)) == row["total"]
        )
        now = [r for r in site.now("anna", by="user") if r["user"] == user]
        assert now == site.now("anna", by="user", user=user)


def test_now_and_the_past_use_the_same_names(site):
    for who in ("anna", None):
        for key in PEOPLE_KEYS:
            now = {row[key] for row in site.now(who, by=key)}
            assert now == {row[key] for row in site.rows(who, "top", by=key, **FROM)}


def test_order_says_nothing_about_names(site):
    """Rows of equal size, and tables that are sorted by name, are in the order of what is shown."""
    rows = site.rows("anna", "series", by="user")
    for time in {row["time"] for row in rows}:
        shown = [row["user"] for row in rows if row["time"] == time]
        assert [name for name in shown if name] == sorted(name for name in shown if name)


def test_who_makes_up_the_job_id_of_somebody_else_does_not_learn_who_that_is(site):
    """Anna ran under Ben's job id: her row has the name that she gave it, Ben's has none of it."""
    rows = site.rows("anna", "top", by="user,job", job="7200072")
    assert names(rows, "user") == [ANNA]
    assert site.rows("anna", "top", by="project", job="7200072")[0]["project"] is None
    # And Ben's row under Anna's job id is Ben's.
    assert all(row["user"] == ANNA for row in site.rows("anna", "top", by="user", job="7100071"))


def test_a_value_that_two_people_have_has_two_pseudonyms(site):
    """Else whoever shares a node, a program or a project would know the other's pseudonym of it."""
    for key, value in (("executable", "vasp"), ("group", "annagroup"), ("node", "r01c01")):
        admin = site.rows("admin", "top", by=f"user,{key}", **{key: value})
        assert len(admin) == 2
        assert len(site.rows(None, "top", by=key)) > len(site.rows("admin", "top", by=key))
    shared = site.rows("anna", "top", by="user,node", node="r01c01")
    assert names(shared, "user") == [ANNA]


def test_a_row_without_a_user_is_whose_the_scheduler_says(site):
    rows = site.rows("anna", "top", by="job")
    assert "7500075" in names(rows, "job")
    assert "7600076" not in names(rows, "job")


def test_two_users_see_each_other_under_pseudonyms_and_the_same_third_one_alike(site):
    seen = {who: {row["user"] for row in site.rows(who, "top", by="user")}
            for who in ("anna", "ben", "carol", None)}  # fmt: skip
    assert ANNA not in seen["ben"]
    assert BEN not in seen["anna"]
    hidden = seen[None] - {None}
    assert seen["anna"] - {ANNA, None} < hidden
    assert (seen["anna"] & seen["ben"]) - {None} == hidden - alias_of(seen, "anna") - alias_of(
        seen, "ben"
    )


def alias_of(seen, who):
    """Return how somebody is called by those who may not see the name."""
    return seen[None] - seen[who]


def test_login_nodes_can_be_told_from_others_and_have_no_names(site):
    rows = site.rows("anna", "top", by="node", login="yes")
    assert [re.sub(r"-[0-9a-f]{10}$", "", name) for name in names(rows, "node")] == ["login-node"]
    assert [row["total"] for row in rows] == [
        row["total"] for row in site.rows("admin", "top", by="node", login="yes")
    ]


@pytest.mark.parametrize("style", ["arrow", "parquet", "csv"])
def test_a_cached_answer_of_an_admin_is_shown_to_nobody_else(site, style):
    for _ in range(2):
        for who in ("admin", "anna", None):
            body = site.ask(who, "/api/v1/query/top", by="user", format=style).content
            if style == "arrow":
                body = str(from_arrow("top", body).to_pylist()).encode()
            assert (b"carol" in body) == (who == "admin"), who


def test_now_is_kept_for_each_audience_and_a_mark_of_one_is_nothing_to_another(site):
    marks = {}
    for who in ("admin", "anna", "ben", None):
        answer = site.ask(who, "/api/v1/now", by="user,job")
        assert answer.headers["cache-control"] == "no-store"
        marks[who] = answer.headers["etag"]
    assert len(set(marks.values())) == 4
    assert marks["admin"] == site.ask("staff", "/api/v1/now", by="user,job").headers["etag"]


def test_what_is_pushed_is_what_may_be_asked(site):
    import httpx

    for who in ("anna", None):
        headers = {"Authorization": f"Bearer {site.tokens[who]}"} if who else {}
        with httpx.stream(
            "GET", f"{site.url}/api/v1/live?by=user,job,node", headers=headers
        ) as live:
            data = next(line for line in live.iter_lines() if line.startswith("data: "))
        assert [name for name in SECRETS if name in data] == []
        assert (ANNA in data) == (who == "anna")


@pytest.mark.parametrize(
    ("path", "words"),
    [("/api/v1/query/top", {"by": "user", "user": "carl"}), ("/api/v1/query/top", {"user": "caro"}),
     ("/api/v1/query/top", {"job": "730007"}), ("/api/v1/query/top", {"node": "r02c0"}),
     ("/api/v1/query/top", {"executable": "victi"}), ("/api/v1/now", {"sort": "carol"}),
     ("/api/v1/incidents", {"user": "carol", "kind": "x"}), ("/api/v1/incidents/x", {})],
)  # fmt: skip
def test_no_hint_and_no_error_guesses_a_foreign_name(site, path, words):
    answer = site.ask("anna", path, **words).text
    for asked in words.values():
        answer = answer.replace(asked, "")
    assert [name for name in SECRETS if name in answer] == []


HOSTILE = "' OR 1=1 --", '"; DROP TABLE series; --', "x') UNION SELECT secret", "?", "$1", "%{x}"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_sql_is_built_from_what_is_asked(site, text):
    """Names of columns, operations and values reach the database as values, or not at all."""
    everybody = len(site.rows("anna", "top", by="user"))
    assert site.rows("anna", "top", by="user", user=text) == []
    assert len(site.rows("anna", "top", by="user", user="!" + text)) == everybody
    for words in ({"by": text}, {"operation": text}, {"by": "user", text: "x"}):
        answer = site.ask("anna", "/api/v1/query/top", **words)
        assert answer.status_code == 400
        assert [name for name in SECRETS if name in answer.text] == []
    assert site.ask("anna", "/api/v1/now", sort=text).status_code == 400


def test_the_own_hostile_names_are_harmless_in_every_export_and_nobody_elses_are_there(site):
    lines = site.ask("ben", "/api/v1/query/top", by="executable", format="csv").text.splitlines()
    assert any(",'=cmd," in line for line in lines)
    assert not any(",=cmd" in line for line in lines)
    for who in ("anna", None):
        assert "=cmd" not in site.ask(who, "/api/v1/query/top", by="executable", format="csv").text


def test_every_answer_forbids_framing_sniffing_caching_and_other_sites(site):
    for path in ("/api/v1/me", "/api/v1/query/top", "/sign-in", "/nothing"):
        headers = site.ask("anna", path).headers
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control")]


def test_a_pseudonym_is_what_the_documented_construction_gives(site, tmp_path):
    """DuckDB's and Python's are one."""
    from pfscope.privacy.pseudonyms import Pseudonyms

    key = Pseudonyms(site.world.engine.store.directory).of(T2)
    shown = set(names(site.rows(None, "top", by="user"), "user"))
    assert {key.name("user", None, user) for user in (ANNA, BEN, "carol")} == shown - {None}
    assert key.name("executable", BEN, "=cmd") in names(
        site.rows("anna", "top", by="executable"), "executable"
    )
    assert key.name("project", None, "secretproject") in names(
        site.rows("anna", "top", by="project"), "project"
    )


def test_pseudonyms_are_others_the_next_day_and_the_same_on_the_same(tmp_path):
    from pfscope.privacy.pseudonyms import Pseudonyms

    pseudonyms = Pseudonyms(tmp_path)
    day_us = 24 * 3600 * 10**6
    midnight = at(minute=0) // day_us * day_us + day_us
    today, still, next_day = (pseudonyms.of(t) for t in (midnight - 1, midnight, midnight + 1))
    said = [key.name("user", None, "carol") for key in (today, still, next_day)]
    assert said[0] == said[1] != said[2]
    assert Pseudonyms(tmp_path).of(midnight).name("user", None, "carol") == said[0]


def test_the_secret_is_ours_alone_and_neither_empty_nor_told(tmp_path, capfd):
    from pfscope.errors import InputError
    from pfscope.privacy.pseudonyms import Pseudonyms

    Pseudonyms(tmp_path)
    path = tmp_path / "privacy.key"
    assert path.stat().st_mode & 0o777 == 0o600
    secret = path.read_text()
    assert repr(Pseudonyms(tmp_path).of(T2)) == "<pseudonyms of 2022-10-27>"
    path.chmod(0o644)
    with pytest.raises(InputError, match="others can read"):
        Pseudonyms(tmp_path)
    for content in ("", "\n", "0" * 63, "x" * 64):
        path.chmod(0o600)
        path.write_text(content)
        with pytest.raises(InputError, match="holds no key"):
            Pseudonyms(tmp_path)
    assert secret.strip() not in "".join(capfd.readouterr())


def test_staff_see_the_groups_and_projects_that_the_site_lets_them_see(tmp_path):
    rules = {"staff_sees_groups": ("secret*",), "staff_sees_projects": ("secretproject",)}
    with people(tmp_path, **rules) as site:
        rows = site.rows("staff", "top", by="user,group,job")
        seen = {(row["user"], row["group"]) for row in rows
                if not re.fullmatch(ALIAS, row["user"] or "user-0000000000")}  # fmt: skip
        assert seen == {(BEN, "secretgroup"), ("carol", None)} or seen == {
            (BEN, "secretgroup"), ("carol", "")
        }  # fmt: skip
        assert ANNA not in {row["user"] for row in rows}
        shown = {row["user"] for row in site.now("staff", by="user")}
        assert {BEN, "carol"} <= shown
        assert ANNA not in shown
