"""The job record of a log: who ran what when, on how many processes, and what was mounted.

Up to 3.21 it is uid, start, end, nprocs, job id as words of 8 bytes; from 3.41 on nanoseconds stand
after start and end. Then 1024 bytes of `key=value` lines, the command line, and from the first line
break on the mounts, `type<TAB>path` in each line.
"""

import re
import struct
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Header
from pfscope.untrusted import ascii_text

_METADATA: Final = 1024
_MOST_PROCESSES: Final = 10**8
_LATEST_S: Final = 9_000_000_000
SIZE: Final = 4096
"""A job record is not longer."""


class Mount(NamedTuple):
    """A file system, and where it is mounted."""

    path: str
    fs_type: str


class Job(NamedTuple):
    """What a log says of its run. Text is ASCII, other bytes as `\\xHH`."""

    job_id: int
    uid: int
    nprocs: int
    start_us: int
    end_us: int
    run_s: float
    """Longer by a second than the difference, where times are whole seconds."""
    command: str | None
    metadata: dict[str, str]
    mounts: tuple[Mount, ...]
    """The longest path first."""

    @property
    def executable(self) -> str | None:
        """The last part of the program's path."""
        first = (self.command or "").split(maxsplit=1)
        return PurePosixPath(first[0]).name or None if first else None


def read_job(header: Header, record: bytes) -> Job:
    """Read the record; DarshanError: it is cut, or says what cannot be true."""
    exact = header.release >= 341
    form = struct.Struct(f"{header.order}{'7q' if exact else '5q'}")
    if len(record) <= form.size:
        raise DarshanError("the job record is cut short")
    numbers = form.unpack_from(record)
    if not exact:
        uid, start, end, nprocs, job_id = numbers
        start_ns = end_ns = 0
    else:
        uid, start, start_ns, end, end_ns, nprocs, job_id = numbers
    _check(nprocs, start, start_ns, end, end_ns)
    texts = record[form.size :]
    command, *mounts = texts[_METADATA:].partition(b"\0")[0].split(b"\n")
    return Job(
        job_id=job_id,
        uid=uid,
        nprocs=nprocs,
        start_us=start * 10**6 + start_ns // 1000,
        end_us=end * 10**6 + end_ns // 1000,
        run_s=end - start + (end_ns - start_ns) / 1e9 + (not exact),
        command=ascii_text(command) or None,
        metadata=_metadata(texts[:_METADATA]),
        mounts=_mounts(mounts),
    )


def user_of(log_name: str, executable: str | None) -> str | None:
    """Return the user of `USER_EXECUTABLE_idJOBID_…`, as Darshan names its logs.

    >>> user_of("snyder_python3_id3116902-2110365_12-19-66957-1889_1.darshan", "python3")
    'snyder'
    >>> user_of("some_one_my_app_id7_1-1-1-1_1.darshan", "my_app"), user_of("sample.darshan", None)
    ('some_one', None)
    """
    head = re.match(r"(.+)_id\d+[-_]", log_name)
    if head is None:
        return None
    exact = head[1].removesuffix(f"_{executable}")
    user = exact if executable and exact != head[1] else head[1].partition("_")[0]
    return ascii_text(user.encode("utf-8", "surrogateescape")) or None


def _check(nprocs: int, start: int, start_ns: int, end: int, end_ns: int) -> None:
    if not 0 < nprocs < _MOST_PROCESSES:
        raise DarshanError(f"a job of {nprocs} processes makes no sense")
    if not 0 <= start_ns < 10**9 or not 0 <= end_ns < 10**9:
        raise DarshanError("the nanoseconds of the job's times make no sense")
    if not 0 <= start <= end <= _LATEST_S or (end, end_ns) < (start, start_ns):
        raise DarshanError(f"a job from {start} to {end} (seconds since 1970) makes no sense")


def _metadata(raw: bytes) -> dict[str, str]:
    lines = raw.partition(b"\0")[0].split(b"\n")
    pairs = (line.partition(b"=") for line in lines if b"=" in line)
    return {ascii_text(key): ascii_text(value) for key, _, value in pairs}


def _mounts(lines: list[bytes]) -> tuple[Mount, ...]:
    pairs = [line.split(b"\t") for line in lines if line.count(b"\t") == 1]
    mounts = {Mount(ascii_text(path), ascii_text(kind)) for kind, path in pairs if path}
    # What is mounted on an automounter's place hides it.
    order = sorted(mounts, key=lambda m: (-len(m.path), m.path, m.fs_type == "autofs", m.fs_type))
    return tuple(order)
