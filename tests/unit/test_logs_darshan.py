"""Darshan's format as the reader understands it: every version, order, compression, and limits."""

import bz2
import contextlib
import gzip
import itertools
import time
import tracemalloc
import zlib

import numpy as np
import pytest

from pfscope.logs.darshan import DarshanError, DarshanLog, Limits
from pfscope.logs.darshan.layouts import words
from tests.support.darshan_logs import counted, dxt, heatmap, lustre_1, lustre_2, write_log

ROWS = [
    {"id": 5, "rank": -1, "POSIX_WRITES": 8, "POSIX_BYTES_WRITTEN": 1 << 40,
     "POSIX_F_WRITE_TIME": 0.5},
    {"id": -6, "rank": 3, "POSIX_OPENS": 2, "POSIX_F_VARIANCE_RANK_BYTES": 2.25},
]  # fmt: skip


def posix(version, order="<", rows=ROWS):
    return ("POSIX", version, counted(words("POSIX", version), order, rows))


@pytest.mark.parametrize(
    ("version", "module_version"),
    [("3.00", 1), ("3.00", 2), ("3.10", 3), ("3.20", 4), ("3.21", 4), ("3.41", 4)],
)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("compression", ["zlib", "bzip2", "none"])
@pytest.mark.parametrize("streams", [1, 5])
def test_every_form_of_a_log_says_the_same(version, module_version, order, compression, streams):
    log = DarshanLog(
        write_log(
            [posix(module_version, order)],
            [(5, "/lus/out"), (-6, ""), (-6, "/home/in"), (5, "/other")],
            version=version, order=order, compression=compression, streams=streams,
            partial=["POSIX"],
        )
    )  # fmt: skip
    found = log.counters("POSIX")
    assert found.column("id").tolist() == [5, -6]
    assert found.column("rank").tolist() == [-1, 3]
    assert found.column("POSIX_BYTES_WRITTEN").tolist() == [1 << 40, 0]
    assert found.column("POSIX_F_WRITE_TIME").tolist() == [0.5, 0.0]
    assert found.column("POSIX_F_VARIANCE_RANK_BYTES").tolist() == [0.0, 2.25]
    assert log.names.find(np.array([-6, 5, 7])).to_pylist() == ["/home/in", "/lus/out", None]
    assert log.partial == ("POSIX",)
    assert (log.job.nprocs, log.job.job_id, log.job.command) == (4, 17, "/bin/ior -w")
    assert [tuple(mount) for mount in log.job.mounts] == [("/lus", "lustre"), ("/", "ext4")]
    assert log.job.run_s == (100.25 if version == "3.41" else 101)


def test_what_a_version_did_not_count_is_minus_one():
    found = DarshanLog(write_log([posix(3)], version="3.10")).counters(
        "POSIX", ["POSIX_DUPS", "POSIX_WRITES", "POSIX_F_NONE"]
    )
    assert found.column("POSIX_DUPS").tolist() == [-1, -1]
    assert found.column("POSIX_WRITES").tolist() == [8, 0]
    assert found.column("POSIX_F_NONE").tolist() == [-1.0, -1.0]


def test_opens_that_were_counted_in_two_parts_are_put_together():
    rows = [{"id": 1, "PNETCDF_FILE_INDEP_OPENS": 2, "PNETCDF_FILE_COLL_OPENS": 3}]
    raw = counted(words("PNETCDF_FILE", 2), "<", rows)
    log = DarshanLog(write_log([("PNETCDF_FILE", 2, raw)], version="3.10"))
    found = log.counters("PNETCDF_FILE", ["PNETCDF_FILE_OPENS"])
    assert found.column("PNETCDF_FILE_OPENS").tolist() == [5]


