"""Signing in, and every other way in which a server learns who asks, over real connections."""

import os
import pwd
import re
import subprocess
import sys

import httpx
import pytest

import pfscope
from pfscope.config import Config
from pfscope.privacy.settings import Privacy
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.server.sessions import TRIES
from pfscope.server.tokens import Gate, TokenFile
from tests.support.query_store import make_store
from tests.support.serve_process import served
from tests.support.server_world import server

ME = "/api/v1/me"
PROXY = Privacy(proxy_header="X-Remote-User", look_up=False, admins=("root",), given=True)


@pytest.fixture
def site(tmp_path):
    """A server with a user, a staff member, an admin and an agent; and their tokens."""
    file = TokenFile(tmp_path)
    tokens = {
        "anna": file.add("anna", role="user", users=("1001",)),
        "ben": file.add("ben", role="staff"),
        "carl": file.add("carl", role="admin"),
        "agent": file.add("agent", ("*",)),
    }
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    with server(tmp_path, engine=engine, gate=Gate(file)) as world:
        world.tokens, world.file = tokens, file
        yield world


def sign_in(world, who, **headers):
    return world.client.post("/sign-in", json={"token": world.tokens[who]}, headers=headers)


def me(world, **headers):
    return world.client.get(ME, headers=headers).json()


def bearer(world, who):
    return {"Authorization": f"Bearer {world.tokens[who]}"}


@pytest.mark.parametrize(
    ("who", "role", "user"),
    [("anna", "user", "1001"), ("ben", "staff", "ben"), ("carl", "admin", "carl")],
)
def test_a_token_signs_in_and_the_page_learns_who_it_is(site, who, role, user):
    assert site.error(site.client.get(ME)) == (401, "token")
    assert sign_in(site, who).status_code == 204
    told = me(site)
    assert told.pop("csrf")
    assert told == {"role": role, "name": who, "user": user, "session": True, "plain": False}


def test_a_token_says_the_same_without_a_session_and_needs_no_mark(site):
    assert me(site, **bearer(site, "anna")) == {
        "role": "user", "name": "anna", "user": "1001", "csrf": None, "session": False,
        "plain": False,
    }  # fmt: skip
    assert "set-cookie" not in site.client.get(ME, headers=bearer(site, "anna")).headers


def test_without_tokens_everybody_on_the_machine_is_admin(tmp_path):
    with server(tmp_path) as world:
        assert me(world) == {
            "role": "admin", "name": None, "user": None, "csrf": None, "session": False,
            "plain": True,
        }  # fmt: skip


def test_no_script_and_no_other_site_gets_at_the_cookie(site):
    answer = sign_in(site, "anna")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert site.tokens["anna"] not in cookie
    # A browser that came over TLS, through a proxy, says so.
    host = site.url.removeprefix("http://")
    refused = sign_in(site, "anna", Origin="https://elsewhere")
    assert site.error(refused) == (403, "origin")
    answer = sign_in(site, "anna", Origin=f"https://{host}")
    assert answer.headers["set-cookie"].startswith("__Host-pfscope=")
    assert "Secure" in answer.headers["set-cookie"].split("; ")


def test_a_second_sign_in_is_a_new_session_and_ends_the_old_one(site):
    first = sign_in(site, "anna").cookies["pfscope"]
    second = sign_in(site, "anna").cookies["pfscope"]
    assert first != second
    old = httpx.get(site.url + ME, headers={"Cookie": f"pfscope={first}"})
    assert old.status_code == 401
    assert me(site)["name"] == "anna"


def test_signing_out_needs_the_mark_and_ends_the_session_in_the_server(site):
    secret = sign_in(site, "anna").cookies["pfscope"]
    mark = me(site)["csrf"]
    for wrong in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": mark[:-1] + "x"}):
        assert site.error(site.client.post("/sign-out", headers=wrong)) == (403, "csrf")
    assert site.client.post("/sign-out", headers={"X-CSRF-Token": mark}).status_code == 204
    for cookies in ({}, {"Cookie": f"pfscope={secret}"}):
        assert httpx.get(site.url + ME, headers=cookies).status_code == 401


def test_the_mark_of_one_session_is_no_good_in_another(site):
    sign_in(site, "carl")
    mark = me(site)["csrf"]
    with httpx.Client(base_url=site.url) as other:
        other.post("/sign-in", json={"token": site.tokens["carl"]})
        answer = other.post("/sign-out", headers={"X-CSRF-Token": mark})
        assert site.error(answer) == (403, "csrf")


def test_what_a_cookie_may_change_a_page_of_another_site_may_not(site):
    sign_in(site, "carl")
    path = "/api/v1/incidents/20260101T0000-abcdef/acknowledge?author=x&comment=y"
    assert site.error(site.client.post(path)) == (403, "csrf")
    mark = {"X-CSRF-Token": me(site)["csrf"]}
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert site.error(site.client.post(path, headers=mark | headers)) == (403, "origin")
    # What has it gets as far as the incident, which is not there.
    assert site.error(site.client.post(path, headers=mark)) == (404, "no-data")


