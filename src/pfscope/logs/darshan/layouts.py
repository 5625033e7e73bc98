"""What the words of a record are, by module and version.

A record of a module that counts by file is words of 8 bytes: record id, rank, counters (signed),
counters of seconds (floating, their names have `_F_`), and what belongs to no counter.
"""

from typing import Final

_SIZES: Final = "0_100 100_1K 1K_10K 10K_100K 100K_1M 1M_4M 4M_10M 10M_100M 100M_1G 1G_PLUS"
_RANKS: Final = "FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES"
_RANK_TIMES: Final = "F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME"
_VARIANCES: Final = "F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES"
_FOUR: Final = ("OPEN", "READ", "WRITE", "CLOSE")
_STARTS: Final = " ".join(f"F_{name}_START_TIMESTAMP" for name in _FOUR)
_ENDS: Final = " ".join(f"F_{name}_END_TIMESTAMP" for name in _FOUR)
_SPENT: Final = "F_READ_TIME F_WRITE_TIME F_META_TIME"
_MOST: Final = "F_MAX_READ_TIME F_MAX_WRITE_TIME"
_TIMES: Final = f"{_STARTS} {_ENDS} {_SPENT}"
"""Timestamps and times as most modules have them now."""
_FIRST_TIMES: Final = (
    "F_OPEN_START_TIMESTAMP F_READ_START_TIMESTAMP F_WRITE_START_TIMESTAMP F_READ_END_TIMESTAMP"
    f" F_WRITE_END_TIMESTAMP F_CLOSE_END_TIMESTAMP {_SPENT}"
)
"""Before the first close and the last open were kept."""


def _bins(form: str) -> str:
    return " ".join(form + size for size in _SIZES.split())


def _numbered(form: str) -> str:
    return " ".join(form.format(i) for i in (1, 2, 3, 4))


_ACCESSES: Final = f"{_numbered('ACCESS{}_ACCESS')} {_numbered('ACCESS{}_COUNT')}"
_READ_AND_WRITE_BINS: Final = f"{_bins('SIZE_READ_')} {_bins('SIZE_WRITE_')}"
_AGGREGATED_BINS: Final = f"{_bins('SIZE_READ_AGG_')} {_bins('SIZE_WRITE_AGG_')}"
_SIZES_OF_LONGEST: Final = "MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
_POSIX_HEAD: Final = "READS WRITES SEEKS STATS MMAPS"
_POSIX_BODY: Final = (
    "BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS"
    " SEQ_WRITES RW_SWITCHES MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT"
    f" {_SIZES_OF_LONGEST} {_READ_AND_WRITE_BINS} {_numbered('STRIDE{}_STRIDE')}"
    f" {_numbered('STRIDE{}_COUNT')} {_ACCESSES} {_RANKS}"
)
_POSIX_TAIL: Final = f"{_MOST} {_RANK_TIMES} {_VARIANCES}"
_SYNCS: Final = "FSYNCS FDSYNCS"
_MPIIO: Final = (
    "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS"
    " SPLIT_WRITES NB_READS NB_WRITES SYNCS HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN RW_SWITCHES"
    f" {_SIZES_OF_LONGEST} {_AGGREGATED_BINS} {_ACCESSES} {_RANKS}"
)
_STDIO: Final = (
    "READS WRITES SEEKS FLUSHES BYTES_WRITTEN BYTES_READ MAX_BYTE_READ MAX_BYTE_WRITTEN"
    f" {_RANKS} F_META_TIME F_WRITE_TIME F_READ_TIME F_OPEN_START_TIMESTAMP"
    " F_CLOSE_START_TIMESTAMP F_WRITE_START_TIMESTAMP F_READ_START_TIMESTAMP"
    " F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WRITE_END_TIMESTAMP F_READ_END_TIMESTAMP"
    f" {_RANK_TIMES} {_VARIANCES}"
)
_OPEN_AND_CLOSE: Final = (
    "F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP"
)
_ONCE: Final = "F_OPEN_START_TIMESTAMP F_CLOSE_END_TIMESTAMP"
_DIMENSIONS: Final = (1, 2, 3, 4, 5)


def _hyperslabs() -> str:
    """The four most frequent accesses to a dataset: size, lengths and strides by dimension."""
    words = []
    for i in (1, 2, 3, 4):
        words += [f"ACCESS{i}_ACCESS"]
        words += [f"ACCESS{i}_LENGTH_D{d}" for d in _DIMENSIONS]
        words += [f"ACCESS{i}_STRIDE_D{d}" for d in _DIMENSIONS]
    return " ".join([*words, _numbered("ACCESS{}_COUNT")])


