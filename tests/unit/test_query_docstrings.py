"""The examples in the docstrings of the query layer are true."""

import doctest

import pandas as pd
import pytest

import pfscope
from pfscope import times
from pfscope.query import causes, data
from tests.support.query_store import make_store

LAYOUT = doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("module", [data, causes, times])
def test_examples(module, tmp_path):
    with pfscope.open(make_store(tmp_path)) as opened, pd.option_context("display.width", 100):
        found = doctest.testmod(module, extraglobs={"data": opened}, optionflags=LAYOUT)
    assert found.attempted
    assert not found.failed