def test_a_form_of_another_site_cannot_sign_anybody_in(site):
    answer = site.client.post("/sign-in", data={"token": site.tokens["anna"]})
    assert site.error(answer) == (415, "type")
    answer = site.client.post(
        "/sign-in", content='{"token": 1}', headers={"Content-Type": "application/json"}
    )
    assert site.error(answer) == (400, "parameter")


def test_a_revoked_token_ends_its_sessions_at_once(site):
    sign_in(site, "anna")
    site.file.revoke("anna", person=True)
    assert site.client.get(ME).status_code == 401
    assert site.error(sign_in(site, "anna")) == (401, "token")


def test_an_agents_token_signs_nobody_in_and_a_persons_sends_no_frames(site):
    assert site.error(sign_in(site, "agent")) == (403, "not-allowed")
    answer = site.lctl(b"x", headers=bearer(site, "carl"))
    assert site.error(answer) == (403, "not-allowed")
    sign_in(site, "carl")
    assert site.lctl(b"x").status_code == 401


def test_who_tries_one_token_after_another_has_to_wait(site):
    for _ in range(TRIES):
        answer = site.client.post("/sign-in", json={"token": "wrong"})
        assert site.error(answer) == (401, "token")
    answer = sign_in(site, "anna")
    assert site.error(answer) == (429, "tries")
    assert 0 < int(answer.headers["retry-after"]) <= 61


def test_metrics_and_the_ledger_are_for_machines_and_admins(site):
    for path in ("/metrics", "/api/v1/ledger"):
        told = {who: site.client.get(path, headers=bearer(site, who)).status_code
                for who in site.tokens}  # fmt: skip
        assert told == {"anna": 403, "ben": 403, "carl": 200, "agent": 200}
        assert site.client.get(path).status_code == 401


def test_users_acknowledge_nothing_and_staff_only_in_their_own_name(site):
    path = "/api/v1/incidents/20260101T0000-abcdef/acknowledge?author=x&comment=y"
    told = {who: site.client.post(path, headers=bearer(site, who)).status_code
            for who in ("anna", "ben", "carl")}  # fmt: skip
    assert told == {"anna": 403, "ben": 404, "carl": 404}


