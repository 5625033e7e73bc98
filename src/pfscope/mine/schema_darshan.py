"""The columns of Darshan's tables. Times within a run are seconds since its `start`.

`COUNTERS` are those of Darshan's own counters that the lake keeps, by what becomes of them when the
records of a file's ranks, or of a run's files, are put together.
"""

from typing import Final, Literal, NamedTuple

from pfscope.mine.schema_parts import BITMAP, FLAG, FLOAT, INT, SMALL, TEXT, TIME, Column, Columns

SIZES: Final = (
    "0_100", "100_1k", "1k_10k", "10k_100k", "100k_1m", "1m_4m", "4m_10m", "10m_100m", "100m_1g",
    "1g_plus",
)  # fmt: skip
"""Darshan's bins of sizes; `1k` is 1 KiB, and a bin holds what is up to its upper bound."""

Merge = Literal["sum", "min", "max"]


class Counter(NamedTuple):
    """A counter of Darshan that the lake keeps, under its name in lower case."""

    module: str
    """The module's name in Darshan: `POSIX`, `MPI-IO`, `STDIO`, `DFS`, `H5F`, `PNETCDF_FILE`."""
    name: str
    merge: Merge
    """How the values of several ranks become the file's."""
    in_job: bool
    """Whether the sum over files stands in `darshan_job` too."""

    @property
    def column(self) -> str:
        """The column's name."""
        return self.name.lower()

    @property
    def is_time(self) -> bool:
        """Whether it is of seconds."""
        return "_F_" in self.name


def _counters(module: str, merge: Merge, names: str, *, in_job: bool = False) -> list[Counter]:
    prefix = {"MPI-IO": "MPIIO"}.get(module, module)
    return [Counter(module, f"{prefix}_{name}", merge, in_job) for name in names.split()]


def _bins(operation: str) -> str:
    return " ".join(f"SIZE_{operation}_{size.upper()}" for size in SIZES)


_STARTS: Final = (
    "F_OPEN_START_TIMESTAMP F_READ_START_TIMESTAMP F_WRITE_START_TIMESTAMP F_CLOSE_START_TIMESTAMP"
)
_ENDS: Final = (
    "F_OPEN_END_TIMESTAMP F_READ_END_TIMESTAMP F_WRITE_END_TIMESTAMP F_CLOSE_END_TIMESTAMP"
)
_SPENT: Final = "F_READ_TIME F_WRITE_TIME F_META_TIME"
COUNTERS: Final = (
    *_counters(
        "POSIX", "sum",
        "OPENS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS BYTES_READ BYTES_WRITTEN CONSEC_READS"
        " CONSEC_WRITES SEQ_READS SEQ_WRITES RW_SWITCHES MEM_NOT_ALIGNED FILE_NOT_ALIGNED "
        + _bins("READ") + " " + _bins("WRITE") + " " + _SPENT,
        in_job=True,
    ),
    *_counters(
        "POSIX", "max",
        "MODE MAX_BYTE_READ MAX_BYTE_WRITTEN MEM_ALIGNMENT FILE_ALIGNMENT F_MAX_READ_TIME"
        " F_MAX_WRITE_TIME " + _ENDS,
    ),
    *_counters("POSIX", "min", _STARTS),
    *_counters(
        "MPI-IO", "sum",
        "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS"
        " SPLIT_WRITES NB_READS NB_WRITES SYNCS HINTS VIEWS BYTES_READ BYTES_WRITTEN " + _SPENT,
        in_job=True,
    ),
    *_counters("MPI-IO", "max", _ENDS),
    *_counters("MPI-IO", "min", _STARTS),
    *_counters(
        "STDIO", "sum",
        "OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_READ BYTES_WRITTEN " + _SPENT,
        in_job=True,
    ),
    *_counters("STDIO", "max", "MAX_BYTE_READ MAX_BYTE_WRITTEN " + _ENDS),
    *_counters("STDIO", "min", _STARTS),
    *_counters(
        "DFS", "sum",
        "OPENS READS READXS WRITES WRITEXS NB_READS NB_WRITES BYTES_READ BYTES_WRITTEN " + _SPENT,
        in_job=True,
    ),
    *_counters("DFS", "max", _ENDS),
    *_counters("DFS", "min", _STARTS),
    *_counters("H5F", "sum", "OPENS FLUSHES F_META_TIME", in_job=True),
    *_counters("H5F", "max", "USE_MPIIO"),
    *_counters(
        "PNETCDF_FILE", "sum", "CREATES OPENS BYTES_READ BYTES_WRITTEN F_META_TIME", in_job=True
    ),
)  # fmt: skip
"""All that the lake keeps of the modules that count by file."""

