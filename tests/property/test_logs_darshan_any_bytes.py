"""Whatever stands in a log, the reader reads it or tells why not, in bounded memory."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.logs.darshan import DarshanError, DarshanLog, Limits
from pfscope.logs.darshan.layouts import COUNTED, words
from tests.support.darshan_logs import counted, dxt, heatmap, lustre_1, lustre_2, write_log

LIMITS = Limits(region_bytes=1 << 22, records=10_000, names_bytes=1 << 20)


def log_with_everything(version, order, compression):
    counts = {"POSIX": 4, "MPI-IO": 3, "STDIO": 2, "H5F": 3, "PNETCDF_FILE": 3}
    modules = [
        (name, number, counted(words(name, number), order, [{"id": 1, "rank": -1}, {"id": 2}]))
        for name, number in counts.items()
    ]
    modules.append(("LUSTRE", 1, lustre_1(order, [(1, 0, 0, 1 << 20, [1, 2, 3])])))
    modules.append(("DXT_POSIX", 2, dxt(order, [(1, 0, b"n", [(0, 9, 0.1, 0.2)], [])])))
    if version == "3.41":
        modules[-2] = ("LUSTRE", 2, lustre_2(order, [(1, 0, [(1 << 20, 0, [3])])]))
        modules.append(("HEATMAP", 1, heatmap(order, [(9, 0, 0.5, [1, 0], [0, 2])])))
        modules += [
            (name, number, counted(words(name, number), order, [{"id": 1}]))
            for name, number in (("H5D", 2), ("PNETCDF_VAR", 1), ("DFS", 1), ("DAOS", 1))
        ]
    names = [(1, "/lus/a"), (2, "b\xff"), (9, "heatmap:POSIX")]
    return write_log(
        modules, names, version=version, order=order, compression=compression, streams=2
    )  # fmt: skip


LOGS = [
    log_with_everything(version, order, compression)
    for version in ("3.00", "3.10", "3.41")
    for order in "<>"
    for compression in ("zlib", "none")
]
HEADS = [b"", b"3.41\0\0\0\0", b"3.00\0\0\0\0", b"\x1f\x8b", b"BZh9"]
PLAIN = [log for log in LOGS if log[16] == 2]


def read(data):
    log = DarshanLog(data, LIMITS)
    log.names.find(log.names.ids)
    found = log.job.nprocs
    for module in log.modules:
        if module in COUNTED:
            found += log.counters(module).rows
        elif module == "LUSTRE":
            found += log.lustre().rows
        elif module == "HEATMAP":
            found += log.heatmap().rows
        elif module.startswith("DXT"):
            found += sum(part.rows for part in log.dxt(module))
    return found


def read_or_refused(data):
    with contextlib.suppress(DarshanError):
        read(data)


def test_the_logs_are_good():
    assert all(read(log) > 4 for log in LOGS)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LOGS), st.data())
def test_flipped_bits(log, data):
    changed = bytearray(log)
    for _ in range(data.draw(st.integers(1, 8))):
        bit = data.draw(st.integers(0, 8 * len(log) - 1))
        changed[bit // 8] ^= 1 << bit % 8
    read_or_refused(bytes(changed))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLAIN), st.data())
def test_numbers_of_any_size_in_logs_that_no_compression_guards(log, data):
    changed = bytearray(log)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(log) // 8 - 1)) * 8
        changed[at : at + 8] = data.draw(st.integers(-(2**63), 2**63 - 1)).to_bytes(
            8, "little", signed=True
        )
    read_or_refused(bytes(changed))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LOGS), st.data())
def test_cut_anywhere(log, data):
    read_or_refused(log[: data.draw(st.integers(0, len(log)))])


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=3000), st.sampled_from(HEADS))
def test_any_bytes(rest, head):
    read_or_refused(head + rest)
