"""Node lists of Slurm, expanded; lists that are none, or far too long, are refused."""

import pytest

from pfscope.errors import InputError
from pfscope.logs.node_list import LIMIT, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("r01c01", ["r01c01"]),
        ("r01c[01-03,07],login1", ["r01c01", "r01c02", "r01c03", "r01c07", "login1"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[009-011]", ["n009", "n010", "n011"]),
        ("n[001-3]", ["n001", "n002", "n003"]),
        ("a[1-2]b[3-4]", ["a1b3", "a1b4", "a2b3", "a2b4"]),
        ("a[1-2][3,5]", ["a13", "a15", "a23", "a25"]),
        ("n[1-2]-ib.cluster", ["n1-ib.cluster", "n2-ib.cluster"]),
        ("[1-2]", ["1", "2"]),
        ("n[1,1]", ["n1", "n1"]),
        (" n1 ", ["n1"]),
        ("d09n04s[01-02],d13n[03,05,07-08,16]",
         ["d09n04s01", "d09n04s02", "d13n03", "d13n05", "d13n07", "d13n08", "d13n16"]),
    ],
)  # fmt: skip
def test_names(text, names):
    assert expand(text) == names


@pytest.mark.parametrize("text", ["", "None assigned", "None", "(null)", "Unknown"])
def test_nobody(text):
    assert expand(text) == []


@pytest.mark.parametrize(
    "text",
    ["n[1-2", "n1]", "n[[1]]", "n[]", "n[a-b]", "n[3-1]", "n[1-2-3]", "n[-1]", "n1,,n2", ",n1",
     "n1,", "n 1", "n[1 2]", "n[\u0661-\u0662]", "n[1-10:2]", "n[" + "9" * 30 + "]"],
)  # fmt: skip
def test_what_is_no_node_list_is_refused(text):
    with pytest.raises(InputError, match="is no node list"):
        expand(text)


@pytest.mark.parametrize(
    "text",
    ["n[0-999999999]", "n[0-999999999999999999]", "a[0-999][0-999][0-999]" * 40,
     ",".join(["n[1-1000]"] * 101)],
)  # fmt: skip
def test_a_list_of_too_many_is_refused_before_it_is_made(text):
    with pytest.raises(InputError, match=f"over {LIMIT}"):
        expand(text)


def test_the_limit_can_be_moved():
    assert len(expand(f"n[1-{LIMIT}]")) == LIMIT
    with pytest.raises(InputError, match="stands for 3 nodes, over 2"):
        expand("n[1-3]", limit=2)


def test_an_error_shows_hostile_text_harmlessly_and_shortly():
    with pytest.raises(InputError) as caught:
        expand("\x1b[2J\n" + "x" * 5000)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200
