"""A table of malformed job_stats, each defect named; the good entry behind it is always read."""

import pytest

from pfscope.lustre.job_stats import parse_job_stats
from tests.support.flatten import entries_of

GOOD = (
    b"- job_id:          wget.1000\n"
    b"  snapshot_time:   1322494486\n"
    b"  open:            { samples:           7, unit:  reqs }\n"
)
READ = ("", b"wget.1000", {"snapshot_time": 1322494486 * 10**9},
        {"open": ("reqs", 7, None, None, None, None, [])})  # fmt: skip
HEAD = b"- job_id:          a.1\n  snapshot_time:   1\n"
OPEN = b"  open:            { samples:           7, unit:  reqs }\n"

CASES = {
    "nothing at all": (b"", []),
    "binary rubbish": (b"\x00\xff\x00\n", ["unreadable line"]),
    "a shell prompt": (b"# lctl get_param mdt.*.job_stats\n", ["unreadable line"]),
    "an error of lctl": (b"error: get_param: param_path 'x': No such file\n", ["unreadable line"]),
    "header twice": (b"job_stats:\njob_stats:\n", []),
    "no header": (b"", []),
    "a counter before any entry": (b"job_stats:\n" + OPEN, ["counter or time outside an entry"]),
    "a time before any entry": (b"  snapshot_time:   1\n", ["counter or time outside an entry"]),
    "a counter after a parameter": (
        HEAD + b"mdt.fs-MDT0000.job_stats=\n" + OPEN + b"mdt.job_stats=\n",
        ["counter or time outside an entry"],
    ),
    "a record cut in its counter": (HEAD + b"  open:            { samples:       ",
                                    ["unreadable counter"]),
    "a record cut in its time": (b"- job_id:          a.1\n  snapshot_ti",
                                 ["entry without snapshot_time", "unreadable line"]),
    "a record cut in the middle of a word": (HEAD + b"  op", ["unreadable line"]),
    "no time": (b"- job_id:          a.1\n" + OPEN, ["entry without snapshot_time"]),
    "a time that is no number": (b"- job_id:          a.1\n  snapshot_time:   soon\n",
                                 ["entry without snapshot_time", "unreadable time"]),
    "a time after the end of time": (
        b"- job_id:          a.1\n  snapshot_time:   99999999999999\n",
        ["entry without snapshot_time", "unreadable time"],
    ),
    "a negative number": (HEAD + OPEN.replace(b" 7,", b"-7,"), ["unreadable counter"]),
    "a number above 64 bits": (
        HEAD + b"  open:  { samples: 18446744073709551616, unit:  reqs }\n",
        ["number above 64 bits"],
    ),
    "a sum above 64 bits": (
        HEAD + b"  open:            { samples:           7, unit: usecs, min:        1, "
        b"max:        1, sum: 18446744073709551616, sumsq:                  7 }\n",
        ["number above 64 bits"],
    ),
    "a sum of 25 digits": (
        HEAD + b"  open:            { samples:           7, unit: usecs, min:        1, "
        b"max:        1, sum: 1844674407370955161600000, sumsq:                  7 }\n",
        ["unreadable counter"],
    ),
    "no unit": (HEAD + b"  open:            { samples:           7 }\n", ["unreadable counter"]),
    "a counter without its brace": (HEAD + OPEN.replace(b" }", b""), ["unreadable counter"]),
    "min without max": (HEAD + OPEN.replace(b" }", b", min: 1 }"), ["unreadable counter"]),
    "an odd histogram": (
        HEAD + b"  read_bytes:      { samples:           1, unit: bytes, min:     4096, max:     "
        b"4096, sum:             4096, sumsq:           16777216, hist: { 4K; 1 } }\n",
        ["unreadable histogram"],
    ),
    "an unclosed histogram": (
        HEAD + b"  read_bytes:      { samples:           1, unit: bytes, min:     4096, max:     "
        b"4096, sum:             4096, sumsq:           16777216, hist: { 4K: 1 }\n",
        ["unreadable counter"],
    ),
    "two records in one line": (HEAD + OPEN.rstrip(b"\n")[:-2], ["unreadable counter"]),
    "an id that looks like a record": (
        b"- job_id:          - job_id: x\n  snapshot_time:   1\n", []
    ),
    "a line of a megabyte": (b"x" * (1 << 20) + b"\n", ["unreadable line"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_defect_is_named_and_the_next_entry_is_read(name):
    rubbish, reasons = CASES[name]
    stats = parse_job_stats(rubbish + GOOD)
    last = entries_of(stats)[-1]
    assert last[1:] == READ[1:]
    assert sorted(stats.defects.counts) == reasons
    for defect in stats.defects.first:
        assert 0 <= defect.offset < len(rubbish)


def test_offsets_say_where_the_defect_begins():
    text = b"job_stats:\n" + GOOD + b"rubbish\n" + GOOD
    (defect,) = parse_job_stats(text, offset=1000).defects.first
    assert (defect.offset, defect.reason) == (1000 + text.index(b"rubbish"), "unreadable line")


def test_an_id_at_the_torn_end_of_the_text_names_nobody():
    stats = parse_job_stats(GOOD + b"- job_id:          1131785")
    assert [row[1] for row in entries_of(stats)] == [b"wget.1000"]
    assert stats.defects.counts == {"entry cut at the end of the text": 1}


def test_defects_of_any_number_are_counted_and_the_first_are_kept():
    stats = parse_job_stats(b"rubbish\n" * 5000 + GOOD)
    assert stats.defects.counts == {"unreadable line": 5000}
    assert len(stats.defects.first) == 1000
