"""A log of one run with very many files, as Darshan 3.4 writes it: POSIX, Lustre and names."""

import numpy as np

from pfscope.logs.darshan.layouts import words
from tests.support.darshan_logs import write_log

OSTS = 248


def big_log(files, seed=7):
    """Return a log; `files` were each written by one rank, on one OST."""
    random = np.random.default_rng(seed)
    ids = random.permutation(files).astype(np.int64) * 6_700_417_000_003 - 2**62
    return write_log(
        [("POSIX", 4, _posix(ids, random)), ("LUSTRE", 1, _lustre(ids, random))],
        ((int(i), f"/lus/project/run/output/step{i & 0xFFFFFFF:012d}.h5") for i in ids),
        version="3.21", streams=4, nprocs=4096, job_id=4711, start=1_700_000_000, end=1_700_003_600,
    )  # fmt: skip


def _posix(ids, random):
    names = words("POSIX", 4)
    records = np.zeros((len(ids), len(names)), "<i8")
    chunk = random.integers(1, 1 << 24, len(ids))
    writes = random.integers(1, 100, len(ids))
    begin = random.random(len(ids)) * 3000
    for name, values in {
        "id": ids,
        "rank": random.integers(0, 4096, len(ids)),
        "POSIX_OPENS": 1,
        "POSIX_WRITES": writes,
        "POSIX_BYTES_WRITTEN": chunk * writes,
        "POSIX_CONSEC_WRITES": writes - 1,
        "POSIX_SEQ_WRITES": writes - 1,
        "POSIX_SIZE_WRITE_1M_4M": writes,
        "POSIX_ACCESS1_ACCESS": chunk,
        "POSIX_ACCESS1_COUNT": writes,
        "POSIX_FILE_ALIGNMENT": 1 << 20,
    }.items():
        records[:, names.index(name)] = values
    for name, values in {
        "POSIX_F_OPEN_START_TIMESTAMP": begin,
        "POSIX_F_OPEN_END_TIMESTAMP": begin + 0.01,
        "POSIX_F_WRITE_START_TIMESTAMP": begin + 0.02,
        "POSIX_F_WRITE_END_TIMESTAMP": begin + 5,
        "POSIX_F_CLOSE_END_TIMESTAMP": begin + 5.1,
        "POSIX_F_WRITE_TIME": random.random(len(ids)) * 5,
        "POSIX_F_META_TIME": random.random(len(ids)) * 0.1,
    }.items():
        at = names.index(name)
        records[:, at : at + 1].view("<f8")[:, 0] = values
    return records.tobytes()


def _lustre(ids, random):
    records = np.zeros((len(ids), 8), "<i8")
    records[:, 0] = ids
    records[:, 2:4] = OSTS, 4
    records[:, 4:7] = -1, 1 << 20, 1
    records[:, 7] = random.integers(0, OSTS, len(ids))
    return records.tobytes()
