"""What the files of runs are called, what kind of file each is, and on which mount it is."""

import re
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.logs.darshan import Mount
from pfscope.mine.darshan_runs import Run
from pfscope.mine.merging import Ints

_STREAM: Final = r"^<.*>$"
_SYSTEM: Final = r"^/(proc|sys|dev|etc|run)/"
_LIBRARY: Final = r"^/(lib|lib32|lib64|usr)/|\.(so|pyc)(\.[0-9]+)*$"


def names_of(runs: list[Run], run: Ints, ids: Ints) -> pa.Array:
    """Return the name of each record; rows are in order of their runs."""
    arrays = [
        runs[int(run[begin])].names.find(ids[begin:end]) for begin, end in _stretches(run)
    ]  # fmt: skip
    return pa.concat_arrays([pa.array([], pa.string()), *arrays])


def kinds(names: pa.Array) -> pa.Array:
    """Return `file`, `stream`, `system`, `library` or `unknown`.

    >>> kinds(pa.array(["/lus/out", "<STDIN>", "/proc/self/maps", "/opt/x.so.1", None])).to_pylist()
    ['file', 'stream', 'system', 'library', 'unknown']
    """
    return pc.case_when(
        pc.make_struct(
            pc.is_null(names),
            pc.match_substring_regex(names, _STREAM),
            pc.match_substring_regex(names, _SYSTEM),
            pc.match_substring_regex(names, _LIBRARY),
        ),
        "unknown",
        "stream",
        "system",
        "library",
        "file",
    )


def mounts_of(runs: list[Run], run: Ints, names: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return mount and type of the file system of each name, by the longest mount that fits."""
    tables: dict[tuple[Mount, ...], list[tuple[int, int]]] = {}
    for begin, end in _stretches(run):
        tables.setdefault(runs[int(run[begin])].job.mounts, []).append((begin, end))
    paths = np.full(len(names), None, object)
    types = np.full(len(names), None, object)
    for mounts, stretches in tables.items():
        if not mounts:
            continue
        some = pa.concat_arrays([names.slice(begin, end - begin) for begin, end in stretches])
        rows = np.concatenate([np.arange(begin, end) for begin, end in stretches])
        found = pc.struct_field(pc.extract_regex(some, _pattern(mounts)), "mount")
        # An empty one is the root, which takes what no other did.
        which = pc.index_in(found, pa.array([_stem(mount) for mount in mounts]))
        for out, values in (
            (paths, [mount.path for mount in mounts]),
            (types, [mount.fs_type for mount in mounts]),
        ):
            out[rows] = pa.array(values, pa.string()).take(which).to_numpy(zero_copy_only=False)
    return pa.array(paths, pa.string()), pa.array(types, pa.string())


@lru_cache(maxsize=64)
def _pattern(mounts: tuple[Mount, ...]) -> str:
    """Return a pattern of which the first alternative that fits is the longest mount."""
    inner = "|".join(re.escape(_stem(mount)) for mount in mounts)
    return f"^(?P<mount>{inner})(?:/|$)"


def _stem(mount: Mount) -> str:
    return mount.path.rstrip("/")


def _stretches(run: Ints) -> list[tuple[int, int]]:
    """Return begin and end of the rows of each run."""
    if not len(run):
        return []
    begins = np.append(0, np.flatnonzero(run[1:] != run[:-1]) + 1)
    return list(zip(begins.tolist(), np.append(begins[1:], len(run)).tolist(), strict=True))
