"""How fast the laboratory simulates a site, with and without text.

    python benchmarks/lab_speed.py [--preset puhti] [--hours 1] [--dialects 2.12,2.16]

One process, so that the figures add up; `pfscope lab dump` makes text in others beside it.
"""

import argparse
import time
from dataclasses import dataclass

from pfscope.lab.cluster import DEFAULT_START, Cluster, Options
from pfscope.lab.text import server_text

DAY_S, INTERVAL_S = 86_400, 120


@dataclass(slots=True)
class Measured:
    """What one run took and made."""

    first_s: float = 0.0
    """Until the first snapshot: making the day's jobs, and the warm-up."""
    simulation_s: float = 0.0
    text_s: float = 0.0
    observations: int = 0
    entries: int = 0
    text_bytes: int = 0


def measure(preset: str, dialect: str, hours: float, text: bool) -> Measured:
    """Run a site and time its parts."""
    result = Measured()
    before = time.perf_counter()
    steps = Cluster(Options(preset=preset, dialects=(dialect,))).run(
        DEFAULT_START, hours, INTERVAL_S
    )
    for snapshots in steps:
        now = time.perf_counter()
        if result.observations:
            result.simulation_s += now - before
        else:
            result.first_s = now - before
        result.observations += 1
        result.entries += sum(len(table.ids) for s in snapshots for table in s.tables)
        if text:
            result.text_bytes += sum(len(server_text(s.dialect, s)) for s in snapshots)
        before = time.perf_counter()
        result.text_s += before - now
    return result


def line(name: str, m: Measured, text: bool) -> str:
    spent = m.simulation_s * m.observations / max(1, m.observations - 1) + m.text_s
    per_day = DAY_S / INTERVAL_S / m.observations
    megabytes = f"{m.text_bytes / 1e6 / m.text_s:8.0f} MB/s" if text else " " * 13
    return (
        f"{name:<22}{m.first_s:8.1f} s{m.observations / spent:12.1f}{m.entries / spent:13,.0f}"
        f"{megabytes}{m.first_s + spent * per_day:11.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--preset", default="puhti")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--dialects", default="2.12,2.16")
    args = parser.parse_args()
    print(f"{args.preset}, {args.hours:g} h, a snapshot of all servers every {INTERVAL_S} s")
    print(f"{'':<22}{'start':>10}{'snapshots/s':>12}{'entries/s':>13}{'text':>13}{'a day':>13}")
    for dialect in args.dialects.split(","):
        for text in (False, True):
            name = f"{dialect} {'with text' if text else 'columns only'}"
            print(line(name, measure(args.preset, dialect, args.hours, text), text), flush=True)


if __name__ == "__main__":
    main()
