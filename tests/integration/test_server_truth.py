"""Frames over HTTP, repeated, reordered and delayed, across a killed server: usage is the truth."""

import random
import signal
import time
from collections import Counter
from itertools import zip_longest

from pfscope.frames import encode, iter_frames
from tests.integration.test_import_truth import pfscope, sums_in_store, true_sums
from tests.support.serve_process import served

LIMITS = ("--limit", "reorder_s=2")


def frames_of(site):
    """Return all encoded frames of a simulated site, about in the order in which they were made."""
    servers = [path for path in site.iterdir() if path.name not in ("truth", "slurm")]
    logs = [[encode(frame) for frame in iter_frames(str(path))] for path in servers]
    return [frame for row in zip_longest(*logs) for frame in row if frame is not None]


def disturbed(frames, rng):
    """Repeat some frames, and let each arrive up to a few places early or late."""
    repeated = [f for frame in frames for f in [frame] * rng.choice((1, 1, 1, 2))]
    places = [i + rng.uniform(0, 9) for i in range(len(repeated))]
    return [frame for _, frame in sorted(zip(places, repeated, strict=True), key=lambda p: p[0])]


def post_all(server, frames, rng):
    """Post in requests of any size; return how often each verdict was given."""
    verdicts = Counter()
    while frames:
        count = rng.randint(1, 12)
        verdicts.update(server.statuses(b"".join(frames[:count])))
        frames = frames[count:]
    return verdicts


def wait_until_stored(server, count):
    for _ in range(300):
        stored = sum(
            n for (stage, _, outcome), n in server.ledger().items()
            if (stage, outcome) == ("ingest", "stored")
        )  # fmt: skip
        if stored >= count:
            return
        time.sleep(0.1)
    raise AssertionError(f"{stored} of {count} frames are stored")


def test_disturbed_frames_and_a_killed_server(tmp_path):
    site, data = tmp_path / "site", tmp_path / "data"
    pfscope("lab", "dump", site, "--hours", 2, "--seed", 31, "--faults", "all", "--frames",
            "--dialect", "2.12,2.16")  # fmt: skip
    rng = random.Random(31)
    frames = frames_of(site)
    arriving = disturbed(frames, rng)
    half = len(arriving) // 2
    with served(data, *LIMITS) as server:
        first = post_all(server, arriving[:half], rng)
        server.process.send_signal(signal.SIGKILL)
    with served(data, *LIMITS) as server:
        # What was underway when the server died is sent again, as an agent would.
        second = post_all(server, arriving[half - 20 :], rng)
        assert set(first) | set(second) == {"stored", "duplicate"}
        assert first["stored"] + second["stored"] == len(frames)
        wait_until_stored(server, len(frames))
        balance(server)
        server.end()
    assert sums_in_store(data) == true_sums(site)


def balance(server):
    """Every stage and server: received = stored + duplicate + rejected + dropped."""
    lines = server.client.get("/api/v1/ledger").json()["ledger"]
    for unit in ("frames", "entries"):
        sums = Counter()
        for line in lines:
            sign = 1 if line["outcome"] == "received" else -1
            sums[line["stage"], line["server"]] += sign * line[unit]
        assert not +sums, (unit, sums)
        assert not -sums, (unit, sums)
