"""Expressions in text: what they mean, and that what is not understood is refused in one line."""

import doctest

import pytest

from pfscope.errors import UsageError
from pfscope.mine import expression, units
from pfscope.mine.expression import Call, Name, Number, Text, parse


@pytest.mark.parametrize("module", [units, expression])
def test_examples(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("count()", Call("count", ())),
        ("a + b * -2", Call("+", (Name("a"), Call("*", (Name("b"), Number(-2)))))),
        ("a - b - c", Call("-", (Call("-", (Name("a"), Name("b"))), Name("c")))),
        ("(a - b)", Call("-", (Name("a"), Name("b")))),
        (
            "not a = 1 and b",
            Call("and", (Call("not", (Call("=", (Name("a"), Number(1))),)), Name("b"))),
        ),
        ("a or b and c", Call("or", (Name("a"), Call("and", (Name("b"), Name("c")))))),
        ("x not in ('a', \"b\")", Call("not", (Call("in", (Name("x"), Text("a"), Text("b"))),))),
        ("x IS NOT NULL", Call("not", (Call("is null", (Name("x"),)),))),
        ("bw < 1.5GiB/s", Call("<", (Name("bw"), Number(1610612736)))),
        ("bytes/s", Call("/", (Name("bytes"), Name("s")))),
        ("t >= 90m", Call(">=", (Name("t"), Number(5400)))),
        ("a == 'it''s'", Call("=", (Name("a"), Text("it's")))),
        ("a <> 1e3", Call("!=", (Name("a"), Number(1000)))),
    ],
)  # fmt: skip
def test_what_texts_mean(text, tree):
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its end"), ("a b", "'b'"), ("a; DROP TABLE x", "; DROP"), ("a.b", "'.b'"),
        ("__import__('os').system('id')", ".system"), ("a = ", "its end"), ("'abc", "'abc"),
        ("f(a", ") is missing"), ("1XB", "no unit is called XB"), ("1gb", "did you mean"),
        ("(" * 60, "too deep"), ("a" * 20_000, "too long"), ("lambda: 1", "': 1'"),
        ("not " * 60 + "a", "too deep"), ("-" * 100 + "a", "too deep"), ("a in", "( is missing"),
        ("a and", "its end"), ("9999999999PB", "too large"), ("a @ b", "'@ b'"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(text, said):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
