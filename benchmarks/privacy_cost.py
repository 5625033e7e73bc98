"""What it costs to show a store under pseudonyms: each answer beside the same one with all names.

Run with `make bench`. Half a million series, of which 20 000 did something in the window; and
*Now* of a Puhti-like server, asked by people of whom each sees something else.
"""

import argparse
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from pfscope.now.now import Now
from pfscope.now.recent import Recent, recorded
from pfscope.now.wish import Wish
from pfscope.privacy.audience import Audience
from pfscope.privacy.pseudonyms import Pseudonyms
from pfscope.privacy.shown import Shown
from pfscope.privacy.source import SeenBy
from pfscope.query.asked import Site
from pfscope.query.engine import StoreEngine
from pfscope.query.local import LocalSource
from pfscope.query.metrics import SHIPPED
from pfscope.store.embedded import open_store
from tests.support.query_tables import frames_at, named, one_series, used
from tests.support.store_rows import at, table

AIM_RATIO = 3.0
ROUNDS = 5
OPERATIONS = ("open", "close", "getattr", "setattr", "mknod", "unlink", "rename", "statfs")
PIECE = 50_000
TIMES = [at(minute=minute) for minute in (0, 2, 4)]


def one(number):
    return one_series(
        number, f"scratch-MDT000{number % 4}", user=str(1000 + number // 400 % 2000),
        job=str(5_000_000 + number // 20), node=f"r{number // 10 % 1500}",
        executable=f"program{number % 37}",
    )  # fmt: skip


def fill(store, series, active):
    """Keep so many series, the newest of which did something in the last minutes."""
    for begin in range(0, series, PIECE):
        rows = [one(number) for number in range(begin, min(begin + PIECE, series))]
        store.commit({"series": table("series", rows)}, [])
    usage = [
        used(number, since, upto, 5 + number % 7, operation=number % len(OPERATIONS))
        for number in range(series - active, series)
        for since, upto in pairwise(TIMES)
    ]
    quality = [
        {"time": time_us, "target": f"scratch-MDT000{n}", "server": "mds1", "class": "sound",
         "system": False, "entries": active // 4}
        for time_us in TIMES[1:] for n in range(4)
    ]  # fmt: skip
    rows = {
        "operations": table("operations", named(*OPERATIONS)),
        "usage_mdt": table("usage_mdt", usage),
        "frames": table("frames", frames_at(*TIMES, server="mds1")),
        "quality": table("quality", quality),
    }
    store.commit(rows, [])


def timed(work):
    """Return the seconds that work takes when it was done before, and those of the processor."""
    work()
    wall, cpu = [], []
    for _ in range(ROUNDS):
        begin, began = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - began)
    return median(wall), median(cpu)


def questions(store, pseudonyms, some):
    """Print what questions cost, and return the largest ratio."""
    site, engine = Site(SHIPPED), StoreEngine(store)
    everybody = LocalSource(engine, site, lambda: None)
    few = SeenBy(StoreEngine(store), store, site, some, pseudonyms)
    ratios = []
    for by in ("user", "job", "node", "executable"):
        words = {"by": [by], "operation": ["metadata"], "from": ["-1h"]}
        named_s, _ = timed(lambda words=words: everybody.ask("top", words))
        hidden_s, _ = timed(lambda words=words: few.ask("top", words))
        ratios.append(hidden_s / named_s)
        print(f"  top by {by:10} {named_s * 1e3:6.0f} ms, pseudonyms {hidden_s * 1e3:6.0f} ms, "
              f"ratio {ratios[-1]:.1f}")  # fmt: skip
    return max(ratios)


def now(store, pseudonyms, people):
    """Print what *Now* costs for people who each see something else."""
    seen, shown = Now(store, Site(SHIPPED), Recent(recorded(store))), Shown(store, pseudonyms)
    wish = Wish.read({"by": ["user"], "limit": ["100"]})
    audiences = [Audience(users=(str(1000 + n),)) for n in range(people)]

    def all_of_them():
        for audience in audiences:
            seen.document(wish, lambda sight, who=audience: shown.rows(sight, who))

    _, alone_s = timed(lambda: seen.document(wish))
    _, together_s = timed(all_of_them)
    each_s = together_s / people
    print(f"  now: {alone_s * 1e3:.1f} ms of the processor for all admins together, "
          f"{each_s * 1e3:.1f} ms for each other person an observation: "
          f"{people} of them {together_s / 30:.2f} cores at one in 30 s")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=500_000)
    parser.add_argument("--active", type=int, default=20_000)
    parser.add_argument("--people", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, open_store(Path(name)) as store:
        fill(store, options.series, options.active)
        pseudonyms = Pseudonyms(Path(name))
        print(f"privacy: {options.series:,} series, {options.active:,} active")
        ratio = questions(store, pseudonyms, Audience(users=("1007", "anna")))
        print(f"  largest ratio {ratio:.1f} (aim: {AIM_RATIO:.0f} or less)")
        now(store, pseudonyms, options.people)


if __name__ == "__main__":
    main()
