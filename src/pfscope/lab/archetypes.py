"""How jobs use a file system, as data: one row for each I/O archetype.

Rates are relative, per node; `calibration` turns them into requests per second. An archetype is on
for `duty` of each `period_s` and then works harder, so that its mean is what the row says.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.dialects import DIALECTS, Kind

KIB, MIB = 1024, 1024 * 1024
SLOTS = 3
"""An archetype reads, and writes, with at most so many different sizes."""
LARGE = MIB
"""Requests from this size on are calibrated apart from the smaller ones."""

_NEWEST = DIALECTS["2.17"]
OPERATIONS: dict[Kind, tuple[str, ...]] = {
    "mdt": _NEWEST.mdt_operations,
    "ost": _NEWEST.ost_operations,
}
"""The operations that are simulated: those of the newest release hold all others."""

SIZED = ("read_bytes", "write_bytes", "read", "write")
"""Operations that are drawn by the size of their requests."""

Rates = dict[str, float]
Sizes = tuple[tuple[int, float], ...]
"""(bytes of one request, requests)."""


@dataclass(frozen=True, slots=True)
class Archetype:
    """One way to load a file system."""

    name: str
    share: float
    """How common it is among users; zero: not chosen by people."""
    main: tuple[str, ...]
    """What an incident of this kind raises, on the kind of target that `main_kind` names."""
    mdt: Rates = field(default_factory=dict)
    ost: Rates = field(default_factory=dict)
    reads: Sizes = ()
    writes: Sizes = ()
    mdt_reads: Sizes = ()
    """Data on the MDT."""
    mdt_writes: Sizes = ()
    period_s: float = 0.0
    """Zero: always on."""
    duty: float = 1.0
    osts: int = 24
    """How many OSTs one node's processes touch."""
    touch_s: float = 120.0
    """Mean time between two touches of one target."""
    software: float = 0.4
    """Probability that it also uses the second storage area."""
    executables: tuple[str, ...] = ("a.out",)

    @property
    def main_kind(self) -> Kind:
        """Tell whether MDTs or OSTs feel this archetype most."""
        return "ost" if self.main[0] in ("read_bytes", "write_bytes") else "mdt"


