"""The factors of a log, worked out in plain Python from the records that PyDarshan reads.

Nothing of ours is used, but for lists of OSTs in old logs, which PyDarshan does not have: those are
read from the bytes of the records.
"""

import struct
import warnings
import zlib
from collections import defaultdict

import numpy as np

from tests.support.plain_sweep import sweep

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import darshan.backend.cffi_backend as reference

MIB = 2**20
SMALL = ("0_100", "100_1K", "1K_10K", "10K_100K")
STREAMS = {"<STDIN>", "<STDOUT>", "<STDERR>"}


def read(path):
    """Return processes, names by id, records of modules as dicts, and stripes by id."""
    handle = reference.log_open(str(path))
    modules = reference.log_get_modules(handle)
    names = reference.log_get_name_records(handle)
    records = {}
    for module in set(modules) & {"POSIX", "MPI-IO", "STDIO", "DFS"}:
        columns = reference.counter_names(module) + reference.fcounter_names(module)
        records[module] = []
        while record := reference.log_get_record(handle, module, dtype="numpy"):
            values = [*record["counters"].tolist(), *record["fcounters"].tolist()]
            told = dict(zip(columns, values, strict=True))
            records[module].append({"id": int(record["id"]), "rank": record["rank"], **told})
    stripes = {}
    if "LUSTRE" in modules and modules["LUSTRE"]["ver"] == 1:
        stripes = stripes_of_old(path)
    elif "LUSTRE" in modules:
        while record := reference.log_get_record(handle, "LUSTRE"):
            osts = [int(ost) for part in record["components"] for ost in part["ost_ids"]]
            stripes[int(record["id"])] = (int(record["components"][-1]["counters"][1]), osts)
    nprocs = reference.log_get_job(handle)["nprocs"]
    reference.log_close(handle)
    return nprocs, names, records, stripes


def stripes_of_old(path):
    """Read records of LUSTRE: id, rank, OSTs, MDTs, offset, size, count, and so many OSTs."""
    raw = path.read_bytes()
    (release,) = struct.unpack_from("8s", raw)
    index = 6 if release.rstrip(b"\0") < b"3.20" else 7
    begin, length = struct.unpack_from("<2Q", raw, 24 + 16 + 16 * index)
    rest, data = raw[begin : begin + length], b""
    while rest:
        stream = zlib.decompressobj()
        data += stream.decompress(rest)
        rest = stream.unused_data
    stripes, at = {}, 0
    while at < len(data):
        record, _, _, _, _, _, count = struct.unpack_from("<Q6q", data, at)
        stripes[record] = (count, list(struct.unpack_from(f"<{count}q", data, at + 56)))
        at += 56 + 8 * count
    return stripes


def factors(log, operation):
    """Return what `pfscope mine job` says of the reads or writes of a log that was read."""
    nprocs, names, records, stripes = log
    op, by = {"read": ("READ", "READ"), "write": ("WRITE", "WRITTEN")}[operation]
    files = defaultdict(lambda: {"bytes": 0, "times": [], "ranks": set()})
    for module in ("POSIX", "STDIO", "DFS", "MPI-IO"):
        for row in records.get(module, ()):
            files[row["id"]]["ranks"] |= {row["rank"]}
            files[row["id"]].setdefault(module, []).append(row)
            if module != "MPI-IO" and (moved := row[f"{module}_BYTES_{by}"]) > 0:
                files[row["id"]]["bytes"] += moved
                files[row["id"]]["times"] += [
                    row[f"{module}_F_{op}_START_TIMESTAMP"], row[f"{module}_F_{op}_END_TIMESTAMP"],
                ]  # fmt: skip
    used = {
        name: file for name, file in files.items()
        if file["bytes"] and names.get(name) not in STREAMS
    }  # fmt: skip
    spans = [(name, min(file["times"]), max(file["times"])) for name, file in used.items()]
    path_of_files = sweep(spans)
    spent = defaultdict(float)
    for name, start, end in path_of_files:
        spent[name] += end - start
    critical = sum(spent.values())
    span = max(e for *_, e in spans) - min(s for _, s, _ in spans) if spans else 0
    moved = sum(file["bytes"] for file in used.values())
    parts = {name: parts_of(used[name], op, nprocs, stripes.get(name)) for name in spent}
    shares = defaultdict(float)
    for _, osts in stripes.values():
        for ost in osts:
            shares[ost] += 0
    for name, time in spent.items():
        for ost in set(stripes.get(name, (0, []))[1]):
            shares[ost] += time / critical / len(set(stripes[name][1]))
    return {
        "nprocs": nprocs, "files": len(used), "critical_files": len(spent), "span_s": span,
        "critical_s": critical,
        "bandwidth_span_mib_s": moved / MIB / span if span else None,
        "bandwidth_critical_mib_s": moved / MIB / critical if critical else None,
        "small_pct": weighted(spent, parts, 0), "nonconsec_pct": weighted(spent, parts, 1),
        "coll_pct": weighted(spent, parts, 2),
        "proc_per_ost": weighted(spent, parts, 3),
        "ost_count": len(shares) or None,
        "ost_time_share": {ost: share for ost, share in shares.items() if share},
    }  # fmt: skip


def parts_of(file, op, nprocs, stripes):
    """Return small, not consecutive and collective in percent, and processes per OST."""
    posix = file.get("POSIX", [])
    calls = sum(max(row[f"POSIX_{op}S"], 0) for row in posix)
    small = sum(max(row[f"POSIX_SIZE_{op}_{size}"], 0) for row in posix for size in SMALL)
    consecutive = sum(max(row[f"POSIX_CONSEC_{op}S"], 0) for row in posix)
    collective = any(row[f"MPIIO_COLL_{op}S"] > 0 for row in file.get("MPI-IO", []))
    ranks = nprocs if -1 in file["ranks"] else len(file["ranks"])
    return (
        100 * small / calls if calls else None,
        100 * (1 - consecutive / calls) if calls else None,
        100 * collective,
        ranks / stripes[0] if stripes and stripes[0] > 0 else None,
    )


def weighted(spent, parts, which):
    known = [(spent[n], p[which]) for n, p in parts.items() if p[which] is not None]
    whole = sum(time for time, _ in known)
    return float(np.dot(*zip(*known, strict=True)) / whole) if whole else None
