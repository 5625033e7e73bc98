"""job_stats of each release as it prints them, and whole outputs of lctl."""
# ruff: noqa: E501 - the texts are as Lustre prints them

import pytest

from pfscope.lustre.job_stats import iter_job_stats, parse_job_stats
from tests.support.flatten import entries_of

ID = b"11317854:17627127:r01c01"
SECOND = 10**9

RELEASES = {
    "2.12": (
        b"""job_stats:
- job_id:          11317854:17627127:r01c01
  snapshot_time:   1322494486
  read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  write_bytes:     { samples:          25, unit: bytes, min: 1048576, max:16777216, sum:        26214400 }
  getattr:         { samples:           0, unit:  reqs }
  punch:           { samples:           1, unit:  reqs }
""",
        {"snapshot_time": 1322494486 * SECOND},
        {
            "write_bytes": ("bytes", 25, 1048576, 16777216, 26214400, None, []),
            "punch": ("reqs", 1, None, None, None, None, []),
        },
    ),
    "2.14": (
        b"""job_stats:
- job_id:          11317854:17627127:r01c01
  snapshot_time:   1713431141
  read_bytes:      { samples:      937568, unit: bytes, min:    4096, max: 4194304, sum:      8039751680, sumsq:  7499746432253952 }
  write:           { samples:         189, unit: usecs, min:    1188, max:100060425, sum:         3053433, sumsq:       70791600789 }
  getattr:         { samples:           0, unit: usecs, min:       0, max:       0, sum:               0, sumsq:                 0 }
""",
        {"snapshot_time": 1713431141 * SECOND},
        {
            "read_bytes": ("bytes", 937568, 4096, 4194304, 8039751680, 7499746432253952, []),
            "write": ("usecs", 189, 1188, 100060425, 3053433, 70791600789, []),
        },
    ),
    "2.15.0": (
        b"""job_stats:
- job_id:          11317854:17627127:r01c01
snapshot_time   : 1896533.424837288 secs.nsecs
start_time      : 379440.150439687 secs.nsecs
elapsed_time    : 1517093.274397601 secs.nsecs
  close:           { samples:        5051, unit: usecs, min:        8, max:     1541, sum:           236426, sumsq:           19935112 }
""",
        {"snapshot_time": 1896533424837288, "start_time": 379440150439687},
        {"close": ("usecs", 5051, 8, 1541, 236426, 19935112, [])},
    ),
    "2.15.2": (
        rb"""job_stats:
- job_id:          "11317854\x3A17627127\x3Ar01c01"
  snapshot_time:   1723114647.887515895 secs.nsecs
  start_time:      1723114600.000000001 secs.nsecs
  elapsed_time:    47.887515894 secs.nsecs
  open:            { samples:           4, unit: usecs, min:       80, max:      182, sum:              535, sumsq:              79601 }
""",
        {"snapshot_time": 1723114647887515895, "start_time": 1723114600000000001},
        {"open": ("usecs", 4, 80, 182, 535, 79601, [])},
    ),
    "2.16": (
        b"""job_stats:
- job_id:          "11317854:17627127:r01c01"
  snapshot_time:   1723114647.887515895 secs.nsecs
  parallel_rename_file: { samples:           3, unit: usecs, min:        1, max:        2, sum:                5, sumsq:                  9 }
  parallel_rename_dir: { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
  read_bytes:      { samples:           4, unit: bytes, min:     4096, max:  1048576, sum:          3149824, sumsq:      3298551660544, hist: { 4K: 1, 1M: 3 } }
  write_bytes:     { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }
""",
        {"snapshot_time": 1723114647887515895},
        {
            "parallel_rename_file": ("usecs", 3, 1, 2, 5, 9, []),
            "read_bytes": ("bytes", 4, 4096, 1 << 20, 3149824, 3298551660544,
                           [(4096, 1), (1 << 20, 3)]),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_each_release(release):
    text, times, counters = RELEASES[release]
    stats = parse_job_stats(text)
    assert entries_of(stats) == [("", ID, times, counters)]
    assert stats.since_boot.tolist() == [release == "2.15.0"]
    assert not stats.defects


def test_all_releases_in_one_text_are_one_series():
    stats = parse_job_stats(b"".join(text for text, _, _ in RELEASES.values()))
    assert stats.ids == [ID]
    assert [row[3] for row in entries_of(stats)] == [
        counters for _, _, counters in RELEASES.values()
    ]


def test_unknown_operations_and_units_are_kept():
    stats = parse_job_stats(
        b"- job_id:          a.1\n  snapshot_time:   1\n"
        b"  teleport:        { samples:           9, unit: parsecs }\n"
        b"  fold:            { samples:           2, unit: pages }\n"
    )
    assert entries_of(stats)[0][3] == {
        "teleport": ("parsecs", 9, None, None, None, None, []),
        "fold": ("pages", 2, None, None, None, None, []),
    }


def test_output_of_lctl_for_many_targets():
    entry = b"- job_id:          %s\n  snapshot_time:   1\n"
    text = (
        b"obdfilter.scratch-OST0000.job_stats=\njob_stats:\n" + entry % b"a.1"
        + b"obdfilter.scratch-OST0001.job_stats=job_stats:\n"
        + b"mdt.scratch-MDT0000.md_stats=\nsnapshot_time             1.0 secs.nsecs\n"
        + b"open                      12 samples [reqs]\n"
        + b"mdt.scratch-MDT0001.job_stats=\n" + entry % b"b.2" + entry % b"a.1"
    )  # fmt: skip
    stats = parse_job_stats(text)
    assert [(row[0], row[1]) for row in entries_of(stats)] == [
        ("scratch-OST0000", b"a.1"), ("scratch-MDT0001", b"b.2"), ("scratch-MDT0001", b"a.1"),
    ]  # fmt: skip
    assert not stats.defects


def test_the_target_of_a_single_file_is_given():
    stats = parse_job_stats(b"- job_id:          a.1\n  snapshot_time:   1\n", target="x-MDT0000")
    assert [row[0] for row in entries_of(stats)] == ["x-MDT0000"]


@pytest.mark.parametrize(
    ("printed", "raw"),
    [
        (b"          11317854:17627127:r01c01", ID),
        (rb'          "11317854\x3A17627127\x3Ar01c01"', ID),
        (b'          "11317854:17627127:r01c01"', ID),
        (rb"          11317854\x3A17627127", rb"11317854\x3A17627127"),
        (rb'          "a\x5Cx41\x22"', rb'a\x41"'),
        (rb'          "broken\x4"', rb'"broken\x4"'),
        (rb'          "half:open', rb'"half:open'),
        (b'          "quoted"', b'"quoted"'),
        (b'          "@abc"', b"@abc"),
        (b"          caf\xc3\xa9.1000", b"caf\xc3\xa9.1000"),
        (b'          "caf\xc3\\xA9.1000"', b"caf\xc3\xa9.1000"),
        (b"            two blanks before", b"  two blanks before"),
        (b" compact", b"compact"),
        (b"          ", b""),
        (b"", b""),
    ],
)
def test_the_raw_id_is_recovered_exactly(printed, raw):
    stats = parse_job_stats(b"- job_id:" + printed + b"\n  snapshot_time:   1\n")
    assert stats.ids == [raw]


def test_in_a_release_that_quotes_a_quote_is_never_part_of_the_id():
    time = b"  snapshot_time:   1723114647.887515895 secs.nsecs\n"
    assert parse_job_stats(b'- job_id:          "quoted"\n' + time).ids == [b"quoted"]


def test_batches_of_a_stream_have_dictionaries_of_their_own():
    entries = (b"- job_id:          u%d.1\n  snapshot_time:   1\n" % i for i in range(200_000))
    batches = list(iter_job_stats(entries))
    assert len(batches) > 1
    assert sum(batch.entries for batch in batches) == 200_000
    assert max(len(batch.ids) for batch in batches) < 200_000
