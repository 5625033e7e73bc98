"""The files of the machine itself."""

import pytest

from pfscope.lustre.host import (
    CPU_STATES,
    LoadAverage,
    parse_loadavg,
    parse_meminfo,
    parse_stat,
    parse_uptime,
)

STAT = b"""cpu  500 1 300 90000 20 0 7 0 0 0
cpu0 300 1 200 40000 20 0 4 0 0 0
cpu1 200 0 100 50000 0 0 3 0 0 0
intr 5 1 2
ctxt 99
btime 1600000000
processes 4242
"""


def test_loadavg() -> None:
    assert parse_loadavg(b"20.05 18.10 7.00 3/812 4711\n") == LoadAverage(20.05, 18.1, 7.0, 3, 812)


def test_cpu_times_of_all_cores_and_of_each() -> None:
    times = parse_stat(STAT)
    assert times is not None
    assert dict(zip(CPU_STATES, times.ticks.tolist(), strict=True))["idle"] == 90000
    assert times.cores[:, 0].tolist() == [300, 200]
    assert times.boot_s == 1600000000


def test_an_older_kernel_tells_fewer_states() -> None:
    times = parse_stat(b"cpu  1 2 3 4\n")
    assert times is not None
    assert times.ticks.tolist() == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0]
    assert (times.cores.shape, times.boot_s) == ((0, 10), None)


def test_memory_in_bytes() -> None:
    text = b"MemTotal:       16384000 kB\nActive(anon):    1024 kB\nHugePages_Total:       3\n"
    expected = {"MemTotal": 16384000 << 10, "Active(anon)": 1 << 20, "HugePages_Total": 3}
    assert parse_meminfo(text) == expected


def test_uptime() -> None:
    assert parse_uptime(b"1896533.42 7200.10\n") == (1896533.42, 7200.1)


@pytest.mark.parametrize("text", [b"", b"what\n", b"\xff\0"])
def test_what_is_another_file_is_none(text: bytes) -> None:
    parsers = (parse_loadavg, parse_stat, parse_meminfo, parse_uptime)
    assert [parse(text) for parse in parsers] == [None] * 4
