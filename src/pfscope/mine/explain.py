"""Explains one run: its critical path, its factors beside those of its program's other runs, and
findings in words.
"""

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.errors import InputError, UsageError
from pfscope.mine.both_sides import both_sides
from pfscope.mine.explain_facts import SEVERITIES, Facts, Finding
from pfscope.mine.explain_places import PLACES
from pfscope.mine.explain_rules import RULES
from pfscope.mine.factors import Worked, work_out
from pfscope.mine.factors_cohort import compare
from pfscope.mine.factors_files import files_measured
from pfscope.mine.factors_low import factors_of
from pfscope.mine.factors_osts import OstUse, ost_use
from pfscope.mine.factors_others import Others, others_on
from pfscope.mine.factors_ranks import rank_shares
from pfscope.mine.factors_rules import Rules
from pfscope.mine.sources import Tables
from pfscope.mine.sweep_files import Spans, joined_spans, numbers, path_of, run_numbers
from pfscope.times import iso

if TYPE_CHECKING:
    from pfscope.query.data import Data

MORE: Final = (
    "name", "osts", "stripe_count", "stripe_size", "bytes_read", "bytes_written",
    "posix_bytes_read", "posix_bytes_written",
    "posix_max_byte_read", "posix_max_byte_written", "write_flush_end_s",
)  # fmt: skip
"""What is told of a run's files besides their measures."""
_DIGEST: Final = re.compile(r"[0-9a-f]{32}")
_TOP_FILES: Final = 20
_PEERS: Final = 20_000
"""Runs that one is compared with at most, the latest ones."""


def find_run(tables: Tables, name: str) -> str:
    """Return the log of a job's run that moved most bytes, or the log itself if that is named."""
    jobs = tables.table("darshan_job")
    column = "log" if _DIGEST.fullmatch(name) else "job_id"
    found = tables.rows(
        jobs.filter(jobs[column] == name).select("log", "bytes_read", "bytes_written")
    )
    if not found.num_rows:
        raise InputError(f"the lake has no run of job {name}, and there is no such log")
    moved = np.nan_to_num(numbers(found["bytes_read"])) + np.nan_to_num(
        numbers(found["bytes_written"])
    )
    order = sorted(range(found.num_rows), key=lambda i: (-moved[i], found["log"][i].as_py()))
    log: str = found["log"][order[0]].as_py()
    return log


def runs_of(tables: Tables, job: str) -> int:
    """Return how many runs of a job there are."""
    jobs = tables.table("darshan_job")
    return int(tables.rows(jobs.filter(jobs.job_id == job).select("log")).num_rows)


def only_log(tables: Tables) -> str:
    """Return the one log that is there."""
    log: str = tables.rows(tables.table("darshan_job").select("log"))["log"][0].as_py()
    return log


def gather_facts(tables: Tables, log: str, rules: Rules, among: Tables | None = None) -> Facts:
    """Bring together what is known of a run, and `among` which others it is to be compared."""
    jobs = tables.table("darshan_job")
    job = tables.rows(jobs.filter(jobs.log == log).drop("date"))
    row: dict[str, Any] = job.to_pylist()[0]
    worked = _worked(tables, log, rules, job)
    (run,) = worked.runs.to_pylist()
    use = use_of_osts(worked)
    peers = _peers(among, row, rules) if among else None
    return Facts(
        rules=rules,
        job=row,
        run=run,
        worked=worked,
        use=use,
        ranks=_ranks(tables, log, worked, rules),
        flushed_s=_flushed(worked, rules, job),
        cohort=None if peers is None else compare(peers),
        peers=peers,
        others=_others(among or tables, row, worked, use, rules),
    )


def with_servers(facts: Facts, data: "Data") -> Facts:
    """Add what the servers saw of the same job."""
    files, use = facts.worked.files, facts.use
    sides = (both_sides(data, facts.job, files, use, kind) for kind in facts.rules.kinds)
    return facts._replace(servers=tuple(side for side in sides if side is not None))


def findings(facts: Facts) -> list[Finding]:
    """Return what is to be said of a run, the worst first."""
    found = [finding for rule in (*PLACES, *RULES) if (finding := rule(facts)) is not None]
    if not facts.run["files"]:
        what = {"metadata": "opened", "all": "used"}.get(
            facts.rules.operation, {"read": "read", "write": "written"}.get(facts.rules.operation)
        )
        found.append(Finding("nothing-done", "info", f"No file was {what}.", "", {}))
    elif not any(finding.severity in ("critical", "warning") for finding in found):
        text = "Nothing in the run's counters explains a low bandwidth."
        found.append(Finding("nothing-found", "good", text, "", {}))
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def as_json(facts: Facts) -> dict[str, Any]:
    """Return all that is known of a run, as the command and programs have it."""
    run = {name: value for name, value in facts.run.items() if name not in ("start", "log")}
    shares = zip(facts.use.ost.tolist(), facts.use.time_share.tolist(), strict=True)
    return {
        **run,
        "log": facts.run["log"],
        "start": iso(round(facts.run["start"].timestamp() * 1e6)),
        "intervals": facts.rules.intervals,
        "small_bytes": facts.rules.small_bytes,
        "ost_time_share": {str(ost): share for ost, share in shares},
        "rank_time_share": {str(rank): share for rank, share in facts.ranks.items()},
        "top_files": top_files(facts),
        "servers": [side.told() for side in facts.servers],
        "findings": [finding.told() for finding in findings(facts)],
    }


