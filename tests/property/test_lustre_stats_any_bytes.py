"""No input breaks the small parsers, and what is good between rubbish is still read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.lustre.brw_stats import parse_brw_stats
from pfscope.lustre.defects import Defects
from pfscope.lustre.host import parse_loadavg, parse_meminfo, parse_stat, parse_uptime
from pfscope.lustre.names import owner_of
from pfscope.lustre.params import iter_parameters, parse_integer
from pfscope.lustre.recovery import parse_recovery_status
from pfscope.lustre.stats import parse_stats

words = st.sampled_from(
    [
        b"snapshot_time: ", b"open ", b"9" * 25, b"12 ", b"samples ", b"[usecs] ", b"\n", b"\0",
        b"\xff", b"1K:\t", b"| ", b"cpu ", b"cpu0 ", b"status: ", b"a.b=", b"error: ", b"% cum % ",
        b"read ", b"MemFree: ", b" kB", b"-1 ", b"1.5 ", b"secs.usecs", b"9" * 5000, b"/",
        b"btime ", b"h# lctl ", b"[a]$ ",
    ]
)  # fmt: skip
rubbish = st.lists(st.one_of(words, st.binary(max_size=8)), max_size=30).map(b"".join)


@settings(max_examples=200, deadline=None)
@given(rubbish)
def test_nothing_raises_and_every_defect_is_in_the_text(text: bytes) -> None:
    defects = Defects()
    for parameter in iter_parameters(text, defects=defects):
        owner_of(parameter.name)
        assert text.startswith(parameter.value[:1], parameter.offset)
    for parsed in (parse_stats(text), parse_brw_stats(text), parse_recovery_status(text)):
        assert all(0 <= d.offset < len(text) for d in parsed.defects.first)
    recovery = parse_recovery_status(text)
    assert all(recovery.number(key) is None or recovery.values[key] for key in recovery.values)
    for parse in (parse_loadavg, parse_meminfo, parse_stat, parse_uptime, parse_integer):
        parse(text)


@settings(max_examples=100, deadline=None)
@given(rubbish, rubbish)
def test_a_good_line_between_rubbish_is_read(before: bytes, after: bytes) -> None:
    line = b"mknod                     7 samples [usecs] 1 2 3 4"
    stats = parse_stats(before + b"\n" + line + b"\n" + after)
    row = stats.names.index("mknod")
    numbers = [c[row] for c in (stats.minimum, stats.maximum, stats.total, stats.sumsq)]
    assert [int(stats.samples[row]), *map(int, numbers)] == [7, 1, 2, 3, 4]


@settings(max_examples=100, deadline=None)
@given(rubbish, st.integers(1, 40))
def test_where_a_stream_is_cut_does_not_matter(text: bytes, size: int) -> None:
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    whole, cut = Defects(), Defects()
    in_one = list(iter_parameters(text, defects=whole))
    assert list(iter_parameters(chunks, defects=cut)) == in_one
