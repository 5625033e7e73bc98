"""The server killed at random instants: nothing acknowledged is lost, nothing counted twice.

`make chaos` plays many rounds; the usual test run plays a few.
"""

import os
import random
import signal
import threading

import httpx

from tests.integration.test_import_truth import pfscope, sums_in_store, true_sums
from tests.integration.test_server_truth import (
    LIMITS,
    balance,
    disturbed,
    frames_of,
    wait_until_stored,
)
from tests.support.serve_process import served

ROUNDS = int(os.environ.get("PFSCOPE_CHAOS_ROUNDS", "4"))
SEED = int(os.environ.get("PFSCOPE_CHAOS_SEED", "7"))


def post_until_killed(server, unsent, rng, lives_s):
    """Post what is not acknowledged until the server is killed; return what is still not."""
    killer = threading.Timer(lives_s, server.process.send_signal, (signal.SIGKILL,))
    killer.start()
    try:
        while unsent:
            count = rng.randint(1, 8)
            verdicts = server.statuses(b"".join(unsent[:count]))
            kept = [f for f, v in zip(unsent, verdicts, strict=False) if v == "retry"]
            unsent = kept + unsent[count:]
    except httpx.TransportError:
        pass
    finally:
        killer.cancel()
    return unsent


def test_killed_again_and_again(tmp_path):
    site, data = tmp_path / "site", tmp_path / "data"
    pfscope("lab", "dump", site, "--hours", 1.5, "--seed", SEED, "--faults", "all", "--frames",
            "--dialect", "2.12,2.15")  # fmt: skip
    rng = random.Random(SEED)
    frames = frames_of(site)
    arriving = disturbed(frames, rng)
    share = -(-len(arriving) // ROUNDS)
    unsent = []
    for number in range(ROUNDS):
        unsent += arriving[share * number : share * (number + 1)]
        with served(data, *LIMITS) as server:
            unsent = post_until_killed(server, unsent, rng, rng.uniform(0.02, 1.5))
            server.process.send_signal(signal.SIGKILL)
    with served(data, *LIMITS) as server:
        if unsent:
            assert set(server.statuses(b"".join(unsent))) <= {"stored", "duplicate"}
        wait_until_stored(server, len(frames))
        balance(server)
        server.end()
    assert sums_in_store(data) == true_sums(site)