def top_files(facts: Facts, most: int = _TOP_FILES) -> list[dict[str, Any]]:
    """Return the files that most of the critical time goes to."""
    worked = facts.worked
    order = np.argsort(-worked.exclusive, kind="stable")[:most]
    order = order[worked.exclusive[order] > 0]
    columns = ["file_id", "name", "rank", "ranks", "stripe_count", "moved"]
    rows = worked.files.select(columns).take(pa.array(order)).to_pylist()
    whole = worked.exclusive.sum()
    return [
        {**row, "moved": int(row["moved"]), "exclusive_s": spent, "time_share": spent / whole}
        for row, spent in zip(rows, worked.exclusive[order].tolist(), strict=True)
    ]


def use_of_osts(worked: Worked) -> OstUse:
    """Return what each OST had to do with a run."""
    in_use = np.bincount(
        worked.spans.row, worked.spans.end - worked.spans.start, worked.files.num_rows
    ).astype(np.float64)
    return ost_use(worked.files["osts"], worked.exclusive, in_use, numbers(worked.files["moved"]))


def _worked(tables: Tables, log: str, rules: Rules, job: pa.Table) -> Worked:
    files = tables.table("darshan_file")
    measured = tables.rows(files_measured(files.filter(files.log == log), rules, MORE))
    traced = None
    if rules.intervals == "exact":
        dxt = tables.table("darshan_dxt")
        dxt = dxt.filter((dxt.log == log) & (dxt.module == "POSIX"))
        traced = tables.rows(dxt.select("log", "file_id", "operation", "start_s", "end_s"))
        if not traced.num_rows:
            raise UsageError("the log has no traces of POSIX calls (DXT): use --intervals span")
    return work_out(job, measured, rules, traced)


def _ranks(tables: Tables, log: str, worked: Worked, rules: Rules) -> dict[int, float]:
    """Return ranks on the critical path; of shared files, where the log tells ranks apart."""
    rows = tables.table("darshan_rank")
    columns = [f"{kind}_{end}_s" for kind in rules.kinds for end in ("start", "end")]
    single = tables.rows(rows.filter(rows.log == log).select("rank", *columns))
    ranks = single["rank"].to_numpy().astype(np.int64)
    spans = [
        Spans(ranks, numbers(single[f"{kind}_start_s"]), numbers(single[f"{kind}_end_s"]))
        for kind in rules.kinds
    ]
    of_ranks = joined_spans(spans)
    critical = float(worked.path.length.sum())
    return rank_shares(worked.files, worked.spans, of_ranks, of_ranks.row, critical)


def _flushed(worked: Worked, rules: Rules, job: pa.Table) -> float | None:
    """Return the critical time of writes with their flushes."""
    if rules.operation != "write" or rules.intervals != "span":
        return None
    files = worked.files
    spans = Spans(
        np.arange(files.num_rows), numbers(files["write_from"]), numbers(files["write_flush_end_s"])
    )
    path = path_of(spans, run_numbers(files["log"], job["log"]))
    return float(path.length.sum())


def _peers(tables: Tables, job: dict[str, Any], rules: Rules) -> pa.Table | None:
    """Return the factors of runs of the same program."""
    if job["executable"] is None:
        return None
    jobs = tables.table("darshan_job")
    same = jobs.filter(jobs.executable == job["executable"])
    if job["user"] is not None:
        same = same.filter(same.user == job["user"])
    latest = same.order_by(same.start.desc(), same.log).limit(_PEERS)
    return factors_of(tables, rules, latest)


def _others(
    tables: Tables, job: dict[str, Any], worked: Worked, use: OstUse, rules: Rules
) -> Others | None:
    """Return what others did on the run's OSTs in its time, if LMT's counts are there."""
    import ibis

    if not rules.kinds or not len(use.ost) or not len(worked.spans.row):
        return None
    begin, end = float(worked.spans.start.min()), float(worked.spans.end.max())
    lmt = tables.table("lmt")
    first, last = (ibis.literal(job["start"]) + ibis.interval(seconds=int(s)) for s in (begin, end))
    near = lmt.filter(
        lmt.ost.notnull(), lmt.time >= first, lmt.time <= last + ibis.interval(seconds=600),
        lmt.date >= first.date(), lmt.date <= (last + ibis.interval(seconds=600)).date(),
    )  # fmt: skip
    moved = [near[{"read": "bytes_read", "write": "bytes_written"}[kind]] for kind in rules.kinds]
    steps = tables.rows(near.select("ost", "step_s", "time", bytes=sum(moved[1:], moved[0])))
    since = pc.subtract(steps["time"], pa.scalar(job["start"], pa.timestamp("us", "UTC")))
    told = steps.append_column("end_s", pc.divide(pc.cast(since, pa.int64()), 1e6))
    return others_on(use, told, begin, end)