_ROUNDED: Final = {"sum": "", "min": ", of the first rank", "max": ", the most of any rank"}


def _column(counter: Counter) -> Column:
    meaning = f"`{counter.name}`{_ROUNDED[counter.merge]}"
    return Column(counter.column, FLOAT if counter.is_time else INT, meaning)


_RUN: Final = (
    Column("log", TEXT, "digest of the log's content, 32 hexadecimal digits"),
    Column("job_id", TEXT, "the scheduler's job; several logs may have the same"),
    Column("start", TIME, "when the run began: to the second before log version 3.41"),
)
_FILE: Final = (
    Column("file_id", INT, "Darshan's record id: the hash of the path, as a signed number"),
)
_VOLUME: Final = (
    Column("bytes_read", INT, "bytes read by POSIX, STDIO and DFS calls: each byte once"),
    Column("bytes_written", INT, "bytes written by them"),
)
_SPANS: Final = (
    Column("read_start_s", FLOAT, "begin of the first read of those that read any bytes"),
    Column("read_end_s", FLOAT, "end of the last one"),
    Column("write_start_s", FLOAT, "begin of the first write of those that wrote any bytes"),
    Column("write_end_s", FLOAT, "end of the last one"),
)
_SPENT_S: Final = (
    Column("read_s", FLOAT, "time in reads by POSIX, STDIO and DFS calls, summed over ranks"),
    Column("write_s", FLOAT, "time in writes and flushes, summed over ranks"),
    Column("meta_s", FLOAT, "time in opens, closes, stats and seeks, summed over ranks"),
)
_FLUSHED: Final = Column(
    "write_flush_end_s", FLOAT,
    "`write_end_s`, or later where flushes took longer: `write_start_s` and the mean time of a"
    " rank in writes and flushes, at most the last close",
)  # fmt: skip
_OSTS: Final = (
    Column("ost_count", SMALL, "how many OSTs: null without a Lustre record"),
    Column("osts", BITMAP, "the OSTs: bit `i % 8` of byte `i // 8` is OST `i`"),
)
_PARTIAL: Final = Column(
    "partial", FLAG, "the log has not all records of a module of this row: sums are too small"
)

JOB: Final[Columns] = (
    *_RUN,
    Column("end", TIME, "when the run ended"),
    Column("run_s", FLOAT, "how long it ran: a second more than the difference before 3.41"),
    Column("uid", INT, "number of the user"),
    Column("user", TEXT, "name of the user, from the log's file name; null where that has none"),
    Column("executable", TEXT, "last part of the program's path"),
    Column("command", TEXT, "the command line, as far as the log has it"),
    Column("nprocs", INT, "number of processes"),
    Column("log_version", TEXT, "version of the log's format"),
    Column("modules", TEXT, "modules that have data, with commas between"),
    _PARTIAL,
    Column("partial_modules", TEXT, "modules without all their records; null: none"),
    *_VOLUME,
    Column("files", INT, "rows of `darshan_file`"),
    Column("files_read", INT, "files of which bytes were read"),
    Column("files_written", INT, "files to which bytes were written"),
    Column("files_shared", INT, "files that more than one rank used"),
    *_SPANS,
    *_SPENT_S,
    *_OSTS,
    *(_column(counter) for counter in COUNTERS if counter.in_job),
)

