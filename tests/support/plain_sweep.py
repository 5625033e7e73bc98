"""The sweep line step by step, in plain Python: slow, obviously right, for comparison."""

import heapq


def sweep(files):
    """Return (name, start, end) of the critical path, given (name, start, end) of files."""
    files = sorted((f for f in files if f[2] > f[1]), key=lambda f: (f[1], -f[2]))
    active, path, at = [], [], 0
    now = float("-inf")
    while at < len(files) or active:
        if not active:
            now = max(now, files[at][1])
        while at < len(files) and files[at][1] <= now:
            name, start, end = files[at]
            heapq.heappush(active, (-end, start, at, name))
            at += 1
        end, _, _, name = active[0]
        if -end <= now:
            active.clear()  # the one that ends last has ended: so have all
            continue
        path.append((name, now, -end))
        now = -end
    return path
