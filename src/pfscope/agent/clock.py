"""The time of a simulated tree: when its server booted, and for how long it has been up."""

import os
from typing import Optional, Tuple


def tree_clock(root: str) -> Optional[Tuple[int, int]]:
    """Return wall and monotonic time in nanoseconds as `/proc` below a directory says it."""
    try:
        with open(os.path.join(root, "proc/stat"), "rb") as file:
            btime = [line.split()[1] for line in file if line.startswith(b"btime ")]
        with open(os.path.join(root, "proc/uptime"), "rb") as file:
            up_ns = int(float(file.read(100).split()[0]) * 1e9)
        return int(btime[0]) * 10**9 + up_ns, up_ns
    except (OSError, ValueError, IndexError):
        return None
