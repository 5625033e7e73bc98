"""The columns of what is not Darshan's: Slurm's accounting, LMT, and what was imported."""

from typing import Final

import pyarrow as pa

from pfscope.logs.slurm_tables import ALLOCATIONS, STEPS
from pfscope.mine.schema_parts import FLAG, FLOAT, INT, SMALL, TEXT, TIME, Column, Columns

_OWN: Final = {
    "job_id": "Slurm's raw id of the job",
    "array_job": "the array that it is of",
    "array_task": "which task of it",
    "het_job": "the heterogeneous job that it is of",
    "het_offset": "which part of it",
    "user": "number of the user, as text",
    "user_name": "name of the user",
    "group": "number of the group, as text",
    "project": "the account",
    "nodes": "a list as Slurm writes it",
    "node_count": "how many",
    "step": "`batch`, `extern`, `interactive`, or the number of an srun",
    "start": "when it began; of a job that has not begun, when it was submitted: see `begun`",
    "end": "when it ended; null while it runs",
    "mean_read_bytes": "bytes that a task read, in the mean",
    "mean_write_bytes": "bytes that a task wrote, in the mean",
}
_DIGEST: Final = Column("log", TEXT, "digest of the content of the file that says so")


def _columns(schema: pa.Schema) -> Columns:
    named = [("job_id" if field.name == "job" else field.name, field.type) for field in schema]
    return tuple(
        Column(name, kind, _OWN.get(name, f"sacct's {name.replace('_', ' ')}"))
        for name, kind in named
        if name != "line"
    )


_BEGUN: Final = Column("begun", FLAG, "it began: `start` is that time")
SLURM: Final[Columns] = (*_columns(ALLOCATIONS), _BEGUN, _DIGEST)
SLURM_STEP: Final[Columns] = (*_columns(STEPS), _BEGUN, _DIGEST)

LMT: Final[Columns] = (
    Column("time", TIME, "end of the step"),
    Column("step_s", FLOAT, "length of the step"),
    Column("filesystem", TEXT, "name of the file system: `scratch`"),
    Column("target", TEXT, "name of the target: `scratch-OST000f`"),
    Column("ost", SMALL, "index of the OST, as in a Darshan log; null: an MDT"),
    Column("server", TEXT, "the server that had the target; null where the log does not say"),
    Column("bytes_read", INT, "bytes read in the step; null: not known"),
    Column("bytes_written", INT, "bytes written in the step; null: not known"),
    Column("metadata_operations", INT, "operations of an MDT in the step; null: not known"),
    Column("cpu_share", FLOAT, "share of its server's CPU that was busy; null: not known"),
    Column("kbytes_used", INT, "KiB in use; null: not known"),
    Column("kbytes_free", INT, "KiB free; null: not known"),
    Column("inodes_used", INT, "inodes in use; null: not known"),
    Column("inodes_free", INT, "inodes free; null: not known"),
    _DIGEST,
)

IMPORTS: Final[Columns] = (
    _DIGEST,
    Column("kind", TEXT, "`darshan`, `slurm` or `lmt`"),
    Column("path", TEXT, "where it was when it was imported"),
    Column("size_bytes", INT, "its size"),
    Column("modified_us", INT, "when it was last changed, microseconds since 1970"),
    Column("state", TEXT, "`whole`, `partial`, `quarantined`, or `outside` the period"),
    Column("reason", TEXT, "what is missing, or why it could not be read"),
    Column("rows", INT, "rows that it gave to all tables"),
    Column("job_id", TEXT, "the job of a Darshan log"),
    Column("start", TIME, "when what it tells of began"),
    Column("end", TIME, "when it ended"),
    Column("imported", TIME, "when it was imported"),
)
