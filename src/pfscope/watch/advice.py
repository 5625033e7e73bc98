"""What to do about a kind of load: words for the user, and commands for the admin to paste.

Commands are text: pfscope never runs them. What a user could have chosen is quoted for the shell.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from pfscope.watch.archetype import MALFORMED_IDS
from pfscope.watch.model import Advice, Cause

LINK: Final = "docs/how-to/advise-users.md"
_PLAIN: Final = re.compile(r"[A-Za-z0-9]{1,24}")
ID_LINK: Final = "docs/how-to/choose-jobid-name.md"
TBF_RATE: Final = 100
"""Requests a second that a throttled user or job keeps; a start that an admin adapts."""
_WORDS: Final = {
    "metadata_storm": (
        "The job opens and closes files again and again. Open a file once and keep it open, read "
        "lists of files once, and work on local disk or in memory where files are small."
    ),
    "many_small_files": (
        "The job makes very many small files or requests. Put data into few large files (tar, "
        "HDF5, SQLite, a container image), or work on local disk and copy the result."
    ),
    "temporary_files": (
        "The job makes files and removes them soon after. Set TMPDIR to local disk or /dev/shm, so "
        "that temporary files never reach the file system."
    ),
    "python_import_storm": (
        "Many processes start a program of thousands of files at once. Put the environment into a "
        "container image or on local disk, and start processes one after another."
    ),
    "stat_polling": (
        "The job asks for the attributes of files again and again. Wait for events instead of "
        "looking, or look once in many seconds; avoid ls -l and du in loops."
    ),
    "hot_file": (
        "One file on one OST serves all processes. Stripe it over several OSTs before it is "
        "written (lfs setstripe -c 8), or give each node a copy of its own."
    ),
    "random_small_reads": (
        "The job reads in small pieces. Read whole files or large blocks, shuffle lists instead of "
        "offsets, or copy the data to local disk first."
    ),
    "streaming_read": (
        "The job reads large amounts at full speed, which is what the file system is made for. If "
        "the same data is read repeatedly, keep it in memory or on local disk; stripe large files."
    ),
    "periodic_checkpoint": (
        "The job writes large amounts at once, which is what the file system is made for. Write "
        "checkpoints less often, spread them over time, and stripe large files."
    ),
    "unknown": (
        "The pattern fits none that we know. Look at the operations of the job, and profile it "
        "with Darshan if it stays unclear."
    ),
}


def advice(kind: str, causes: Sequence[Cause], targets: Sequence[str], start: str) -> Advice:
    """Return what the user should change, and what the admin can do."""
    if kind == MALFORMED_IDS:
        return _of_ids(targets, start)
    main = causes[0] if causes else None
    if main is None or main.user is None:
        return Advice(
            "No single user or job is behind it: many did a little more.",
            "Nobody to talk to: look at what they have in common, such as a project or a node.",
            (_closer("project,executable", targets, start),),
            f"{LINK}#{kind}",
        )
    commands = [_closer("job,node,operation", targets, start, main), *_commands(main, targets)]
    who = f"user {main.user}" + (f", job {main.job}" if main.job else "")
    admin = f"{who} makes up {main.share:.0%} of the increase: talk, hold the job, or throttle it."
    return Advice(words_for(kind), admin, tuple(commands), f"{LINK}#{kind}")


def words_for(kind: str) -> str:
    """Return what the user of a load of some kind should change."""
    return _WORDS.get(kind, _WORDS["unknown"])


def _of_ids(targets: Sequence[str], start: str) -> Advice:
    """Return what to do about ids that are damaged, which is nobody's fault."""
    picked = " ".join(f"--target {shlex.quote(target)}" for target in targets[:3])
    return Advice(
        "Nobody has to change anything: servers cut or overwrote the names of jobs.",
        "Usage is counted in full, but less of it has a name; a jobid_name without the host's "
        "domain and newer releases of Lustre damage fewer.",
        (f"pfscope query quality --data DIR --from {start} {picked}".rstrip(),),
        ID_LINK,
    )


def _closer(by: str, targets: Sequence[str], start: str, cause: Cause | None = None) -> str:
    picked = [f"--target {shlex.quote(target)}" for target in targets[:3]]
    if cause and cause.user and _is_word(cause.user):
        picked.append(f"--user {shlex.quote(cause.user)}")
    return f"pfscope query top --data DIR --by {by} --from {start} {' '.join(picked)}".rstrip()


def _commands(cause: Cause, targets: Sequence[str]) -> list[str]:
    """Return how to hold the job and how to throttle it on the servers.

    What no shell or terminal takes for one harmless word is left out.
    """
    found = []
    if cause.job and _is_word(cause.job):
        job = shlex.quote(cause.job)
        found += [f"scontrol {what} {job}" for what in ("show job", "hold", "suspend", "requeue")]
    found.append(_throttle(cause, targets))
    return found


def _throttle(cause: Cause, targets: Sequence[str]) -> str:
    """Return a rule of Lustre's token bucket filter: by job where ids name it, else by user."""
    if _is_plain(cause.job):
        name, fits = f"pfscope_j{cause.job}", f"jobid={{*{cause.job}*}}"
    else:
        user = cause.user if _is_plain(cause.user) else "UID"
        name, fits = f"pfscope_u{user}", f"uid={{{user}}}"
    service = "ost.OSS.ost_io" if targets and "-OST" in targets[0] else "mds.MDS.mdt"
    rule = shlex.quote(f"start {name} {fits} rate={TBF_RATE}")
    return f"lctl set_param {service}.nrs_policies=tbf {service}.nrs_tbf_rule={rule}"


def _is_word(name: str) -> bool:
    """Tell whether a name can be an argument, if it is quoted: no option, nothing for terminals."""
    return name.isprintable() and not name.startswith("-")


def _is_plain(name: str | None) -> bool:
    return bool(name) and _PLAIN.fullmatch(name or "") is not None
