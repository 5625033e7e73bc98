"""Who is who by configuration, and sessions with a clock of the test's own."""

import doctest
import grp
import os
import pwd
from dataclasses import fields
from pathlib import Path

import pytest

from pfscope.config import parse_config
from pfscope.errors import UsageError
from pfscope.privacy import people
from pfscope.privacy.audience import ALL, Audience
from pfscope.privacy.people import Role, role_of, users_of
from pfscope.privacy.settings import Privacy
from pfscope.server.errors import Refusal
from pfscope.server.sessions import MOST, MOST_OF_ONE, TRIES, Sessions, Tries
from pfscope.server.tokens import Token

ROOT = Path(__file__).resolve().parents[2]


def read(text):
    return parse_config(text, "x.toml").privacy


def test_the_table_closes_the_server_and_says_who_is_who():
    assert not read("").given
    privacy = read(
        '[privacy]\nadmins = ["carl"]\nsession = "1h"\nlook_up = false\nusers = {anna = ["1001"]}'
    )
    assert privacy.given
    assert privacy.session_us == 3600 * 10**6
    assert [role_of(name, privacy) for name in ("carl", "anna")] == [Role.ADMIN, Role.USER]
    assert users_of("anna", privacy) == ("1001",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[privacy]\nanonymus = "x"', "did you mean 'anonymous'?"),
        ('[privacy]\nanonymous = "names"', "nothing or pseudonyms"),
        ('[privacy]\nproxy_header = "Cookie"', "no name of a header"),
        ('[privacy]\nproxy_header = "X: y"', "no name of a header"),
        ('[privacy]\nproxy_from = ["everywhere"]', "is no address"),
        ("[privacy]\nroot_is_admin = 1", "must be true or false"),
        ("[privacy]\nusers = 1", "users must be a table"),
        ("[privacy]\nusers = {anna = 1001}", "users.anna must be a list of strings"),
        ("privacy = 1", "must be a table"),
        ("[privacy]\ngiven = false", "unknown key 'given'"),
    ],
)
def test_mistakes_are_told_with_the_place(text, told):
    with pytest.raises(UsageError, match=r"^x.toml: \[privacy\]") as caught:
        read(text)
    assert told in str(caught.value)


def test_every_key_is_documented_with_its_default():
    text = (ROOT / "docs/reference/configuration.md").read_text()
    keys = {field.name.removesuffix("_us") for field in fields(Privacy)} - {"given"}
    assert [key for key in keys if f"`{key}`" not in text] == []
    addresses = ", ".join(f'"{address}"' for address in Privacy().proxy_from)
    assert f"| `proxy_from` | `[{addresses}]` |" in text


def test_the_machines_groups_make_staff_and_its_accounts_tell_uids():
    me = pwd.getpwuid(os.getuid())
    group = grp.getgrgid(me.pw_gid).gr_name
    assert role_of(me.pw_name, Privacy(staff_groups=(group,))) is Role.STAFF
    assert role_of(me.pw_name, Privacy(admin_groups=(group,))) is Role.ADMIN
    assert role_of(me.pw_name, Privacy(admin_groups=(group,), look_up=False)) is Role.USER
    assert role_of("nobody-of-here", Privacy(admin_groups=(group,))) is Role.USER
    assert users_of(me.pw_name, Privacy()) == (me.pw_name, str(me.pw_uid))


def test_the_examples_hold():
    assert doctest.testmod(people).failed == 0


def test_roles_are_audiences():
    limited = Privacy(staff_sees_groups=("physics",))
    assert Audience.of(Role.STAFF, (), Privacy()) is ALL
    assert Audience.of(Role.STAFF, ("1",), limited) == Audience(False, ("1",), ("physics",))
    assert Audience.of(Role.USER, ("1",), limited) == Audience(users=("1",))
    assert Audience.of(Role.ANONYMOUS, ("1",), limited) == Audience()
    assert Audience.of(Role.ADMIN, (), limited) is ALL


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def token(name):
    return Token(name, name * 64, (), "", role="user")


def test_a_session_ends_with_its_time():
    clock = Clock()
    sessions = Sessions(60.0, clock)
    secret = sessions.begin(token("a"))
    assert sessions.find(secret).token.name == "a"
    assert sessions.find("") is None
    assert sessions.find(secret + "x") is None
    clock.now = 60.0
    assert sessions.find(secret) is None
    assert len(sessions) == 0


def test_sessions_are_bounded_for_each_and_for_all():
    sessions = Sessions(60.0, Clock())
    own = [sessions.begin(token("a")) for _ in range(MOST_OF_ONE + 5)]
    assert len(sessions) == MOST_OF_ONE
    assert [sessions.find(secret) is None for secret in own[:6]] == [True] * 5 + [False]
    for n in range(MOST + 10):
        sessions.begin(token(str(n)))
    assert len(sessions) == MOST
    assert sessions.find(own[-1]) is None


def test_failures_are_forgotten_after_a_minute_and_are_those_of_one_address():
    clock = Clock()
    tries = Tries(clock)
    for _ in range(TRIES):
        tries.check("a")
        tries.failed("a")
    with pytest.raises(Refusal) as caught:
        tries.check("a")
    assert caught.value.headers["Retry-After"] == "61"
    tries.check("b")
    clock.now = 61.0
    tries.check("a")