_ALL = (
    Archetype(
        "periodic_checkpoint", 0.16, ("write_bytes",),
        mdt={"open": 0.05, "close": 0.1, "mknod": 0.02, "rename": 0.01, "unlink": 0.01,
             "getattr": 0.05, "setattr": 0.02, "sync": 0.02},
        ost={"punch": 0.05, "quotactl": 0.3, "sync": 0.02, "set_info": 0.001},
        reads=((64 * KIB, 0.05),), writes=((4 * MIB, 1.0), (MIB, 0.4), (8 * KIB, 0.1)),
        period_s=3600, duty=0.2, osts=8, touch_s=60, software=0.3,
        executables=("gmx_mpi", "vasp_std", "cp2k.psmp", "lmp", "elmersolver_mpi"),
    ),
    Archetype(
        "streaming_read", 0.12, ("read_bytes",),
        mdt={"open": 0.1, "close": 0.2, "getattr": 0.2, "getxattr": 0.01},
        ost={"quotactl": 0.2, "get_info": 0.001},
        reads=((4 * MIB, 2.0), (MIB, 0.6)), writes=((MIB, 0.03),),
        osts=10, touch_s=90, executables=("bwa", "samtools", "ncks", "cdo", "matlab"),
    ),
    Archetype(
        "metadata_storm", 0.04, ("open", "close", "getattr"),
        mdt={"open": 8.0, "close": 30.0, "getattr": 6.0, "getxattr": 0.3, "setattr": 0.2},
        ost={"quotactl": 0.1}, reads=((4 * KIB, 0.2),),
        touch_s=100, osts=12, executables=("find", "snakemake", "nextflow", "perl"),
    ),
    Archetype(
        "many_small_files", 0.12, ("mknod", "setattr", "close"),
        mdt={"open": 1.0, "close": 2.5, "mknod": 0.4, "unlink": 0.1, "mkdir": 0.01, "rmdir": 0.005,
             "getattr": 0.6, "setattr": 0.3, "setxattr": 0.03, "rename": 0.03, "link": 0.0001},
        ost={"quotactl": 0.6, "setattr": 0.01, "punch": 0.1},
        reads=((16 * KIB, 0.4), (4 * KIB, 0.3)), writes=((16 * KIB, 0.3), (4 * KIB, 0.3)),
        mdt_reads=((4 * KIB, 0.05),), mdt_writes=((4 * KIB, 0.05),),
        touch_s=120, executables=("R", "blastn", "gzip", "tar", "openfoam"),
    ),
    Archetype(
        "temporary_files", 0.08, ("mknod", "unlink"),
        mdt={"open": 0.5, "close": 1.5, "mknod": 0.8, "unlink": 0.8, "getattr": 0.3, "mkdir": 0.02,
             "rmdir": 0.02, "setattr": 0.05},
        ost={"punch": 0.4, "quotactl": 0.5},
        reads=((64 * KIB, 0.1),), writes=((64 * KIB, 0.3), (4 * KIB, 0.2)),
        period_s=900, duty=0.5, touch_s=120, executables=("orca", "g16", "molpro", "java"),
    ),
    Archetype(
        "python_import_storm", 0.10, ("open", "getattr"),
        mdt={"open": 3.0, "close": 4.0, "getattr": 3.0, "getxattr": 0.02, "mknod": 0.02},
        ost={"quotactl": 0.1}, reads=((128 * KIB, 0.3), (4 * KIB, 0.3)),
        period_s=1800, duty=0.15, touch_s=60, software=1.0,
        executables=("python3", "python3.9", "singularity", "ipython"),
    ),
    Archetype(
        "hot_file", 0.04, ("read_bytes",),
        mdt={"open": 0.3, "close": 0.5, "getattr": 0.4},
        ost={"quotactl": 0.3}, reads=((4 * MIB, 3.0), (MIB, 1.0)), writes=((MIB, 0.1),),
        osts=1, touch_s=60, executables=("python3", "diamond", "kraken2"),
    ),
    Archetype(
        "random_small_reads", 0.08, ("read_bytes",),
        mdt={"open": 0.6, "close": 1.0, "getattr": 0.5},
        ost={"quotactl": 0.1}, reads=((256 * KIB, 2.5), (64 * KIB, 2.0), (4 * KIB, 0.5)),
        writes=((MIB, 0.03),), touch_s=90, osts=16, executables=("python3", "train.py", "torchrun"),
    ),
    Archetype(
        "stat_polling", 0.05, ("getattr",),
        mdt={"getattr": 5.0, "open": 0.1, "close": 0.2}, ost={"quotactl": 0.05},
        reads=((4 * KIB, 0.02),), touch_s=150, osts=6, executables=("watch", "bash", "make", "ls"),
    ),
    Archetype(
        "idle", 0.21, ("open",),
        mdt={"open": 0.02, "close": 0.05, "getattr": 0.03}, ost={"quotactl": 0.02},
        reads=((64 * KIB, 0.02),), writes=((4 * KIB, 0.02),), touch_s=1200, osts=10,
        executables=("a.out", "sleep", "mpirun"),
    ),
    Archetype(
        "login", 0.0, ("open",),
        mdt={"open": 1.0, "close": 1.8, "getattr": 2.0, "getxattr": 0.2, "mknod": 0.05,
             "unlink": 0.04, "mkdir": 0.01, "rename": 0.01, "setattr": 0.05, "setxattr": 0.01,
             "statfs": 0.02, "sync": 0.01, "rmdir": 0.01},
        ost={"quotactl": 0.2, "punch": 0.02, "setattr": 0.005, "sync": 0.002},
        reads=((MIB, 0.2), (64 * KIB, 0.5), (4 * KIB, 0.5)), writes=((MIB, 0.1), (16 * KIB, 0.2)),
        touch_s=900, executables=("bash", "ls", "cp", "rsync", "vim", "python3", "git", "tar",
                                  "sftp-server", "ssh", "emacs-25.3", "less", "wget", "gcc"),
    ),
    Archetype(
        "system", 0.0, ("statfs",), mdt={"statfs": 1.0, "getattr": 0.002, "open": 0.0005},
        ost={"statfs": 1.0}, touch_s=3000, executables=(
            "sshd", "systemd", "crond", "bash", "rsyslogd", "node_exporter", "df", "ls", "stat",
            "find", "salt-minion", "auditd", "lfs", "rsync", "updatedb", "tmpwatch", "chronyd",
            "sssd_be",
        ),
    ),
    Archetype(
        "job_control", 0.0, ("getattr",), mdt={"getattr": 0.01, "open": 0.003, "close": 0.003},
        ost={"quotactl": 0.01}, touch_s=1500, executables=("slurmstepd",),
    ),
    Archetype(
        "unattributed", 0.0, ("open",), mdt=dict.fromkeys(_NEWEST.mdt_operations, 1.0),
        ost=dict.fromkeys(_NEWEST.ost_operations, 1.0), reads=((MIB, 1.0),), writes=((MIB, 1.0),),
        mdt_reads=((4 * KIB, 1.0),), mdt_writes=((4 * KIB, 1.0),),
    ),
)  # fmt: skip
ARCHETYPES: dict[str, Archetype] = {archetype.name: archetype for archetype in _ALL}
BY_PEOPLE = tuple(a for a in _ALL if a.share > 0)


