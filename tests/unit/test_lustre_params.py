"""Raw lctl output split into parameters, however it is cut, and what their names say."""

import pytest

from pfscope.lustre.defects import Defects
from pfscope.lustre.names import Owner, owner_of
from pfscope.lustre.params import ParameterValue, iter_parameters, parse_integer

OUTPUT = b"""[root@oss1 ~]# lctl get_param obdfilter.*.*
obdfilter.scratch-OST0000.num_exports=1031
error: get_param: param_path 'mdt/*': No such file or directory
obdfilter.scratch-OST0000.exports.10.1.2.3@o2ib.stats=
snapshot_time             1723114647.887515895 secs.nsecs
obdfilter.scratch-OST0001.job_stats=job_stats:
obdfilter.scratch-OST0002.job_stats=
job_stats:
- job_id:          a=b
error: read_param: '/proc/x': Permission denied
  snapshot_time:   1322494486
oss1# lctl get_param version
lustre: 2.12.9
"""
NAMES = [
    "obdfilter.scratch-OST0000.num_exports",
    "obdfilter.scratch-OST0000.exports.10.1.2.3@o2ib.stats",
    "obdfilter.scratch-OST0001.job_stats",
    "obdfilter.scratch-OST0002.job_stats",
]
VALUES = [
    b"1031\n",
    b"snapshot_time             1723114647.887515895 secs.nsecs\n",
    b"job_stats:\n",
    b"job_stats:\n- job_id:          a=b\n  snapshot_time:   1322494486\n",
]


def test_each_parameter_has_its_value_and_where_it_begins() -> None:
    defects = Defects()
    found = list(iter_parameters(OUTPUT, offset=100, defects=defects))
    assert [p.name for p in found] == NAMES
    assert [p.value for p in found] == VALUES
    assert all(OUTPUT.startswith(p.value[:9], p.offset - 100) for p in found)
    assert [(d.offset - 100, d.reason) for d in defects.first] == [
        (OUTPUT.index(b"lustre: 2.12.9"), "text of no parameter")
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_a_stream_cut_anywhere_gives_the_same(size: int) -> None:
    chunks = [OUTPUT[i : i + size] for i in range(0, len(OUTPUT), size)]
    assert list(iter_parameters(chunks)) == list(iter_parameters(OUTPUT))


def test_an_empty_value_is_a_value_and_the_last_line_may_lack_its_end() -> None:
    found = list(iter_parameters(b"mdt.a-MDT0000.job_stats=\nmdt.a-MDT0001.num_exports=7"))
    assert found == [
        ParameterValue("mdt.a-MDT0000.job_stats", b"", 25),
        ParameterValue("mdt.a-MDT0001.num_exports", b"7", 51),
    ]


def test_empty_input_has_no_parameters() -> None:
    assert list(iter_parameters(b"")) == []


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("mdt.scratch-MDT0003.md_stats", Owner("scratch-MDT0003", "scratch", "mdt")),
        ("obdfilter.my-fs-OST00ff.stats", Owner("my-fs-OST00ff", "my-fs", "ost")),
        ("obdfilter.OST0001.stats", Owner("OST0001", None, "ost")),
        ("osd-ldiskfs.a-OST0000.brw_stats", Owner("a-OST0000", "a", "ost")),
        (
            "mdt.a-MDT0000.exports.10.0.0.7@tcp1.stats",
            Owner("a-MDT0000", "a", "mdt", "10.0.0.7@tcp1"),
        ),
        (
            "ldlm.namespaces.filter-a-OST0001_UUID.pool.granted",
            Owner("a-OST0001", "a", "ost"),
        ),
        ("mgs.MGS.eviction_count", Owner("MGS", None, "mgs")),
        ("ost.OSS.ost_io.stats", Owner()),
        ("version", Owner()),
    ],
)
def test_a_name_says_whose_it_is(name: str, owner: Owner) -> None:
    assert owner_of(name) == owner


@pytest.mark.parametrize(
    ("value", "number"),
    [(b"600\n", 600), (b" -1 \n", -1), (b"", None), (b"6 0\n", None), (b"0x10\n", None)],
)
def test_a_file_of_one_integer(value: bytes, number: int | None) -> None:
    assert parse_integer(value) == number
