"""Our reader says what PyDarshan says of every real log, where that is right; elsewhere more."""

import functools
import warnings

import numpy as np
import pytest

from pfscope.logs.darshan import DarshanError, DarshanLog
from pfscope.logs.darshan.layouts import COUNTED
from tests.support.darshan_logs import SHARED, WHEEL, real_logs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import darshan.backend.cffi_backend as reference

LOGS = real_logs()
REFUSED = {"damaged", "version-2", "bzip2"}
READ = [path for path in LOGS if path.parent.name not in REFUSED]
VARIANCES = {"POSIX_F_VARIANCE_RANK_TIME", "POSIX_F_VARIANCE_RANK_BYTES"}


@functools.cache
def ours(path):
    return DarshanLog(path.read_bytes())


@pytest.fixture
def theirs(request):
    handle = reference.log_open(str(request.getfixturevalue("path")))
    yield handle
    reference.log_close(handle)


def test_the_wheel_has_its_logs():
    assert len(list(WHEEL.rglob("*.darshan"))) == 18


@pytest.mark.parametrize("path", READ, ids=[path.name[:40] for path in READ])
class TestEqual:
    def test_the_job(self, path, theirs):
        job, log = reference.log_get_job(theirs), ours(path).job
        assert (log.uid, log.nprocs, log.job_id) == (job["uid"], job["nprocs"], job["jobid"])
        assert log.start_us // 10**6 == job["start_time_sec"]
        assert log.end_us // 10**6 == job["end_time_sec"]
        assert log.run_s == pytest.approx(job["run_time"], abs=1e-6)
        assert log.metadata == {k.strip(): v for k, v in job["metadata"].items()}
        # The reference knows no command without mounts after it.
        assert reference.log_get_exe(theirs) in (log.command or "", "")
        assert {tuple(m) for m in log.mounts} == set(reference.log_get_mounts(theirs))

    def test_the_modules(self, path, theirs):
        found = {
            name: (m.region.length, m.version, m.partial)
            for name, m in ours(path).header.modules.items()
        }
        big_and_old = ours(path).header.order == ">"
        for name, module in reference.log_get_modules(theirs).items():
            assert found[name][:2] == (module["len"], module["ver"])
            # The reference does not turn the flags of the other byte order.
            assert found[name][2] == bool(module["partial_flag"]) or big_and_old

    def test_the_names(self, path, theirs):
        names = reference.log_get_name_records(theirs)
        ids = np.array(list(names), np.uint64).view(np.int64)
        assert ours(path).names.find(ids).to_pylist() == list(names.values())
        assert len(ours(path).names.ids) == len(names)

    def test_the_counters(self, path, theirs):
        for module in set(COUNTED) & set(ours(path).modules):
            self.compare_counters(ours(path), theirs, module)

    def compare_counters(self, log, theirs, module):
        counters = log.counters(module)
        skipped = set()
        if module == "POSIX" and log.header.modules[module].version <= 3:
            skipped = VARIANCES
            if log.header.order == ">":
                skipped |= {name for name in counters.names if "_F_" in name}
        names = reference.counter_names(module) + reference.fcounter_names(module)
        seen = 0
        while record := reference.log_get_record(theirs, module, dtype="numpy"):
            values = np.concatenate([record["counters"], record["fcounters"]])
            for name, value in zip(names, values, strict=True):
                if name in counters.names and name not in skipped:
                    got = counters.column(name)[seen]
                    assert got == value or (np.isnan(got) and np.isnan(value)), (name, seen)
            assert counters.column("id")[seen] == np.uint64(record["id"]).astype(np.int64)
            assert counters.column("rank")[seen] == record["rank"]
            seen += 1
        assert seen == counters.rows

    def test_the_stripes(self, path, theirs):
        log = ours(path)
        if "LUSTRE" not in log.modules:
            return
        stripes = log.lustre()
        at = 0
        while record := reference.log_get_record(theirs, "LUSTRE"):
            assert stripes.ids[at] == np.uint64(record["id"]).astype(np.int64)
            components = record["components"]
            assert stripes.components[at] == len(components)
            size, count = components[-1]["counters"][:2]
            assert (stripes.stripe_size[at], stripes.stripe_count[at]) == (size, count)
            if log.header.modules["LUSTRE"].version > 1:
                listed = [int(ost) for c in components for ost in c["ost_ids"]]
                assert stripes.osts[stripes.owners == at].tolist() == listed
            at += 1
        assert at == stripes.rows

    def test_the_heatmap(self, path, theirs):
        log = ours(path)
        if "HEATMAP" not in log.modules:
            return
        found = log.heatmap()
        wanted = {}
        while record := reference.log_get_record(theirs, "HEATMAP"):
            # Of a bin too many or too few, the reference makes what the first record has.
            key = (int(np.uint64(record["id"]).astype(np.int64)), record["rank"])
            wanted[key] = (int(record["read_bins"].sum()), int(record["write_bins"].sum()))
        ids, ranks = found.ids.tolist(), found.ranks.tolist()
        sums = dict.fromkeys(wanted, (0, 0))
        for key, read, written in zip(
            zip(ids, ranks, strict=True), found.bytes_read.tolist(), found.bytes_written.tolist(),
            strict=True,
        ):  # fmt: skip
            sums[key] = (sums[key][0] + read, sums[key][1] + written)
        assert sums == wanted

    def test_the_traces(self, path, theirs):
        for module in {"DXT_POSIX", "DXT_MPIIO"} & set(ours(path).modules):
            self.compare_traces(ours(path), theirs, module)

    def compare_traces(self, log, theirs, module):
        lengths, times, writes = 0, 0.0, 0
        while record := reference.log_get_record(theirs, module):
            segments = [*record["write_segments"], *record["read_segments"]]
            lengths += sum(s["length"] for s in segments)
            times += sum(s["end_time"] - s["start_time"] for s in segments)
            writes += record["write_count"]
        found = list(log.dxt(module))
        assert sum(int(part.words[:, 1].sum()) for part in found) == lengths
        assert sum(int(part.is_write.sum()) for part in found) == writes
        spent = sum(
            float(np.diff(np.ascontiguousarray(part.words[:, 2:4]).view(np.float64)).sum())
            for part in found
        )
        assert spent == pytest.approx(times, rel=1e-9)


needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="no shared logs here")


@needs_shared
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("damaged/0d680f6*", "processes makes no sense"),
        ("damaged/1f31660*", "processes makes no sense"),
        ("damaged/7c6b87c*", "no log of Darshan"),
        ("version-2/*1.1.0_*", "Darshan 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_reason(name, reason):
    (path,) = SHARED.glob(name)
    with pytest.raises(DarshanError, match=reason):
        DarshanLog(path.read_bytes()).job  # noqa: B018


@needs_shared
def test_a_log_in_bzip2_is_read_which_the_wheel_cannot():
    (path,) = SHARED.glob("bzip2/*.darshan")
    log = DarshanLog(path.read_bytes())
    posix = log.counters("POSIX")
    assert (log.header.compression, log.job.nprocs, posix.rows) == ("bzip2", 8, 34)
    assert posix.column("POSIX_BYTES_READ").min() >= 0


@needs_shared
def test_the_old_releases_of_both_byte_orders_agree_where_the_reference_does_not():
    """The same program, on a big-endian and on a little-endian machine."""
    for release in ("3.0.0", "3.1.0", "3.1.6"):
        pair = [
            ours(SHARED / f"darshan-logs/release_logs/mpi-io-test-{arch}-{release}.darshan")
            for arch in ("ppc64", "x86_64")
        ]
        assert [log.header.order for log in pair] == [">", "<"]
        for log in pair:
            posix = log.counters("POSIX")
            assert posix.column("POSIX_BYTES_WRITTEN")[0] == posix.column("POSIX_BYTES_READ")[0]
            begin = posix.column("POSIX_F_WRITE_START_TIMESTAMP")[0]
            end = posix.column("POSIX_F_WRITE_END_TIMESTAMP")[0]
            assert 0 < begin < end < log.job.run_s
            assert 0 < posix.column("POSIX_F_VARIANCE_RANK_TIME")[0] < 1


def test_the_lists_of_osts_that_the_reference_drops_are_there():
    (path,) = [path for path in LOGS if path.name == "sample-badost.darshan"]
    stripes = ours(path).lustre()
    assert ours(path).header.modules["LUSTRE"].version == 1
    assert len(np.unique(stripes.osts)) == 24
    assert len(stripes.osts) == stripes.stripe_count.sum()