_H5D: Final = (
    "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES REGULAR_HYPERSLAB_SELECTS"
    f" IRREGULAR_HYPERSLAB_SELECTS POINT_SELECTS {_SIZES_OF_LONGEST} {_AGGREGATED_BINS}"
    f" {_hyperslabs()} DATASPACE_NDIMS DATASPACE_NPOINTS DATATYPE_SIZE CHUNK_SIZE_D1 CHUNK_SIZE_D2"
    f" CHUNK_SIZE_D3 CHUNK_SIZE_D4 CHUNK_SIZE_D5 USE_MPIIO_COLLECTIVE USE_DEPRECATED {_RANKS}"
    f" {_TIMES} {_MOST} {_RANK_TIMES} {_VARIANCES}"
)
_KINDS: Final = ("VAR", "VAR1", "VARA", "VARS", "VARM", "VARN")
_PUTS_AND_GETS: Final = " ".join(
    [f"PUT_{kind}" for kind in (*_KINDS, "VARD")]
    + [f"GET_{kind}" for kind in (*_KINDS, "VARD")]
    + [f"{what}_{kind}" for what in ("IPUT", "IGET", "BPUT") for kind in _KINDS]
)
_PNETCDF_VAR: Final = (
    "OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES NB_READS NB_WRITES BYTES_READ"
    f" BYTES_WRITTEN RW_SWITCHES {_PUTS_AND_GETS} {_SIZES_OF_LONGEST} {_AGGREGATED_BINS}"
    f" {_hyperslabs()} NDIMS NPOINTS DATATYPE_SIZE IS_RECORD_VAR {_RANKS} {_TIMES} {_MOST}"
    f" {_RANK_TIMES} {_VARIANCES}"
)
_DFS: Final = (
    "OPENS GLOBAL_OPENS LOOKUPS DUPS READS READXS WRITES WRITEXS NB_READS NB_WRITES GET_SIZES"
    f" PUNCHES REMOVES STATS BYTES_READ BYTES_WRITTEN RW_SWITCHES {_SIZES_OF_LONGEST}"
    f" {_READ_AND_WRITE_BINS} {_ACCESSES} CHUNK_SIZE {_RANKS} {_TIMES} {_MOST} {_RANK_TIMES}"
)
_DAOS: Final = (
    "OBJ_OPENS OBJ_FETCHES OBJ_UPDATES OBJ_PUNCHES OBJ_DKEY_PUNCHES OBJ_AKEY_PUNCHES"
    " OBJ_DKEY_LISTS OBJ_AKEY_LISTS OBJ_RECX_LISTS ARRAY_OPENS ARRAY_READS ARRAY_WRITES"
    " ARRAY_GET_SIZES ARRAY_SET_SIZES ARRAY_STATS ARRAY_PUNCHES ARRAY_DESTROYS KV_OPENS KV_GETS"
    " KV_PUTS KV_REMOVES KV_LISTS KV_DESTROYS NB_OPS BYTES_READ BYTES_WRITTEN RW_SWITCHES"
    f" {_SIZES_OF_LONGEST} {_READ_AND_WRITE_BINS} {_ACCESSES} OBJ_OTYPE ARRAY_CELL_SIZE"
    f" ARRAY_CHUNK_SIZE {_RANKS} {_TIMES} {_MOST} {_RANK_TIMES}"
)
_UUIDS: Final = "pool pool cont cont"
_PARENT: Final = "file_id"
"""Words in small letters are no counters. This one is the record id of the file around."""

_POSIX_3: Final = f"OPENS {_POSIX_HEAD} {_SYNCS} MODE {_POSIX_BODY}"
_LAYOUTS: Final = {
    "POSIX": {
        1: f"OPENS {_POSIX_HEAD} FOPENS FREADS FWRITES FSEEKS {_SYNCS} MODE {_POSIX_BODY}"
        f" {_FIRST_TIMES} {_POSIX_TAIL}",
        2: f"{_POSIX_3} {_FIRST_TIMES} {_POSIX_TAIL}",
        3: f"{_POSIX_3} {_TIMES} {_POSIX_TAIL}",
        4: f"OPENS FILENOS DUPS {_POSIX_HEAD} {_SYNCS} RENAME_SOURCES RENAME_TARGETS RENAMED_FROM"
        f" MODE {_POSIX_BODY} {_TIMES} {_POSIX_TAIL}",
    },
    "MPI-IO": {
        1: f"{_MPIIO} {_FIRST_TIMES} {_POSIX_TAIL}",
        2: f"{_MPIIO} {_FIRST_TIMES} {_POSIX_TAIL}",
        3: f"{_MPIIO} {_TIMES} {_POSIX_TAIL}",
    },
    "STDIO": {1: f"OPENS {_STDIO}", 2: f"OPENS FDOPENS {_STDIO}"},
    "H5F": {
        1: f"OPENS {_ONCE}",
        2: f"OPENS {_OPEN_AND_CLOSE}",
        3: f"OPENS FLUSHES USE_MPIIO {_OPEN_AND_CLOSE} F_META_TIME",
    },
    "H5D": {1: _H5D, 2: f"{_PARENT} {_H5D}"},
    "PNETCDF_FILE": {
        1: f"INDEP_OPENS COLL_OPENS {_ONCE}",
        2: f"INDEP_OPENS COLL_OPENS {_OPEN_AND_CLOSE}",
        3: "CREATES OPENS REDEFS INDEP_WAITS COLL_WAITS SYNCS BYTES_READ BYTES_WRITTEN"
        " WAIT_FAILURES F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_WAIT_START_TIMESTAMP"
        " F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WAIT_END_TIMESTAMP F_META_TIME F_WAIT_TIME",
    },
    "PNETCDF_VAR": {1: f"{_PARENT} {_PNETCDF_VAR}"},
    "DFS": {1: f"{_DFS} {_UUIDS}"},
    "DAOS": {1: f"{_DAOS} {_UUIDS} oid_high oid_low"},
}
COUNTED: Final = tuple(_LAYOUTS)
"""The modules that are read by these layouts."""
ID: Final = "id"
RANK: Final = "rank"


def counter(module: str, word: str) -> str:
    """Return a counter's full name.

    >>> counter("MPI-IO", "COLL_READS"), counter("H5D", "file_id")
    ('MPIIO_COLL_READS', 'file_id')
    """
    prefix = "MPIIO" if module == "MPI-IO" else module
    return word if word.islower() else f"{prefix}_{word}"


def words(module: str, version: int) -> tuple[str, ...] | None:
    """Return the names of a record's words; None: no such version is known."""
    text = _LAYOUTS[module].get(version)
    if text is None:
        return None
    return (ID, RANK, *(counter(module, word) for word in text.split()))
