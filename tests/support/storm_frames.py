"""Frames of a small file system, minute by minute, in which one user may storm.

One metadata target and one for data, each on a server of its own. User 1001 opens ten files a
second and reads, more or less; while there is a storm user 1002, in job 77 on node r01c02, opens
2000 a second.
"""

from pfscope.frames import FrameBuilder, Origin, Section

START_S = 1_666_828_800
"""2022-10-27, midnight."""
CULPRIT, JOB, NODE = "1002", "77", "r01c02"


def minute_us(minute):
    return (START_S + 60 * minute) * 10**6


class Storms:
    """Counts on, minute by minute; `storm` says whether there is one from now on."""

    def __init__(self, file_system="scratch", minute=0):
        self.minute = self._begin = minute
        self._file_system = file_system
        self._quiet, self._wild = f"76:1001:{NODE}", f"{JOB}:{CULPRIT}:{NODE}"
        self._opens = {self._quiet: 1000}
        self._read = 10**9
        self._storming = False

    @property
    def newest_us(self):
        """Return the time of the newest frames."""
        return minute_us(self.minute)

    def frames(self, minutes, storm=False, servers=("mds1", "oss1")):
        """Return the frames of the next minutes, a list for each minute."""
        return [self._one(storm, servers) for _ in range(minutes)]

    def _one(self, storm, servers):
        self._opens[self._quiet] += 600 + self.minute % 7 * 10
        self._read += (60 + self.minute % 5) << 20
        if storm:
            self._opens[self._wild] = self._opens.get(self._wild, 0) + 120_000
        elif not self._storming:
            self._opens.pop(self._wild, None)
        self._storming = storm
        texts = {
            "mds1": (f"mdt.{self._file_system}-MDT0000", self._metadata()),
            "oss1": (f"obdfilter.{self._file_system}-OST0000", self._data()),
        }
        self.minute += 1
        return [self._frame(server, *texts[server]) for server in servers]

    def _metadata(self):
        return "".join(self._entry(name, "open", f"samples: {n}, unit: reqs") for name, n in
                       self._opens.items())  # fmt: skip

    def _data(self):
        told = (
            f"samples: {self._read >> 20}, unit: bytes, min: 4096, max: 1048576, sum: {self._read}"
        )
        return self._entry(self._quiet, "read_bytes", told)

    def _entry(self, name, operation, told):
        now = START_S + 60 * (self.minute + 1)
        return (
            f'- job_id:          "{name}"\n  snapshot_time:   {now}.000000000 secs.nsecs\n'
            f"  start_time:      {START_S - 60}.000000000 secs.nsecs\n"
            f"  elapsed_time:    {now - START_S + 60}.000000000 secs.nsecs\n"
            f"  {operation}: {{ {told} }}\n"
        )

    def _frame(self, server, parameter, entries):
        builder = FrameBuilder()
        text = f"job_stats:\n{entries}".encode("latin-1")
        builder.section(Section(f"{parameter}.job_stats", text, 100))
        wall_ns = minute_us(self.minute) * 1000
        monotonic_ns = 60 * self.minute * 10**9 + 10**12
        sequence = self.minute - self._begin - 1
        origin = Origin(
            f"{server}-{self._file_system}", "boot.1", sequence, wall_ns, monotonic_ns, 60.0, 60.0,
            (self._file_system,),
        )  # fmt: skip
        return builder.finish(origin, {"agent": "test"})
