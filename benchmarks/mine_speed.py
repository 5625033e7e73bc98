"""How long questions to a lake take: DuckDB cold and warm, Spark with 1 and 2 workers.

`python -m benchmarks.mine_speed [--jobs 450000]`; 450 000 runs are ten million files, the month of
the paper. A cold question is a process of its own: it starts Python, opens the lake, and asks.
The baseline is the same count by PyArrow's dataset, without an engine. Spark is left out where it
or Java is not installed.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

STRIPES = (
    "fs_type = 'lustre' and "
    "(stripe_size != 1MiB or stripe_count != 1 or not coalesce(stripe_offset, -1) in (0, -1))"
)
COLD = f"""
import sys, pfscope.mine
with pfscope.mine.open(sys.argv[1]) as miner:
    files = miner.table("darshan_file")
    odd = files.filter({STRIPES!r}).group("log").group(runs="count()")
    print(odd.to_arrow()["runs"][0].as_py())
"""
PLAIN = """
import sys, pyarrow.dataset as ds, pyarrow.compute as pc
files = ds.dataset(sys.argv[1] + "/darshan_file", partitioning="hive")
f = ds.field
odd = (f("fs_type") == "lustre") & (
    (f("stripe_size") != 2**20) | (f("stripe_count") != 1)
    | ~pc.coalesce(f("stripe_offset"), -1).isin([0, -1]))
print(len(pc.unique(files.to_table(columns=["log"], filter=odd)["log"])))
"""
ROUNDS = 3


def cold(script, lake):
    """Return the best time of a process that asks, and what it answers."""
    best, answer = float("inf"), ""
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", script, str(lake)], capture_output=True, text=True, check=True
        )
        best, answer = min(best, time.perf_counter() - begun), done.stdout.strip()
    return best, answer


def questions(miner):
    """Return what is timed: name and call."""
    from pfscope.mine import ost_count, statistics

    files, jobs = miner.table("darshan_file"), miner.table("darshan_job")
    return {
        "customised stripes": lambda: (
            files.filter(STRIPES).group("log").group(runs="count()").to_arrow()
        ),
        "OSTs of each job": lambda: (
            files.group("job_id", osts=ost_count).group(most="max(osts)").to_arrow()
        ),
        "workload bins": lambda: (
            jobs.bin("workload", ["0", "1GB", "10GB"], "bytes_written")
            .group("workload", n="count()", p50="percentile(bytes_written, 50)").to_arrow()
        ),
        "sharing of files": lambda: statistics.sharing(miner),
        "factors of slow writes": lambda: statistics.low_bandwidth(miner, "write"),
        "factors of slow reads": lambda: statistics.low_bandwidth(miner, "read"),
    }  # fmt: skip


def timed(miner):
    """Return the seconds of each question, asked once to warm up where it is Spark's first."""
    times = {}
    for name, ask in questions(miner).items():
        begun = time.perf_counter()
        ask()
        times[name] = time.perf_counter() - begun
    return times


def on_spark(lake, workers):
    from pfscope import mine
    from tests.support.spark_cluster import cluster

    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), workers, memory="2g") as address,
        mine.open(lake, engine=address, options={"spark.executor.memory": "1536m"}) as miner,
    ):
        miner.table("darshan_job").group(n="count()").to_arrow()
        return timed(miner)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--lake", type=Path, help="a month that is there already")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = arguments.lake or Path(folder, "lake")
        if arguments.lake is None:
            from pfscope.mine.synth import synthesize

            begun = time.perf_counter()
            known = synthesize(lake, arguments.jobs)
            seconds = time.perf_counter() - begun
            print(f"month: {known['runs']} runs, {known['files']} files, made in {seconds:.1f} s, "
                  f"{known['files'] / seconds / 1e3:.0f} k files/s")  # fmt: skip
        report(lake)


def report(lake):
    from pfscope import mine

    (here, answer), (plain, expected) = cold(COLD, lake), cold(PLAIN, lake)
    assert answer == expected, (answer, expected)
    print(f"customised stripes, cold: {here:.2f} s; PyArrow's dataset {plain:.2f} s: "
          f"{plain / here:.1f} times as fast")  # fmt: skip
    with mine.open(lake) as miner:
        columns = {"DuckDB": timed(miner)}
    if find_spec("pyspark") and shutil.which("java"):
        # A session of Spark lives as long as its process: each size of cluster gets one of its own.
        for workers in (1, 2):
            columns[f"Spark, {workers}"] = in_a_process(lake, workers)
    else:
        print("Spark or Java is not installed: DuckDB alone")
    print(f"{'seconds':26}" + "".join(f"{name:>12}" for name in columns))
    for name in columns["DuckDB"]:
        print(f"{name:26}" + "".join(f"{column[name]:12.2f}" for column in columns.values()))


def in_a_process(lake, workers):
    script = (
        "import sys, json; from pathlib import Path; from benchmarks.mine_speed import on_spark;"
        "print(json.dumps(on_spark(Path(sys.argv[1]), int(sys.argv[2]))))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(lake), str(workers)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    import json

    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
