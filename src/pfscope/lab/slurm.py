"""Jobs as `sacct --allusers --parsable2 --duplicates` prints them at one moment, times in UTC.

One line for each job and, once it started, for its steps: `.batch` or `.interactive`, `.extern`,
`.0`. Array tasks are `120_4` with their own JobIDRaw; who still runs ends at `Unknown`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from pfscope.lab.site import Site
from pfscope.lab.workload import Job

COLUMNS = (
    "JobID", "JobIDRaw", "JobName", "User", "UID", "Group", "GID", "Account", "Cluster",
    "Partition", "State", "ExitCode", "Submit", "Eligible", "Start", "End", "Elapsed",
    "ElapsedRaw", "Timelimit", "NNodes", "AllocCPUS", "NodeList",
)  # fmt: skip
_EXIT = {"FAILED": "1:0", "TIMEOUT": "0:0", "CANCELLED": "0:0", "OUT_OF_MEMORY": "0:125"}
_OF_JOB = ("User", "UID", "Group", "GID", "Partition", "Timelimit")
"""Empty in the lines of steps."""


def sacct_text(site: Site, jobs: Iterable[Job], now_s: float) -> str:
    """Return what sacct prints at `now_s`; jobs that were not submitted yet are left out."""
    known = sorted((job for job in jobs if job.submit_s <= now_s), key=lambda job: job.raw_id)
    lines = ["|".join(COLUMNS)]
    for job in known:
        # A task that waits has no line of its own yet.
        if job.start_s <= now_s or job.array_id is None:
            lines += ("|".join(row[name] for name in COLUMNS) for row in _rows(site, job, now_s))
    return "\n".join(lines) + "\n"


def _rows(site: Site, job: Job, now_s: float) -> Iterator[dict[str, str]]:
    row = _job_row(site, job, now_s)
    yield row
    if job.start_s > now_s:
        return
    plain = {**row, **dict.fromkeys(_OF_JOB, ""), "State": row["State"].partition(" ")[0]}
    first = {"NNodes": "1", "AllocCPUS": str(job.cores_per_node),
             "NodeList": site.compute[job.nodes[0]].name}  # fmt: skip
    script = "interactive" if job.partition == "interactive" else "batch"
    steps: tuple[tuple[str, str, dict[str, str]], ...] = (
        (script, script, first),
        ("extern", "extern", {}),
        ("0", job.executable, {}),
    )
    for step, name, changes in steps:
        ids = {key: f"{row[key]}.{step}" for key in ("JobID", "JobIDRaw")}
        state = {"State": "COMPLETED", "ExitCode": "0:0"} if step == "extern" else {}
        ended = state if plain["State"] not in ("RUNNING", "PENDING") else {}
        yield {**plain, **ids, "JobName": name, "Submit": row["Start"], "Eligible": row["Start"],
               **changes, **ended}  # fmt: skip


def _job_row(site: Site, job: Job, now_s: float) -> dict[str, str]:
    user, waiting, over = site.users[job.user], job.start_s > now_s, job.end_s <= now_s
    elapsed = 0 if waiting else int(min(job.end_s, now_s)) - int(job.start_s)
    state = job.state if over else "PENDING" if waiting else "RUNNING"
    return {
        "JobID": job.slurm_id,
        "JobIDRaw": str(job.raw_id),
        "JobName": job.name,
        "User": user.name,
        "UID": str(user.uid),
        "Group": user.project,
        "GID": str(user.gid),
        "Account": user.project,
        "Cluster": site.preset.partition("-")[0],
        "Partition": job.partition,
        "State": f"CANCELLED by {user.uid}" if state == "CANCELLED" else state,
        "ExitCode": _EXIT.get(state, "0:0"),
        "Submit": _time(job.submit_s),
        "Eligible": _time(job.submit_s),
        "Start": "Unknown" if waiting else _time(job.start_s),
        "End": _time(job.end_s) if over else "Unknown",
        "Elapsed": span(elapsed),
        "ElapsedRaw": str(elapsed),
        "Timelimit": span(int(job.limit_s)),
        "NNodes": str(len(job.nodes)),
        "AllocCPUS": "0" if waiting else str(job.cores_per_node * len(job.nodes)),
        "NodeList": "None assigned" if waiting else node_list(
            [site.compute[node].name for node in job.nodes]
        ),
    }  # fmt: skip


def _time(time_s: float) -> str:
    return datetime.fromtimestamp(int(time_s), UTC).strftime("%Y-%m-%dT%H:%M:%S")


def span(seconds: int) -> str:
    """Return a duration as Slurm writes it: `[days-]hours:minutes:seconds`."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    text = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def node_list(names: Sequence[str]) -> str:
    """Compress node names as Slurm does: `r01c[01-04,07],r02c01`."""
    groups: dict[tuple[str, int], list[int]] = {}
    for name in names:
        found = re.fullmatch(r"(.*?)(\d+)", name)
        prefix, digits = (found[1], found[2]) if found else (name, "")
        groups.setdefault((prefix, len(digits)), []).append(int(digits or 0))
    return ",".join(
        _group(prefix, width, sorted(numbers)) for (prefix, width), numbers in groups.items()
    )


def _group(prefix: str, width: int, numbers: list[int]) -> str:
    if not width:
        return prefix
    if len(numbers) == 1:
        return f"{prefix}{numbers[0]:0{width}d}"
    parts = []
    first = last = numbers[0]
    for number in [*numbers[1:], -1]:
        if number != last + 1:
            text = f"{first:0{width}d}"
            parts.append(text if first == last else f"{text}-{last:0{width}d}")
            first = number
        last = number
    return f"{prefix}[{','.join(parts)}]"
