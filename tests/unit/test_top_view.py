"""Views: what is asked of a server for them, and that a name is found as itself alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfscope.now.patterns import fits
from pfscope.now.wish import Wish
from pfscope.query.key_names import exactly, literally
from pfscope.top.view import DEEPER, GROUPS, View

TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1)
HARD = st.text("*?[]!.~ab-^\\", min_size=1)


@given(TEXT | HARD, TEXT | HARD)
def test_a_pattern_for_one_name_fits_it_and_no_other(name, other):
    assert fits(name, [exactly(name)])
    if not name.startswith("!") and other != name:
        assert not fits(other, [exactly(name)])


@given(TEXT | HARD, TEXT, TEXT)
def test_what_is_typed_is_found_wherever_it_stands(typed, before, behind):
    assert fits(before + typed + behind, [f"*{literally(typed)}*"])


@given(TEXT)
def test_what_has_no_name_is_found_alone(name):
    assert fits(None, [exactly(None)])
    assert not fits(name, [exactly(None)])


@pytest.mark.parametrize("group", GROUPS)
def test_looking_in_again_and_again_comes_to_an_end(group):
    view, seen = View().grouped(group), []
    while view is not None:
        seen.append(view.by[0])
        assert Wish.read(view.words()).by == view.by
        view = view.deeper(tuple(f"{key}-name" for key in view.by))
    assert len(seen) == len(set(seen)) <= len(GROUPS)
    assert seen[0] == group


def test_every_group_leads_to_one_that_there_is():
    assert set(DEEPER.values()) <= set(GROUPS)
    assert View(by=("class",)).deeper(("sound",)) is None


def test_what_is_typed_narrows_what_was_asked_and_never_widens_it():
    plain = View(typed="a.b")
    assert plain.words()["user"] == ["*a.b*"]
    narrowed = View(where=(("user", ("100*",)),), typed="5")
    assert narrowed.words()["user"] == ["100*"]
    assert narrowed.shows(("1005",))
    assert not narrowed.shows(("1001",))


def test_a_moment_and_a_stretch_are_words_too():
    words = View(over="5m", sort="open", limit=7).words("2022-10-27T00:00:00Z")
    wish = Wish.read(words)
    assert (wish.at, wish.over_us, wish.sort, wish.limit) == (
        "2022-10-27T00:00:00Z", 300 * 10**6, "open", 7,
    )  # fmt: skip
