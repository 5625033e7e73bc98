"""job_stats read line by line in the plainest way: slow, obviously right, for comparison.

It takes well-formed text only; the tests and the benchmark hold the array scanner against it.
"""

import re

COUNTER = re.compile(rb"  (\S+): +\{ samples: +(\d+), unit: +(\w+)(.*) \}$")
NUMBER = re.compile(rb"(min|max|sum|sumsq): *(\d+)")
BIN = re.compile(rb"(\d+)([KMGTPE]?): (\d+)")
SHIFT = {b"": 0, b"K": 10, b"M": 20, b"G": 30, b"T": 40, b"P": 50, b"E": 60}
KEYS = (b"min", b"max", b"sum", b"sumsq")


def read(text):
    """Return (target, id, {time: ns}, {operation: (unit, samples, min, max, sum, sumsq, bins)})."""
    entries, target = [], ""
    for line in text.split(b"\n"):
        if line.startswith(b"- job_id:"):
            entries.append((target, line[19:], {}, {}))
        elif match := COUNTER.match(line):
            name, samples, unit, rest = match.groups()
            if int(samples):
                numbers = dict(NUMBER.findall(rest))
                values = [int(numbers[k]) if k in numbers else None for k in KEYS]
                bins = [(int(a) << SHIFT[s], int(n)) for a, s, n in BIN.findall(rest)]
                entries[-1][3][name.decode()] = (unit.decode(), int(samples), *values, bins)
        elif b"_time" in line and b"elapsed_time" not in line:
            name, _, value = line.partition(b":")
            whole, _, fraction = value.split()[0].partition(b".")
            entries[-1][2][name.strip().decode()] = int(whole) * 10**9 + int(fraction or 0)
        elif line.endswith(b"=") or b"=job_stats:" in line:
            target = line.split(b".")[1].decode()
    return entries