@pytest.mark.parametrize("order", ["<", ">"])
def test_stripes_of_both_versions(order):
    rows = [(1, 0, 0, 1 << 20, [3]), (2, 1, -1, 1 << 22, [1, 7, 9]), (4, 1, -1, 1 << 20, [])]
    first = DarshanLog(
        write_log([("LUSTRE", 1, lustre_1(order, rows))], order=order)
    ).lustre()  # fmt: skip
    assert first.ids.tolist() == [1, 2, 4]
    assert first.stripe_size.tolist() == [1 << 20, 1 << 22, 1 << 20]
    assert first.stripe_count.tolist() == [1, 3, 0]
    assert first.stripe_offset.tolist() == [0, -1, -1]
    assert (first.owners.tolist(), first.osts.tolist()) == ([0, 1, 1, 1], [3, 1, 7, 9])
    composed = [
        (1, 0, [(1 << 20, 0, [3])]),
        (2, 0, [(1 << 20, 1, [4]), (1 << 21, 2, [5, 6])]),
        (3, 0, []),
    ]
    second = DarshanLog(
        write_log([("LUSTRE", 2, lustre_2(order, composed))], order=order)
    ).lustre()  # fmt: skip
    assert second.components.tolist() == [1, 2, 0]
    assert second.mirrors.tolist() == [1, 2, 0]
    assert second.stripe_size.tolist() == [1 << 20, 1 << 21, -1]
    assert second.stripe_count.tolist() == [1, 2, 0]
    assert (second.owners.tolist(), second.osts.tolist()) == ([0, 1, 1, 1], [3, 4, 5, 6])
    assert not second.has_offset


def test_long_runs_of_equal_records_and_short_ones():
    widths = [1] * 1000 + [2, 1, 2, 1] + [3] * 37
    rows = [(i, 0, 0, 1 << 20, list(range(width))) for i, width in enumerate(widths)]
    found = DarshanLog(write_log([("LUSTRE", 1, lustre_1("<", rows))])).lustre()
    assert found.ids.tolist() == list(range(len(widths)))
    assert np.bincount(found.owners).tolist() == widths


def test_a_heatmap_gives_the_bins_that_are_not_empty():
    raw = heatmap("<", [(1, 0, 0.5, [0, 7, 0], [1, 2, 0]), (1, 1, 0.5, [0, 0], [0, 3])])
    found = DarshanLog(write_log([("HEATMAP", 1, raw)])).heatmap()
    assert found.ranks.tolist() == [0, 0, 1]
    assert found.bins.tolist() == [0, 1, 1]
    assert found.bytes_written.tolist() == [0, 7, 0]
    assert found.bytes_read.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("version", "threads"), [(1, False), (2, True)])
@pytest.mark.parametrize("order", ["<", ">"])
def test_traces(version, threads, order):
    rows = [
        (1, 0, b"n1", [(0, 10, 0.1, 0.2), (10, 10, 0.3, 0.4)], [(0, 5, 1.0, 1.5)]),
        (2, 1, b"n2", [], []),
        (3, 2, b"n1", [], [(7, 1, 2.0, 2.5)]),
    ]
    raw = dxt(order, rows, threads=threads)
    log = DarshanLog(write_log([("DXT_POSIX", version, raw)], order=order))
    (found,) = log.dxt("DXT_POSIX")
    assert found.ids.tolist() == [1, 1, 1, 3]
    assert found.is_write.tolist() == [True, True, False, False]
    assert [found.host_names[i] for i in found.hosts] == [b"n1", b"n1", b"n1", b"n1"]
    assert found.words[:, 1].tolist() == [10, 10, 5, 1]
    assert np.ascontiguousarray(found.words[:, 3]).view(np.float64).tolist() == [0.2, 0.4, 1.5, 2.5]
    assert found.words.shape[1] == (5 if threads else 4)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_file_that_somebody_compressed_is_read(pack):
    assert DarshanLog(pack(write_log([posix(4)]))).counters("POSIX").rows == 2


def test_modules_that_are_not_read_are_told():
    log = DarshanLog(write_log([posix(4), ("APMPI", 1, b"x" * 8)]))
    assert log.modules == ("POSIX", "APMPI")


def log_of(**changes):
    return write_log([posix(4)], [(5, "/a")], **changes)


