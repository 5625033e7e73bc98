"""The header of a log: version, byte order, compression, and where the regions are.

```
offset  size  log version 3.00 - 3.21     3.41
     0     8  version, text               the same
     8     8  magic number 6567223, which tells the byte order
    16     1  compression: 0 zlib, 1 bzip2, 2 none
    20/24     partial flags: 32 bits      64 bits at 24
    24/32 16  where the names are: offset and length
          16  for each module (16 or 64): offset and length of its region, compressed
           4  for each module: version of its records; 0 is none
```
Modules had other places before: 3.20 put H5D in, and 3.41 PNETCDF_VAR.
"""

import struct
from typing import Final, Literal, NamedTuple

from pfscope.logs.darshan.errors import DarshanError

MODULES: Final = (
    "NULL", "POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "BG/Q", "LUSTRE",
    "STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI", "HEATMAP", "DFS", "DAOS",
)  # fmt: skip
"""In the order of log version 3.41."""
_MAGIC: Final = 6567223
_VERSIONS: Final = {"3.00", "3.10", "3.20", "3.21", "3.41"}
_LATER: Final = (("H5D", 320), ("PNETCDF_VAR", 341))
"""Modules that were put in, and the version of the log from which on they have a place."""
_COMPRESSIONS: Final = ("zlib", "bzip2", "none")

Order = Literal["<", ">"]


class Region(NamedTuple):
    """Where something is in the file, as it stands there."""

    offset: int
    length: int


class ModuleHeader(NamedTuple):
    """What the header says of a module that has data."""

    name: str
    region: Region
    version: int
    partial: bool
    """Not all of its records are there: it had no room for more."""


class Header(NamedTuple):
    """What the header says."""

    version: str
    order: Order
    compression: str
    job: Region
    names: Region
    modules: dict[str, ModuleHeader]

    @property
    def release(self) -> int:
        """The version as a number: 341 is 3.41."""
        return _number(self.version)


def read_header(data: memoryview) -> Header:
    """Read the header of a whole log; DarshanError: it is none, or of another time."""
    version = _version(bytes(data[:8]))
    new = _number(version) >= 341
    order = _order(data)
    count = 64 if new else 16
    form = struct.Struct(f"{order}{'B7xQ' if new else 'B3xI'}QQ{2 * count}Q{count}I")
    if len(data) < 16 + form.size:
        raise DarshanError("the log ends in its header")
    compression, partial, names_at, names_length, *rest = form.unpack_from(data, 16)
    if compression >= len(_COMPRESSIONS):
        raise DarshanError(f"compression {compression} is not known")
    places, versions = rest[: 2 * count], rest[2 * count :]
    modules = {}
    for index, name in enumerate(_module_names(_number(version), count)):
        region = Region(*places[2 * index : 2 * index + 2])
        if region.length:
            flag = bool(partial >> index & 1)
            modules[name] = ModuleHeader(name, region, versions[index], flag)
    names = Region(names_at, names_length)
    begin = 16 + form.size
    after = [names.offset] if names.offset else [m.region.offset for m in modules.values()]
    job = Region(begin, min(after, default=len(data)) - begin)
    header = Header(version, order, _COMPRESSIONS[compression], job, names, modules)
    _check_places(header, len(data))
    return header


def _version(raw: bytes) -> str:
    text = raw.partition(b"\0")[0].decode("ascii", "replace")
    if text in _VERSIONS:
        return text
    if text[:2] in ("1.", "2."):
        raise DarshanError(
            f"a log of Darshan {text[0]} (format {text}), which is not read: only logs of "
            "Darshan 3 are"
        )
    if text[:2] == "3." and text.isascii() and text.isprintable():
        raise DarshanError(f"log format {text} is not known; known are {sorted(_VERSIONS)}")
    raise DarshanError("no log of Darshan")


def _number(version: str) -> int:
    return int(version.replace(".", ""))


def _order(data: memoryview) -> Order:
    orders: tuple[Order, ...] = ("<", ">")
    for order in orders:
        if len(data) >= 16 and struct.unpack_from(f"{order}q", data, 8)[0] == _MAGIC:
            return order
    raise DarshanError("the log's magic number is not Darshan's")


def _module_names(release: int, count: int) -> list[str]:
    absent = {name for name, since in _LATER if release < since}
    known = [name for name in MODULES if name not in absent]
    return [known[i] if i < len(known) else f"module {i}" for i in range(count)]


def _check_places(header: Header, size: int) -> None:
    regions = [header.job, header.names, *(m.region for m in header.modules.values())]
    if header.job.length <= 0:
        raise DarshanError("the log has no job")
    for region in regions:
        if region.length and region.offset + region.length > size:
            missing = region.offset + region.length - size
            raise DarshanError(f"the log is cut short: {missing} bytes of it are missing")
