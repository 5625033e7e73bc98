"""What is run: which scenarios on which sites, with which seeds, by which way.

Settings of the watch were chosen while looking at runs with the seeds of `TUNING` alone;
`EVALUATION` has others, and nothing is ever chosen by them.
"""

from dataclasses import dataclass

from pfscope.lab.scenarios import SCENARIOS

TUNING = (3, 11, 12, 13, 14, 15, 101)
EVALUATION = (201, 202, 203, 204, 205, 206)
QUIET = ("daily-rhythm", "quiet")
"""Long: the short way."""
FAULTS = ("failover", "reset-storm", "agent-outage", "malformed-burst")
"""What happens to servers and reads is not seen on the short way."""
QUIET_DAYS = {"mini": 90, "puhti": 30}
MONTH = 30
"""A quiet run is no longer."""


@dataclass(frozen=True)
class Task:
    """One run."""

    scenario: str
    preset: str
    seed: int
    way: str
    hours: float | None = None


def tasks(seeds, presets=("mini", "puhti"), scenarios=tuple(SCENARIOS), runs=2, quiet_days=None,
          short=False):  # fmt: skip
    """Return what is run, the longest first; `quiet_days` are those of each preset."""
    quiet_days = quiet_days or QUIET_DAYS
    found = []
    for preset in presets:
        for name in scenarios:
            way, hours, count = _way(name, preset, short), None, runs
            if name == "quiet":
                count = -(-quiet_days[preset] // MONTH)
                hours = 24.0 * quiet_days[preset] / count
            elif name == "daily-rhythm" or (preset == "puhti" and name in FAULTS):
                count = 1
            found += [Task(name, preset, seed, way, hours) for seed in seeds[:count]]
    order = {name: n for n, name in enumerate(("quiet", "daily-rhythm", *FAULTS))}
    return sorted(found, key=lambda t: (order.get(t.scenario, 9), t.preset != "puhti"))


def _way(scenario, preset, short):
    if scenario in FAULTS:
        return "real"
    if short:
        return "quick"
    return "real" if preset == "mini" and scenario not in QUIET else "quick"