NONSENSE = {
    "nothing": (b"", "no log of Darshan"),
    "text": (b"<!DOCTYPE html>" * 99, "no log of Darshan"),
    "older": (b"2.05\0\0\0\0" + bytes(999), "a log of Darshan 2"),
    "newer": (b"3.99\0\0\0\0" + bytes(999), "format 3.99 is not known"),
    "magic": (b"3.41\0\0\0\0" + bytes(9999), "magic number"),
    "header": (log_of()[:100], "ends in its header"),
    "short": (log_of()[:-3], "cut short: 3 bytes"),
    "processes": (log_of(nprocs=10**18), "processes makes no sense"),
    "time": (log_of(start=100, end=50), "makes no sense"),
    "rank": (write_log([posix(4, rows=[{"rank": 4}])]), "ranks 4 to 4 of 4 processes"),
    "count": (write_log([posix(4, rows=[{"POSIX_READS": -9}])]), "counts down to -9"),
    "seconds": (
        write_log([posix(4, rows=[{"POSIX_F_READ_TIME": float("nan")}])]), "has times from nan",
    ),
    "record": (write_log([("POSIX", 4, bytes(700))]), "ends in the middle of a record"),
    "version": (write_log([("POSIX", 9, bytes(704))]), "version 9 of POSIX records"),
    "list": (write_log([("LUSTRE", 1, lustre_1("<", [(1, 0, 0, 1, [-2])]))]), "OST indices"),
    "width": (
        write_log([("LUSTRE", 1, np.full(7, 1 << 40).tobytes())]), "sizes .* make no sense",
    ),
    "bins": (write_log([("HEATMAP", 1, np.full(6, -1).tobytes())]), "sizes .* make no sense"),
    "damage": (log_of()[:-20] + bytes(20), "damaged|in the middle"),
}  # fmt: skip


def read_all(data, limits=None):
    log = DarshanLog(data, limits) if limits else DarshanLog(data)
    log.job  # noqa: B018
    log.names  # noqa: B018
    for module in log.modules:
        if module == "LUSTRE":
            log.lustre()
        elif module == "HEATMAP":
            log.heatmap()
        elif module.startswith("DXT"):
            for _ in log.dxt(module):
                pass
        elif module in ("POSIX", "MPI-IO", "STDIO"):
            log.counters(module)


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused_with_its_reason(name):
    data, reason = NONSENSE[name]
    with pytest.raises(DarshanError, match=reason):
        read_all(data)


@pytest.mark.parametrize("compression", ["zlib", "bzip2"])
def test_a_bomb_is_refused_before_it_goes_off(compression):
    """A region of 64 MiB of zeros, where 1 MiB is allowed."""
    data = write_log([("POSIX", 4, bytes(64 << 20))], compression=compression)
    begin = time.monotonic()
    tracemalloc.start()
    with pytest.raises(DarshanError, match="more than"):
        read_all(data, Limits(region_bytes=1 << 20))
    with pytest.raises(DarshanError, match="more than the 99 records"):
        read_all(data, Limits(records=99))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20
    assert time.monotonic() - begin < 60


def test_many_small_streams_take_time_in_proportion_to_their_bytes():
    """One stream for each of 20 000 ranks: what follows a stream must not be copied every time."""
    record = counted(words("POSIX", 4), "<", [{"id": 1}])
    packed = zlib.compress(record)
    body = packed * 20_000
    log = write_log([("POSIX", 4, record)])
    assert log.endswith(packed)
    longer = log.replace(len(packed).to_bytes(8, "little"), len(body).to_bytes(8, "little"))
    found = DarshanLog(longer[: -len(packed)] + body).counters("POSIX", ["POSIX_OPENS"])
    assert found.rows == 20_000


def test_every_byte_of_a_header_may_be_anything():
    data = bytearray(log_of())
    for at, value in itertools.product(range(0, 400, 3), (0, 0x7F, 0xFF)):
        changed = bytes(data[:at]) + bytes([value]) + bytes(data[at + 1 :])
        with contextlib.suppress(DarshanError):
            read_all(changed)


@pytest.mark.parametrize(("version", "most"), [("3.00", 5_200_000), ("3.41", 4_200_000)])
def test_too_many_names_are_refused_before_they_are_kept(version, most):
    log = write_log([posix(3)], [(i, "") for i in range(200_000)], version=version)
    tracemalloc.start()
    try:
        with pytest.raises(DarshanError, match="more than the 50 names"):
            _ = DarshanLog(log, Limits(records=50)).names
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
