"""How near the estimates of effective load are to the truth, which only a simulated site knows.

Run with `make bench`. A site of each release is dumped as frame logs and imported; each job's load
on each server over the whole time is compared with what it really was. An error is the sum of all
differences, relative to all load: 0 is perfect, and who names nobody has nearly 1. Requests without
an id are in the load and in nobody's estimate; how much of the load they are stands beside.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

import pfscope

ESTIMATES = ("load_equal", "load_service", "load_learned")
STORM = [{"kind": "metadata_storm", "start": 9000, "duration_s": 1800, "factor": 20}]


def made(directory, dialect, hours, seed, incidents):
    """Return the data directory of a site that ran, and its truth."""
    site, data, plan = directory / "site", directory / "data", directory / "incidents.json"
    plan.write_text(json.dumps(incidents))
    words = f"--preset mini --hours {hours} --dialect {dialect} --seed {seed} --faults none"
    _run("lab", "dump", site, *words.split(), "--frames", "--incidents", plan)
    _run("import", "frames", *sorted(site.glob("*/*.pfl")), "--data", data)
    return data, site / "truth"


def _run(*arguments):
    command = [sys.executable, "-m", "pfscope.cli.main", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def true_loads(truth):
    """Return mean loads by server, job and user, and the number of observations."""
    rows = pq.read_table(truth / "load.parquet").to_pylist()
    times, loads = {row["time"] for row in rows}, defaultdict(float)
    for row in rows:
        loads[row["server"], row["job"], row["user"]] += row["load"]
    return {key: load / len(times) for key, load in loads.items()}


def errors(data, truth, servers=""):
    """Return the error of each estimate (None: not available), and the part without any id."""
    with pfscope.open(data) as source:
        rows = source.load(by="job", limit=10**6).to_pylist()
    true = {key: load for key, load in true_loads(truth).items() if key[0].startswith(servers)}
    told = {key: load for key, load in true.items() if key[2] is not None}
    whole, found = sum(true.values()), {}
    for name in ESTIMATES:
        loads = {
            (r["server"], r["job"], r["user"]): r[name]
            for r in rows if r["server"].startswith(servers) and r[name] is not None
        }  # fmt: skip
        differences = (abs(loads.get(k, 0.0) - told.get(k, 0.0)) for k in {*loads, *told})
        found[name] = sum(differences) / whole if loads else None
    return found, 1 - sum(told.values()) / whole


def line(name, found, nobody):
    cells = ["-" if found[n] is None else f"{found[n]:.1%}" for n in ESTIMATES]
    return f"  {name:<24}" + "".join(f"{cell:>10}" for cell in [*cells, f"{nobody:.1%}"])


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hours", type=float, default=6.0)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    print(f"error of effective loads by job, a small site, {args.hours:g} h, seed {args.seed}")
    print(f"  {'':<24}{'equal':>10}{'service':>10}{'learned':>10}{'without id':>12}")
    for dialect in ("2.12", "2.15", "2.16"):
        for what, incidents in (("", []), (", a storm", STORM)):
            with tempfile.TemporaryDirectory() as directory:
                data, truth = made(Path(directory), dialect, args.hours, args.seed, incidents)
                for servers, name in (("", ""), ("mds", "  MDS"), ("oss", "  OSS")):
                    title = name or f"Lustre {dialect}{what}"
                    print(line(title, *errors(data, truth, servers)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