FILE: Final[Columns] = (
    *_RUN,
    *_FILE,
    Column("name", TEXT, "path, or `<STDIN>` and the like; null where the log has none"),
    Column("kind", TEXT, "`file`, `stream`, `system` (/proc, /sys, /dev), `library` or `unknown`"),
    Column("mount", TEXT, "where its file system is mounted, by the longest fitting mount"),
    Column("fs_type", TEXT, "type of that file system: `lustre`"),
    Column("modules", TEXT, "modules that have a record of it, with commas between"),
    _PARTIAL,
    Column("nprocs", INT, "number of processes of the run"),
    Column("ranks", INT, "ranks that used it: all of them where the record is of all"),
    Column("shared", FLAG, "more than one rank used it"),
    Column("rank", INT, "the rank, where it is one alone"),
    *_VOLUME,
    *_SPANS,
    _FLUSHED,
    Column("meta_start_s", FLOAT, "begin of the first open"),
    Column("meta_end_s", FLOAT, "end of the last close, or of the last open"),
    *_SPENT_S,
    Column("fastest_rank", INT, "the rank that spent least time; null where one rank used it"),
    Column("fastest_rank_bytes", INT, "bytes that it moved"),
    Column("fastest_rank_s", FLOAT, "time that it spent"),
    Column("slowest_rank", INT, "the rank that spent most time; null where one rank used it"),
    Column("slowest_rank_bytes", INT, "bytes that it moved"),
    Column("slowest_rank_s", FLOAT, "time that it spent"),
    Column("variance_rank_s", FLOAT, "variance of the time of ranks"),
    Column("variance_rank_bytes", FLOAT, "variance of the bytes of ranks"),
    *(
        Column(f"posix_access{i}_{what}", INT, f"{told}{of}")
        for i, of in ((1, ""), (2, ", second"), (3, ", third"), (4, ", fourth"))
        for what, told in (("access", "most frequent size of an access"), ("count", "its accesses"))
    ),
    Column("stripe_size", INT, "bytes; of the last initialised component"),
    Column("stripe_count", INT, "OSTs of a stripe; 0: data on the MDT. Of the last component too"),
    Column("stripe_offset", INT, "as asked for, -1: any; null from Darshan 3.4.6 on"),
    Column("components", SMALL, "initialised components of the layout"),
    Column("mirrors", SMALL, "mirrors of the layout"),
    *_OSTS,
    *(_column(counter) for counter in COUNTERS),
)

RANK_COUNTERS: Final = (
    *(
        counter for counter in COUNTERS
        if counter.module in ("POSIX", "MPI-IO", "STDIO") and counter.in_job
        and "SIZE_" not in counter.name and "ALIGN" not in counter.name
    ),
)  # fmt: skip
"""What `darshan_rank` keeps of them."""
RANK: Final[Columns] = (
    *_RUN,
    *_FILE,
    Column("rank", INT, "the rank"),
    *_VOLUME,
    *_SPANS,
    *_SPENT_S,
    *(_column(counter) for counter in RANK_COUNTERS),
)

OBJECT: Final[Columns] = (
    *_RUN,
    Column("module", TEXT, "`H5D`, `PNETCDF_VAR` or `DAOS`"),
    Column("object_id", INT, "Darshan's record id of the object"),
    Column("file_id", INT, "the file that it is in; null where the log does not say"),
    Column("name", TEXT, "its name"),
    Column("ranks", INT, "ranks that used it"),
    Column("opens", INT, "how often it was opened"),
    Column("reads", INT, "reads, all kinds"),
    Column("writes", INT, "writes, all kinds"),
    Column("coll_reads", INT, "collective reads of PnetCDF; null elsewhere"),
    Column("coll_writes", INT, "collective writes of PnetCDF; null elsewhere"),
    Column("bytes_read", INT, "bytes; they are counted by the file too"),
    Column("bytes_written", INT, "bytes; they are counted by the file too"),
    *_SPANS,
    *_SPENT_S,
    _PARTIAL,
)

DXT: Final[Columns] = (
    *_RUN,
    *_FILE,
    Column("module", TEXT, "`POSIX` or `MPI-IO`"),
    Column("rank", INT, "the rank"),
    Column("host", TEXT, "its node"),
    Column("operation", TEXT, "`read` or `write`"),
    Column("offset", INT, "where in the file; null where the version does not say"),
    Column("length", INT, "bytes"),
    Column("start_s", FLOAT, "begin"),
    Column("end_s", FLOAT, "end"),
    Column("thread", INT, "thread that did it; null before Darshan 3.5"),
)

HEATMAP: Final[Columns] = (
    *_RUN,
    Column("module", TEXT, "`POSIX`, `MPI-IO`, `STDIO` or as the log names it"),
    Column("rank", INT, "the rank"),
    Column("start_s", FLOAT, "begin of the span"),
    Column("end_s", FLOAT, "end of the span"),
    Column("bytes_read", INT, "bytes read in it"),
    Column("bytes_written", INT, "bytes written in it"),
)
