"""How long after a frame's acknowledgement an alert is there. Run with `make bench`.

A real server (`pfscope serve`), frames over HTTP, a webhook on loopback. Each round a new file
system, whose quiet past is known, gets a storm; what is measured is the time from the answer to the
frame that shows it until the webhook is called. Beside it: how long the answer itself took.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.support.hook_server import hook_server
from tests.support.serve_process import served
from tests.support.storm_frames import Storms

AIM_S, QUIET = 1.0, 75
CONFIG = """
[alert.storm]
on = "incidents"
notify = ["ops"]
[notify.ops]
type = "webhook"
url = "{url}"
"""


def measure(directory, rounds):
    """Return, for each round, how long the answers took, and how long the alert took after."""
    with hook_server() as hook:
        config = directory / "pfscope.toml"
        config.write_text(CONFIG.format(url=hook.url))
        data = directory / "data"
        with served(data, "--config", str(config), "--limit", "reorder_s=1") as server:
            for number in range(rounds):
                yield one(server, hook, Storms(file_system=f"fs{number}", minute=200 * number))


def one(server, hook, storms):
    """Let one file system have its storm, and return (answer, alert) in seconds."""
    server.statuses(b"".join(frame for each in storms.frames(QUIET) for frame in each))
    watched(server, storms)
    hook.arrived.clear()
    while True:
        (frames,) = storms.frames(1, storm=True)
        begin = time.monotonic()
        server.statuses(b"".join(frames))
        answered = time.monotonic()
        if hook.arrived.wait(3.0):
            return answered - begin, time.monotonic() - answered


def watched(server, storms):
    """Wait until what was sent was looked at."""
    wanted = storms.newest_us - 60 * 10**6
    while True:
        about = server.client.get("/api/v1/incidents?from=2022-10-26").json()["about"]
        if (about["watched_us"] or 0) >= wanted:
            return
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        answers, alerts = zip(*measure(Path(folder), args.rounds), strict=True)
    median, worst = statistics.median(alerts), max(alerts)
    within = sum(alert < AIM_S for alert in alerts)
    print(f"from a frame's acknowledgement to the webhook, {args.rounds} incidents")
    print("  seconds: " + " ".join(f"{alert:.2f}" for alert in sorted(alerts)))
    print(f"  median  {median:6.3f} s   {median / statistics.median(answers):.1f} times the answer")
    print(f"  worst   {worst:6.3f} s   {within} of {args.rounds} within the aim of {AIM_S:g} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
