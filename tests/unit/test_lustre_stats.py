"""stats, md_stats, exports and service stats of all releases."""

from pfscope.lustre.stats import parse_stats

OLD = b"""snapshot_time             1438693064.20113 secs.usecs
read_bytes                203238095 samples [bytes] 4096 1048576 78026117632000
statfs                    35359 samples [reqs]
connect                   1 samples [reqs]
statfs                    124430 samples [reqs]
"""
NEW = b"""snapshot_time             1749629228.342406610 secs.nsecs
start_time                1748858813.005595222 secs.nsecs
elapsed_time              770415.336811388 secs.nsecs
open                      45 samples [usecs] 21 1766 8231 6335187
req_timeout               311 samples [secs] 5 10 1560 7850
"""


def test_microseconds_of_old_releases_are_not_padded() -> None:
    stats = parse_stats(OLD)
    assert stats.snapshot_ns == 1438693064_020113000
    assert stats.start_ns == -1
    assert not stats.since_boot


def test_a_name_may_occur_twice_and_both_rows_stay() -> None:
    stats = parse_stats(OLD)
    assert stats.names == ["read_bytes", "statfs", "connect", "statfs"]
    assert stats.samples.tolist() == [203238095, 35359, 1, 124430]


def test_only_what_is_in_the_text_counts_as_measured() -> None:
    old, new = parse_stats(OLD), parse_stats(NEW)
    assert old.measured.tolist() == [True, False, False, False]
    assert not old.squared.any()
    assert old.total.tolist() == [78026117632000, 0, 0, 0]
    assert new.squared.all()


def test_every_column_of_a_new_release() -> None:
    stats = parse_stats(NEW)
    assert stats.snapshot_ns == 1749629228_342406610
    assert stats.start_ns == 1748858813_005595222
    assert stats.units == ["usecs", "secs"]
    columns = (stats.samples, stats.minimum, stats.maximum, stats.total, stats.sumsq)
    assert [c.tolist() for c in columns] == [
        [45, 311], [21, 5], [1766, 10], [8231, 1560], [6335187, 7850],
    ]  # fmt: skip
    assert not stats.defects


def test_times_since_boot_are_told_apart() -> None:
    text = b"snapshot_time             1964295.787757337 secs.nsecs\n"
    assert parse_stats(text).since_boot


def test_what_cannot_be_read_hides_nothing_behind_it() -> None:
    text = NEW.replace(b"open ", b"open x") + b"\0\xff rubbish\nclose 9 samples [usecs] 1 2 3 4"
    stats = parse_stats(text, offset=1000)
    assert stats.names == ["req_timeout", "close"]
    where = [text.index(b"open"), text.index(b"\0")]
    assert [d.offset - 1000 for d in stats.defects.first] == where


def test_a_sum_that_wrapped_is_printed_negative() -> None:
    stats = parse_stats(b"read_bytes 2 samples [bytes] 1 9 -2\n")
    assert stats.total.tolist() == [2**64 - 2]


def test_an_empty_file_is_an_idle_target() -> None:
    stats = parse_stats(b"")
    assert (stats.names, stats.snapshot_ns, len(stats.samples)) == ([], -1, 0)
