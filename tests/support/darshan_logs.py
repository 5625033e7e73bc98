"""Writes Darshan's logs of any version, byte order and compression, and says where real ones are.

It is written from the format, not from the reader: lists of numbers in, bytes out.
"""

import bz2
import struct
import zlib
from pathlib import Path

import darshan
import numpy as np

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "darshan"
WHEEL = Path(darshan.__file__).parent
PACK = {"zlib": zlib.compress, "bzip2": bz2.compress, "none": bytes}
_NEW = (
    "NULL", "POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "BG/Q", "LUSTRE",
    "STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI", "HEATMAP", "DFS", "DAOS",
)  # fmt: skip
_SINCE = {"H5D": "3.20", "PNETCDF_VAR": "3.41"}


def real_logs():
    """Return the real logs of this machine: those of the wheel at the least."""
    found = sorted([*WHEEL.rglob("*.darshan"), *SHARED.rglob("*.darshan")])
    names = {path.name: path for path in found if path.stat().st_size}
    return [names[name] for name in sorted(names)]


def write_log(
    modules=(), names=(), *, version="3.41", order="<", compression="zlib", partial=(), streams=1,
    nprocs=4, job_id=17, uid=1000, start=1_600_000_000, end=1_600_000_100, command="/bin/ior -w",
    mounts=(("lustre", "/lus"), ("ext4", "/")), metadata="lib_ver=3.4.0\n",
):  # fmt: skip
    """Return a log. `modules` are (name, version, bytes); `names` are (id, text)."""
    order_of_modules = [name for name in _NEW if version >= _SINCE.get(name, "3.00")]
    count = 64 if version >= "3.41" else 16
    head = struct.Struct(f"{order}8sq{'B7xQ' if count == 64 else 'B3xI'}QQ{2 * count}Q{count}I")
    job = job_record(
        version, order, uid, start, end, nprocs, job_id, metadata, command, mounts
    )  # fmt: skip
    pack = PACK[compression]
    body = pack(job)
    named = b"".join(_name(version, order, *name) for name in names)
    packed = pack(named) if named else b""
    names_at = (head.size + len(body)) if named else 0
    body += packed
    maps, versions = [0] * (2 * count), [0] * count
    for name, module_version, raw in modules:
        index = order_of_modules.index(name)
        region = _streams(pack, raw, streams)
        maps[2 * index : 2 * index + 2] = head.size + len(body), len(region)
        versions[index] = module_version
        body += region
    flags = sum(1 << order_of_modules.index(name) for name in partial)
    kind = list(PACK).index(compression)
    return (
        head.pack(
            version.encode(), 6567223, kind, flags, names_at, len(packed), *maps, *versions
        )
        + body
    )  # fmt: skip


def job_record(version, order, uid, start, end, nprocs, job_id, metadata, command, mounts):
    if version >= "3.41":
        numbers = struct.pack(
            f"{order}7q", uid, start, 250_000_000, end, 500_000_000, nprocs, job_id
        )  # fmt: skip
    else:
        numbers = struct.pack(f"{order}5q", uid, start, end, nprocs, job_id)
    text = command + "".join(f"\n{kind}\t{path}" for kind, path in mounts)
    return numbers + metadata.encode().ljust(1024, b"\0") + text.encode() + b"\0"


def _name(version, order, record, text):
    raw = text if isinstance(text, bytes) else text.encode()
    number = struct.pack(f"{order}q", record)
    if version < "3.10":
        return number + struct.pack(f"{order}I", len(raw)) + raw
    return number + raw + b"\0"


def _streams(pack, raw, streams):
    size = -(-len(raw) // streams) or 1
    return b"".join(pack(raw[at : at + size]) for at in range(0, len(raw), size))


def counted(words, order, rows):
    """Return records that count by file: `rows` are dicts by word, `words` say their order."""
    values = np.zeros((len(rows), len(words)), f"{order}i8")
    for i, row in enumerate(rows):
        for name, value in row.items():
            at = words.index(name)
            if "_F_" in name:
                values[i, at : at + 1].view(f"{order}f8")[:] = value
            else:
                values[i, at] = value
    return values.tobytes()


def lustre_1(order, rows):
    """Return LUSTRE records of version 1: (id, rank, offset, size, OSTs)."""
    return b"".join(
        struct.pack(f"{order}{7 + len(osts)}q", record, rank, 24, 1, offset, size, len(osts), *osts)
        for record, rank, offset, size, osts in rows
    )


def lustre_2(order, rows, reserved=3):
    """Return LUSTRE records of version 2: (id, rank, components of (size, mirror, OSTs))."""
    out = b""
    for record, rank, components in rows:
        stripes = sum(len(osts) for _, _, osts in components) + 2
        out += struct.pack(f"{order}4q", record, rank, reserved, stripes)
        for size, mirror, osts in components:
            out += struct.pack(f"{order}7q", size, len(osts), 0, 16, 0, -1, mirror) + bytes(16)
        for _ in range(reserved - len(components)):
            out += struct.pack(f"{order}7q", -1, 999, 0, 0, 0, 0, 0) + bytes(16)
        listed = [ost for _, _, osts in components for ost in osts]
        out += struct.pack(f"{order}{stripes}q", *listed, *[7] * (stripes - len(listed)))
    return out


def heatmap(order, rows):
    """Return HEATMAP records: (id, rank, width, written, read)."""
    return b"".join(
        struct.pack(f"{order}qqdqqq", record, rank, width, len(written), 0, 0)
        + struct.pack(f"{order}{2 * len(written)}q", *written, *read)
        for record, rank, width, written, read in rows
    )


def dxt(order, rows, *, threads=True):
    """Return DXT records: (id, rank, host, writes, reads) of (offset, length, start, end)."""
    out = b""
    for record, rank, host, writes, reads in rows:
        out += struct.pack(f"{order}qqq64sqq", record, rank, 0, host, len(writes), len(reads))
        for offset, length, start, end in (*writes, *reads):
            out += struct.pack(f"{order}qqdd", offset, length, start, end)
            out += struct.pack(f"{order}q", 99) if threads else b""
    return out


def save(path, log):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log)
    return path