@dataclass(frozen=True, slots=True)
class Profiles:
    """The registry as matrices, one row for each archetype, for one kind of target."""

    rates: NDArray[np.float64]
    """[archetypes, operations]"""
    slot_rates: NDArray[np.float64]
    """[archetypes, 2 * SLOTS]: reads, then writes."""
    slot_sizes: NDArray[np.int64]
    size_class: NDArray[np.int64]
    """Of each slot: 0 small read, 1 large read, 2 small write, 3 large write."""

    def sized(self, archetype: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return an archetype's requests and bytes per second by size class."""
        rates, classes = self.slot_rates[archetype], self.size_class[archetype]
        carried = rates * self.slot_sizes[archetype]
        return _binned(classes, rates), _binned(classes, carried)


def _binned(classes: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.bincount(classes, values, 4).astype(np.float64)


def profiles(kind: Kind) -> Profiles:
    """Return what all archetypes do on one kind of target."""
    operations = OPERATIONS[kind]
    rates = np.zeros((len(_ALL), len(operations)))
    slot_rates = np.zeros((len(_ALL), 2 * SLOTS))
    slot_sizes = np.ones((len(_ALL), 2 * SLOTS), np.int64)
    for row, archetype in enumerate(_ALL):
        for operation, rate in (archetype.mdt if kind == "mdt" else archetype.ost).items():
            if operation not in SIZED:
                rates[row, operations.index(operation)] = rate
        for slot, (size, rate) in _slots(archetype, kind):
            slot_rates[row, slot] = rate
            slot_sizes[row, slot] = size
    write = np.arange(2 * SLOTS) >= SLOTS
    return Profiles(rates, slot_rates, slot_sizes, 2 * write + (slot_sizes >= LARGE))


def _slots(archetype: Archetype, kind: Kind) -> list[tuple[int, tuple[int, float]]]:
    reads, writes = (
        (archetype.reads, archetype.writes)
        if kind == "ost"
        else (archetype.mdt_reads, archetype.mdt_writes)
    )
    return [*enumerate(reads), *enumerate(writes, SLOTS)]


def index_of(name: str) -> int:
    """Return the row of an archetype in the matrices."""
    return list(ARCHETYPES).index(name)


def column(name: str) -> NDArray[np.float64]:
    """Return one numeric field of all archetypes."""
    return np.array([float(getattr(archetype, name)) for archetype in _ALL])
