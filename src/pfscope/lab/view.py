"""What one server shows of its targets: the counters in its dialect, times by its own clock."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.dialects import BYTES_OPERATIONS, Dialect, Kind
from pfscope.lab.entries import Shown
from pfscope.lab.measures import Block
from pfscope.lab.side import Side
from pfscope.lab.site import Site
from pfscope.lab.staging import Staging
from pfscope.lab.tables import ExportTotals, TargetTable, TargetTotals

_KBYTES_TOTAL: dict[Kind, int] = {"mdt": 4 * 10**9, "ost": 214_748_364_800}
_FILES_TOTAL: dict[Kind, int] = {"mdt": 1_600_000_000, "ost": 480_000_000}


@dataclass(frozen=True, slots=True)
class View:
    """One server's way to show things."""

    site: Site
    side: Side
    dialect: Dialect
    wall_offset_ns: int
    staging: Staging

    def table(self, target: int, shown: Shown) -> TargetTable:
        """Return the entries of a target."""
        side, raw = self.side, self.staging.ids.raw
        block = self._measured(side.entries.counters(shown.rows, self._columns()))
        # Until 2.15.1 times count from boot, which a clock step does not touch.
        since_boot = self.dialect.times == "boot"
        last = shown.last_ns + self.wall_offset_ns if since_boot else shown.last_wall_ns
        first = shown.start_ns + self.wall_offset_ns if since_boot else shown.start_wall_ns
        return TargetTable(
            self.site.targets(side.kind)[target],
            side.kind,
            [raw[number] for number in shown.entry_id.tolist()],
            last,
            first,
            *block.all,
            side.entries.histograms(shown.rows) if self.dialect.histograms else None,
        )

    def totals(self, target: int) -> TargetTotals:
        """Return what a target counted in all."""
        side, kind = self.side, self.side.kind
        block = self._block(side.totals, slice(target, target + 1))
        operations = self.dialect.operations(kind)
        written = int(block.total[0, operations.index("write_bytes")]) if (
            "write_bytes" in operations) else 0  # fmt: skip
        made = int(side.totals.samples[target, OPERATIONS[kind].index("mknod")]) if (
            kind == "mdt") else written >> 22  # fmt: skip
        kbytes, files = _KBYTES_TOTAL[kind], _FILES_TOTAL[kind]
        return TargetTotals(
            self.site.targets(kind)[target],
            kind,
            int(side.start_ns[target]) + self.wall_offset_ns,
            samples=block.samples[0],
            minimum=block.minimum[0],
            maximum=block.maximum[0],
            total=block.total[0],
            sumsq=block.sumsq[0],
            io_sizes=side.entries.expanded(side.io_sizes[target]),
            num_exports=len(self.staging.clients) + len(self.site.servers),
            kbytes_total=kbytes,
            kbytes_free=max(0, kbytes * (61 + target % 7) // 100 - written // 1024),
            files_total=files,
            files_free=max(0, files * (71 + target % 5) // 100 - made),
        )

    def exports(self, target: int) -> ExportTotals:
        """Return what each client caused, for those that caused anything."""
        side, clients = self.side, self.staging.clients
        rows = slice(target * len(clients), (target + 1) * len(clients))
        block = self._block(side.exports, rows)
        busy = np.flatnonzero(block.samples.any(axis=1))
        return ExportTotals(
            self.site.targets(side.kind)[target],
            side.kind,
            [clients[client].nid for client in busy.tolist()],
            int(side.start_ns[target]) + self.wall_offset_ns,
            *block.take(busy).all,
        )

    def _columns(self) -> NDArray[np.intp]:
        names = OPERATIONS[self.side.kind]
        return np.array([names.index(op) for op in self.dialect.operations(self.side.kind)])

    def _block(self, block: Block, rows: slice) -> Block:
        return self._measured(block.take(rows).columns(self._columns()).shown())

    def _measured(self, block: Block) -> Block:
        """Leave of requests without a size their number alone, where nothing else is measured."""
        if not self.dialect.service_times:
            names = self.dialect.operations(self.side.kind)
            plain = [i for i, op in enumerate(names) if op not in BYTES_OPERATIONS]
            for matrix in block.all[1:]:
                matrix[:, plain] = 0
        return block
