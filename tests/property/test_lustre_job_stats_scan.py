"""The array scanner against a plain reader, on texts of any shape, in pieces of any size."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.lustre import job_stats
from pfscope.lustre.job_stats import iter_job_stats, parse_job_stats
from tests.support.flatten import entries_of
from tests.support.job_stats_texts import entries, texts
from tests.support.reference_reader import read

GOOD = (
    b"- job_id:          4242:1000:r01c01\n  snapshot_time:   1322494486\n"
    b"  open:            { samples:           7, unit:  reqs }\n"
)


@settings(deadline=None, max_examples=60)
@given(texts())
def test_reads_what_a_plain_reader_reads(text):
    stats = parse_job_stats(text)
    assert entries_of(stats) == read(text)
    assert stats.defects.counts == {}


@settings(deadline=None, max_examples=30)
@given(texts(), st.integers(1000, 4000), st.integers(1, 2000))
def test_pieces_and_chunks_of_any_size_change_nothing(text, piece, chunk):
    chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)]
    size, job_stats.PIECE_BYTES = job_stats.PIECE_BYTES, piece
    try:
        whole = entries_of(parse_job_stats(chunks))
        batches = [row for batch in iter_job_stats(chunks) for row in entries_of(batch)]
    finally:
        job_stats.PIECE_BYTES = size
    assert whole == batches == read(text)


@settings(deadline=None, max_examples=60)
@given(texts(), st.data())
def test_a_good_entry_survives_whatever_stands_before_it(text, data):
    cut = data.draw(st.integers(0, len(text)))
    rubbish = data.draw(st.binary(max_size=200))
    last = entries_of(parse_job_stats(text[:cut] + rubbish + GOOD))[-1]
    # An unfinished id line swallows what follows on the same line, and may end with our mark.
    unfinished = (text[:cut] + rubbish).rpartition(b"\n")[2]
    if not unfinished.startswith(b"- job_id:"):
        assert last[1:] == (
            b"4242:1000:r01c01",
            {"snapshot_time": 1322494486 * 10**9},
            {"open": ("reqs", 7, None, None, None, None, [])},
        )


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=2000))
def test_no_bytes_are_too_strange(text):
    stats = parse_job_stats(text)
    assert stats.entries <= text.count(b"- job_id:")


@settings(deadline=None, max_examples=60)
@given(entries(), st.data())
def test_a_text_cut_anywhere_invents_nothing(entry, data):
    """Every counter of a torn entry is one of the whole entry's."""
    text = b"job_stats:\n" + entry
    cut = data.draw(st.integers(0, len(text)))
    whole = entries_of(parse_job_stats(text))
    torn = entries_of(parse_job_stats(text[:cut]))
    assert [row[1] for row in torn] in ([], [whole[0][1]])
    for row in torn:
        assert row[3].items() <= whole[0][3].items()
