"""Whatever is asked, in whatever text: a request, or one sentence about what makes no sense."""

import json
from contextlib import suppress

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.errors import UsageError
from pfscope.query.keys import KEYS
from pfscope.query.questions import QUESTIONS
from pfscope.query.request import Form, Option, as_stored
from pfscope.query.results import Result
from pfscope.query.written import as_arrow, as_csv, as_json, from_arrow
from pfscope.times import time_us
from pfscope.untrusted import ascii_text

QUICK = settings(max_examples=100, deadline=None)
FORM = Form(
    ("user",),
    (
        Option("limit", int, 20, ""),
        Option("bucket", float, None, ""),
        Option("way", str, "a", "", ("a", "b")),
        Option("all", bool, False, ""),
    ),
)
NAMES = st.sampled_from([*KEYS, "from", "to", "step", "by", "system", "login", "limit", "bucket"])
TEXTS = st.text(max_size=12) | st.from_regex(r"-?[0-9]{1,12}[smhdw]?", fullmatch=True)
WORDS = st.dictionaries(NAMES | st.text(max_size=6), st.lists(TEXTS, max_size=3), max_size=5)


@QUICK
@given(WORDS)
def test_any_words_are_a_request_or_refused(words):
    try:
        request = FORM.request(words)
    except UsageError:
        return
    assert set(request.by) <= set(KEYS)
    assert dict(request.options).keys() == {"limit", "bucket", "way", "all"}
    for _key, patterns in request.where:
        assert all(p.isascii() and p.isprintable() for p in patterns)


@QUICK
@given(WORDS)
def test_the_order_of_words_does_not_matter(words):
    def read(given_words):
        try:
            return FORM.request(given_words)
        except UsageError:
            return None

    assert read(words) == read(dict(reversed(words.items())))


@QUICK
@given(TEXTS, st.integers(0, 10**16), st.booleans())
def test_any_time_can_be_compared_with_the_data_or_is_refused(text, now_us, end):
    try:
        found = time_us(text, now_us=now_us, end=end)
    except UsageError:
        return
    assert 0 <= found <= 10**16


@QUICK
@given(st.binary(max_size=20).filter(lambda raw: b"\\" not in raw))
def test_a_name_as_it_was_typed_is_the_one_in_the_store(raw):
    assert as_stored(raw.decode("utf-8", "surrogateescape")) == ascii_text(raw)


@QUICK
@given(st.text())
def test_a_name_out_of_an_answer_stays_as_it_is(text):
    assert as_stored(as_stored(text)) == as_stored(text)


def test_every_question_takes_the_words_of_its_help():
    for question in QUESTIONS.values():
        request = question.form.request({})
        assert request.by == question.form.by
        assert dict(request.options) == {o.name: o.default for o in question.form.options}


ROWS = pa.table({"n": pa.array([1.0, None]), "s": ["=x", "y"]})
ANSWER = Result("top", ROWS, {"unit": "bytes"})


@QUICK
@given(st.data())
def test_a_damaged_stream_breaks_nothing(data):
    stream = bytearray(as_arrow(ANSWER))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError):
        from_arrow("top", bytes(stream[: data.draw(st.integers(0, len(stream)))]))


NOTES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.floats().map(np.float64),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@QUICK
@given(st.dictionaries(st.text(), NOTES, max_size=3))
def test_whatever_is_told_beside_the_rows_arrives(about):
    there = from_arrow("top", as_arrow(Result("top", ROWS, about))).about
    assert there == json.loads(as_json(Result("top", ROWS, about)))["about"]
    assert there.keys() == about.keys()


@QUICK
@given(st.floats() | st.integers(-(2**60), 2**60).map(float))
def test_numbers_keep_all_their_digits_and_are_json(value):
    result = Result("top", pa.table({"n": [value]}), {})
    text = as_csv(result).decode().splitlines()[1].strip('"')
    finite = abs(value) < float("inf")
    assert float(text) == value if finite else text == ""
    assert (b"NaN" in as_json(result), b"Infinity" in as_json(result)) == (False, False)
