"""A log as a whole: what is in it, read on demand from the bytes of its file."""

import bz2
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from pfscope.logs.darshan import job as jobs
from pfscope.logs.darshan.counters import Counters, check, read_counters
from pfscope.logs.darshan.dxt import Segments, iter_dxt
from pfscope.logs.darshan.errors import LIMITS, DarshanError, Limits
from pfscope.logs.darshan.header import Header, ModuleHeader, Region, read_header
from pfscope.logs.darshan.heatmap import Heatmap, read_heatmap
from pfscope.logs.darshan.job import Job, read_job
from pfscope.logs.darshan.lustre import Layouts, read_lustre
from pfscope.logs.darshan.names import Names, read_names
from pfscope.logs.darshan.regions import pieces, whole

_PACKED: Final = {b"\x1f\x8b": "gzip", b"BZ": "bzip2"}


class DarshanLog:
    """A log. Every part is read when it is asked for, and checked; DarshanError tells why not."""

    def __init__(self, data: bytes | memoryview, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._data = _unpacked(memoryview(data), limits)
        self.header: Header = read_header(self._data)

    @cached_property
    def job(self) -> Job:
        """Who ran what when."""
        return read_job(self.header, self._whole(self.header.job, "the job record", jobs.SIZE))

    @cached_property
    def names(self) -> Names:
        """The names of all records."""
        data = self._whole(self.header.names, "the region of names", self._limits.names_bytes)
        return read_names(self.header, data, self._limits.records)

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that have data."""
        return tuple(self.header.modules)

    @property
    def partial(self) -> tuple[str, ...]:
        """Those of them that do not have all their records."""
        return tuple(name for name, module in self.header.modules.items() if module.partial)

    def counters(self, module: str, wanted: Sequence[str] | None = None) -> Counters:
        """Return counters of a module that counts by file, all of them by default."""
        header = self._module(module)
        found = read_counters(
            module,
            self._pieces(header),
            version=header.version,
            order=self.header.order,
            wanted=wanted,
            most=self._limits.records,
        )
        check(found, self.job.nprocs)
        return found

    def lustre(self) -> Layouts:
        """Return how files were striped."""
        header = self._module("LUSTRE")
        data = self._whole(header.region, "LUSTRE", self._at_once)
        return read_lustre(data, header.version, self.header.order, self._limits.records)

    def heatmap(self) -> Heatmap:
        """Return bytes by rank and time."""
        header = self._module("HEATMAP")
        data = self._whole(header.region, "HEATMAP", self._at_once)
        return read_heatmap(data, header.version, self.header.order)

    def dxt(self, module: str) -> Iterator[Segments]:
        """Yield single reads and writes of `DXT_POSIX` or `DXT_MPIIO`, many at a time."""
        header = self._module(module)
        yield from iter_dxt(
            module,
            self._pieces(header),
            version=header.version,
            order=self.header.order,
            nprocs=self.job.nprocs,
        )

    @property
    def _at_once(self) -> int:
        return min(self._limits.region_bytes, self._limits.whole_bytes)

    def _module(self, name: str) -> ModuleHeader:
        try:
            return self.header.modules[name]
        except KeyError:
            raise DarshanError(f"the log has no {name} records") from None

    def _whole(self, region: Region, what: str, limit: int) -> bytes:
        return whole(self._at(region), self.header.compression, what, limit)

    def _pieces(self, header: ModuleHeader) -> Iterator[bytes]:
        limit = self._limits.region_bytes
        return pieces(self._at(header.region), self.header.compression, header.name, limit)

    def _at(self, region: Region) -> memoryview:
        return self._data[region.offset : region.offset + region.length]


def _unpacked(data: memoryview, limits: Limits) -> memoryview:
    """Undo the compression of the file as a whole, which older logs had and people do."""
    kind = _PACKED.get(bytes(data[:2]))
    if kind is None:
        return data
    limit = min(limits.region_bytes, limits.whole_bytes)
    try:
        if kind == "gzip":
            content = zlib.decompressobj(wbits=31).decompress(data, limit + 1)
        else:
            content = bz2.BZ2Decompressor().decompress(bytes(data), limit + 1)
    except (zlib.error, OSError) as error:
        raise DarshanError(f"the file is no whole {kind} file: {error}") from error
    if len(content) > limit:
        raise DarshanError(f"the file holds more than the {limit} bytes that are allowed")
    return memoryview(content)