def test_a_trusted_proxy_says_who_it_is_and_its_users_need_the_mark(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    with server(tmp_path, engine=engine, privacy=PROXY) as world:
        anna = {"X-Remote-User": "anna"}
        told = me(world, **anna)
        assert (told["role"], told["name"], told["session"]) == ("user", "anna", False)
        assert me(world, **{"X-Remote-User": "root"})["role"] == "admin"
        assert world.client.get(ME).status_code == 401
        assert world.error(world.client.post("/sign-out", headers=anna)) == (403, "csrf")
        mark = {"X-CSRF-Token": told["csrf"]}
        assert world.client.post("/sign-out", headers=anna | mark).status_code == 204
        ben = {"X-Remote-User": "ben"}
        assert world.error(world.client.post("/sign-out", headers=ben | mark)) == (403, "csrf")


def test_a_proxy_may_pass_on_what_browsers_send_it_but_a_token_goes_first(tmp_path):
    secret = TokenFile(tmp_path).add("carl", role="admin")
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    with server(tmp_path, engine=engine, privacy=PROXY) as world:
        anna = {"X-Remote-User": "anna"}
        assert me(world, **anna, Authorization="Basic YW5uYTp4")["name"] == "anna"
        assert me(world, **anna, Authorization=f"Bearer {secret}")["name"] == "carl"
        answer = world.client.get(ME, headers={**anna, "Authorization": "Bearer wrong"})
        assert world.error(answer) == (401, "token")


def test_a_proxys_header_from_anywhere_else_is_ignored(tmp_path):
    elsewhere = Privacy(proxy_header="X-Remote-User", proxy_from=("192.0.2.1",), given=True)
    with server(tmp_path, privacy=elsewhere) as world:
        headers = {"X-Remote-User": "root", "X-Forwarded-For": "192.0.2.1"}
        assert world.error(world.client.get(ME, headers=headers)) == (401, "token")


@pytest.mark.parametrize(
    "names", [["anna", "root"], ["anna,root"], ["anna root"], ["../root"], ["=cmd"], ["\xe9"]]
)
def test_a_proxy_that_says_two_names_or_nonsense_is_not_believed(tmp_path, names):
    with server(tmp_path, privacy=PROXY) as world:
        headers = [("X-Remote-User", name.encode("latin-1")) for name in names]
        assert world.error(world.client.get(ME, headers=headers)) == (401, "proxy")


def test_a_name_of_digits_is_nobodys_uid(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    with server(tmp_path, engine=engine, privacy=PROXY) as world:
        assert me(world, **{"X-Remote-User": "1001"})["user"] is None


def test_a_server_with_a_site_of_people_is_open_to_nobody(tmp_path):
    with server(tmp_path, privacy=Privacy(given=True)) as world:
        for path in (ME, "/api/v1/query/top", "/api/v1/now", "/metrics"):
            assert world.error(world.client.get(path)) == (401, "token")
        assert world.error(world.lctl(b"x")) == (401, "token")


def test_the_server_answers_to_the_names_that_the_site_gives_it(tmp_path):
    named = Privacy(hosts=("pfscope.example.org",), anonymous="pseudonyms", given=True)
    with server(tmp_path, privacy=named) as world:
        hosts = {"pfscope.example.org": 200, "PFSCOPE.example.org:443": 200, "evil.example": 403}
        told = {host: world.client.get(ME, headers={"Host": host}).status_code for host in hosts}
        assert told == hosts


def test_whoever_is_not_signed_in_is_asked_under_the_machines_own_name_alone(tmp_path):
    with server(tmp_path, privacy=Privacy(anonymous="pseudonyms", given=True)) as world:
        assert me(world)["role"] == "anonymous"
        answer = world.client.get(ME, headers={"Host": "rebound.evil.example"})
        assert world.error(answer) == (403, "host")


def test_the_kernel_says_who_is_at_the_local_socket(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    path = tmp_path / "s"
    mine = Privacy(root_is_admin=False, admins=(), given=True)
    with server(tmp_path, engine=engine, privacy=mine, local=path) as world:
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport, base_url="http://localhost") as local:
            name = pwd.getpwuid(os.getuid()).pw_name
            for lie in ({}, {"X-Remote-User": "root"}, {"Cookie": "pfscope=x"}):
                told = local.get(ME, headers=lie).json()
                assert (told["role"], told["name"], told["csrf"]) == ("user", name, None)
                assert told["user"] == str(os.getuid())
        assert world.client.get(ME).status_code == 401
    assert not path.exists()


def test_the_local_socket_is_no_second_way_in_for_frames(tmp_path):
    path = tmp_path / "s"
    with server(tmp_path, privacy=Privacy(given=True), local=path) as world:
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport, base_url="http://localhost") as local:
            for route in ("/api/v1/frames", "/api/v1/lctl?server=oss1"):
                assert world.error(local.post(route, content=b"x")) == (401, "token")


def test_a_client_asks_through_the_local_socket(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    path = tmp_path / "s"
    with (
        server(tmp_path, engine=engine, privacy=Privacy(given=True), local=path),
        pfscope.open(f"unix://{path}") as data,
    ):
        # Whoever runs the server is its admin.
        assert data.top(operation="open").to_pylist()[0]["user"] == "1001"


def test_a_socket_that_a_dead_server_left_is_replaced_and_any_other_file_is_not(tmp_path):
    from pfscope.errors import InputError
    from pfscope.server.peers import bound_socket

    path = tmp_path / "s"
    with bound_socket(path) as listener:
        path.rename(tmp_path / "left")
        listener.listen()
        with pytest.raises(InputError, match="in use"), bound_socket(tmp_path / "left"):
            pass
    with bound_socket(tmp_path / "left"):
        pass
    path.write_text("mine")
    with pytest.raises(InputError, match="something else has this name"), bound_socket(path):
        pass
    assert path.read_text() == "mine"


def command(*arguments):
    done = [sys.executable, "-m", "pfscope.cli.main", "serve", "user", *arguments]
    return subprocess.run(done, capture_output=True, text=True, timeout=60)


def test_people_are_let_in_and_out_at_the_command_line(tmp_path):
    where = ("--data", str(tmp_path))
    made = command("add", "anna", "--user", "1001", *where)
    assert re.fullmatch(r"pfscope_\S{43}\n", made.stdout)
    assert made.stdout.strip() not in (tmp_path / "tokens.json").read_text()
    assert command("add", "ben", "--role", "staff", *where).returncode == 0
    listed = [line.split() for line in command("list", *where).stdout.splitlines()]
    assert [(name, *more) for name, _when, *more in listed] == [
        ("anna", "user", "1001"), ("ben", "staff"),
    ]  # fmt: skip
    assert command("revoke", "ben", *where).returncode == 0
    assert "ben" not in command("list", *where).stdout
    refused = command("add", "20041", *where)
    assert refused.returncode == 2
    assert "say --user UID" in refused.stderr


def test_a_data_directory_that_everybody_can_read_is_told(tmp_path):
    for mode, told in ((0o755, 1), (0o700, 0)):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data").chmod(mode)
        with served(tmp_path / "data", "--socket", str(tmp_path / "s")) as running:
            assert running.line.endswith(", 0 tokens\n")
            assert running.client.get(ME).status_code == 401
            assert running.end() == 0
            lines = running.process.stderr.read().splitlines()
            assert len([line for line in lines if "chmod 700" in line]) == told
        assert not (tmp_path / "s").exists()
