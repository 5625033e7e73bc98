"""brw_stats: blocks of histograms."""

from pfscope.lustre.brw_stats import parse_brw_stats

TEXT = b"""snapshot_time:         1589909588.327213269 (secs.nsecs)

                           read      |     write
pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
1:\t\t      5271   0   0   | 337023  22  22
2:\t\t      3030   0   0   | 5672   0  23

                           read      |     write
discontiguous blocks   rpcs  % cum % |  rpcs        % cum %

                           read      |     write
disk I/O size          ios   % cum % |  ios         % cum %
128:                    35   0   0   |  209   0  22
1K:                      0   0   0   | 1703   0  22
4M:               43866371  99 100   | 850248  57 100
"""


def test_every_bucket_has_its_block_bound_and_counts() -> None:
    stats = parse_brw_stats(TEXT)
    assert stats.blocks == ["pages per bulk r/w", "discontiguous blocks", "disk I/O size"]
    assert stats.units == ["rpcs", "rpcs", "ios"]
    assert stats.block.tolist() == [0, 0, 2, 2, 2]
    assert stats.bound.tolist() == [1, 2, 128, 1024, 4 << 20]
    assert stats.reads.tolist() == [5271, 3030, 35, 0, 43866371]
    assert stats.writes.tolist() == [337023, 5672, 209, 1703, 850248]
    assert stats.snapshot_ns == 1589909588_327213269
    assert not stats.defects


def test_the_header_of_newer_releases() -> None:
    text = (
        b"snapshot_time:            1749629228.000000001 secs.nsecs\nstart_time:  1.0 secs.nsecs\n"
    )
    assert parse_brw_stats(text).snapshot_ns == 1749629228_000000001


def test_damage_is_counted_and_passed() -> None:
    text = b"7:\t\t 1 2 3 | 4 5 6\n" + TEXT.replace(b"1K:     ", b"1K: what")
    stats = parse_brw_stats(text)
    assert [d.reason for d in stats.defects.first] == ["bucket of no block", "unreadable line"]
    assert stats.defects.first[1].offset == text.index(b"1K: what")
    assert stats.bound.tolist() == [1, 2, 128, 4 << 20]


def test_an_empty_file_has_no_blocks() -> None:
    stats = parse_brw_stats(b"")
    assert (stats.blocks, len(stats.bound), stats.snapshot_ns) == ([], 0, -1)
