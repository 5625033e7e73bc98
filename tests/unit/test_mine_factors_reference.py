"""The factors of real logs equal those that plain Python works out from PyDarshan's records."""

from hashlib import blake2b

import pytest

from pfscope.logs.darshan import DarshanLog
from pfscope.mine.explain import use_of_osts
from pfscope.mine.factors import RUN_COLUMNS, work_out
from pfscope.mine.factors_files import files_measured
from pfscope.mine.factors_low import factors_of
from pfscope.mine.factors_rules import rules
from pfscope.mine.sources import open_lake
from tests.support import plain_factors
from tests.support.darshan_logs import real_logs
from tests.support.mine_lake import lake_of

REFUSED = {"damaged", "version-2", "bzip2"}
LOGS = [
    path for path in real_logs()
    # Of old logs in the other byte order, PyDarshan reads times that make no sense.
    if path.parent.name not in REFUSED and "ppc64" not in path.name
]  # fmt: skip
COMPARED = (
    "nprocs", "files", "critical_files", "span_s", "critical_s", "bandwidth_span_mib_s",
    "bandwidth_critical_mib_s", "small_pct", "nonconsec_pct", "coll_pct", "proc_per_ost",
    "ost_count",
)  # fmt: skip


def digest(path):
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    with open_lake(lake_of(LOGS, tmp_path_factory.mktemp("lake") / "lake")) as opened:
        yield opened


@pytest.fixture(scope="module")
def worked(tables):
    jobs = tables.table("darshan_job")
    return {
        operation: {
            row["log"]: row for row in factors_of(tables, rules(operation), jobs).to_pylist()
        }
        for operation in ("read", "write")
    }


def test_there_are_logs_with_and_without_stripes():
    with_stripes = [p for p in LOGS if "LUSTRE" in DarshanLog(p.read_bytes()).modules]
    assert 3 <= len(with_stripes) < len(LOGS)


@pytest.mark.parametrize("path", LOGS, ids=[path.name[:40] for path in LOGS])
def test_factors_and_shares_of_osts(tables, worked, path):
    plain_log = plain_factors.read(path)
    for operation, found in worked.items():
        plain = plain_factors.factors(plain_log, operation)
        ours = found[digest(path)]
        assert {name: ours[name] for name in COMPARED} == {
            name: pytest.approx(plain[name], rel=1e-9, abs=1e-9) for name in COMPARED
        }
        shares = ost_shares(tables, digest(path), operation)
        assert shares == pytest.approx(plain["ost_time_share"], rel=1e-9)


def ost_shares(tables, log, operation):
    files, jobs = tables.table("darshan_file"), tables.table("darshan_job")
    asked = rules(operation)
    measured = files_measured(files.filter(files.log == log), asked, ["osts"])
    job = jobs.filter(jobs.log == log).select(*RUN_COLUMNS)
    use = use_of_osts(work_out(tables.rows(job), tables.rows(measured), asked))
    return {o: s for o, s in zip(use.ost.tolist(), use.time_share.tolist(), strict=True) if s}
