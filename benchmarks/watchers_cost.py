"""What 200 people who watch *Now* cost a Puhti-like server, and whether they slow the ingest.

Run with `make bench`. Ten servers send a snapshot every few seconds, far more often than a site
would, each on its own; first nobody watches, then 200 do, from another process: server-sent events
as the page asks for them, in four metrics by three keys, and the incidents every 30 seconds.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import httpx

from benchmarks.agent_cost import cpu_seconds
from benchmarks.ingest_speed import INTERVAL_S, observations
from pfscope.frames import FrameBuilder

AIM_CORES = 0.5
AIM_SLOWER = 1.25
WARM = 3
INCIDENTS_S = 30.0
WISHES = [
    f"by={by}&sort={metric}&columns={metric},iops&limit=15&parts=12"
    for by in ("user", "job", "node")
    for metric in ("iops", "metadata", "bytes", "load")
]


class Watched:
    """What arrived at all who watch."""

    def __init__(self):
        self.events = self.size = 0

    async def live(self, host, port, wish):
        """Watch for ever."""
        reader = await _asked(host, port, f"/api/v1/live?{wish}")
        while line := await reader.readline():
            self.size += len(line)
            self.events += line.startswith(b"event: now")

    async def incidents(self, host, port, begin_s):
        """Look at the incidents now and then, as the page does."""
        await asyncio.sleep(begin_s)
        while True:
            reader = await _asked(host, port, "/api/v1/incidents?from=-1d", "close")
            await reader.read()
            await asyncio.sleep(INCIDENTS_S)


async def _asked(host, port, path, connection="keep-alive"):
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 24)
    head = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: {connection}\r\n\r\n"
    writer.write(head.encode())
    await writer.drain()
    reader.writer = writer  # or it would be closed when nobody has it any more
    return reader


async def watch(url, people):
    """Be so many people until a line comes in; then print what arrived."""
    host, port = urlsplit(url).hostname, urlsplit(url).port
    watched = Watched()
    tasks = [
        asyncio.create_task(work)
        for n in range(people)
        for work in (
            watched.live(host, port, WISHES[n % len(WISHES)]),
            watched.incidents(host, port, INCIDENTS_S * n / people),
        )
    ]
    while watched.events < people:
        await asyncio.sleep(0.05)
    print("watching", flush=True)
    first = watched.events, watched.size
    await asyncio.to_thread(sys.stdin.readline)
    print(json.dumps([watched.events - first[0], watched.size - first[1]]), flush=True)
    for task in tasks:
        task.cancel()


def packed(frame, number):
    """Return a frame as it travels."""
    builder = FrameBuilder()
    builder.section(frame.texts[0])
    return builder.finish(frame.origin._replace(sequence=number, interval_s=float(INTERVAL_S)))


class Sender:
    """Sends one snapshot after another, and waits until each is stored."""

    def __init__(self, client, snapshots):
        self._client, self._snapshots = client, enumerate(snapshots)
        self._wanted = 0

    def send(self):
        """Return the seconds from sending a snapshot of all servers until it is stored."""
        number, frames = next(self._snapshots)
        bodies = [packed(frame, number) for frame in frames]
        headers = {"Content-Type": "application/vnd.pfscope.frames"}
        begin = time.perf_counter()
        for body in bodies:
            answer = self._client.post("/api/v1/frames", content=body, headers=headers)
            assert answer.json()["frames"][0]["status"] == "stored"
        self._wanted += len(bodies)
        while self._stored() < self._wanted:
            time.sleep(0.02)
        return time.perf_counter() - begin

    def _stored(self):
        lines = self._client.get("/api/v1/ledger").json()["ledger"]
        kept = (x for x in lines if (x["stage"], x["outcome"]) == ("ingest", "stored"))
        return sum(line["frames"] for line in kept)


def phase(sender, pid, count, every_s):
    """Send snapshots at an even pace; return the server's share of a core, and the shortest time.

    The shortest, since whatever else the machine does makes the others longer.
    """
    cpu_s, begin = cpu_seconds(pid), time.monotonic()
    times = []
    for n in range(count):
        time.sleep(max(0.0, begin + n * every_s - time.monotonic()))
        times.append(sender.send())
    time.sleep(max(0.0, begin + count * every_s - time.monotonic()))
    return (cpu_seconds(pid) - cpu_s) / (time.monotonic() - begin), min(times)


def watched_phase(url, people, work):
    """Return what some work returns while so many people watch, and what came to them."""
    command = [sys.executable, "-m", "benchmarks.watchers_cost", "--watch", url]
    with subprocess.Popen(
        [*command, "--people", str(people)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as watchers:  # fmt: skip
        try:
            assert watchers.stdout.readline() == "watching\n"
            measured = work()
            watchers.stdin.write("\n")
            watchers.stdin.flush()
            return measured, json.loads(watchers.stdout.readline())
        finally:
            watchers.kill()


def measure(directory, people, count, every_s):
    """Print the figures."""
    snapshots = observations("2.12")
    command = [sys.executable, "-m", "pfscope.cli.main", "serve", "--data", directory]
    with subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            url = "http://" + server.stdout.readline().split("http://")[1].split(",")[0]
            with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
                sender = Sender(client, snapshots)
                for _ in range(WARM):
                    sender.send()

                def work():
                    return phase(sender, server.pid, count, every_s)

                alone_before = work()
                (watched_cores, watched_s), arrived = watched_phase(url, people, work)
                alone_after = work()
        finally:
            server.terminate()
            server.wait(30)
    alone_cores = (alone_before[0] + alone_after[0]) / 2
    alone_s = min(alone_before[1], alone_after[1])
    report(people, (alone_cores, alone_s), (watched_cores, watched_s), arrived, count * every_s)


def report(people, alone, watched, arrived, seconds):
    """Print what it cost."""
    events, size = arrived
    print(f"{people} people were pushed {events:,} times in {seconds:.0f} s, "
          f"{size / max(events, 1) / 1000:.1f} kB each")  # fmt: skip
    print(f"{'':24}{'share of a core':>16}{'a snapshot stored after':>26}")
    print(f"{'nobody watches':24}{alone[0]:>16.1%}{alone[1] * 1000:>23.0f} ms")
    print(f"{f'{people} watch':24}{watched[0]:>16.1%}{watched[1] * 1000:>23.0f} ms")
    cores, slower = watched[0] - alone[0], watched[1] / alone[1]
    verdicts = (
        "met" if cores < AIM_CORES else "MISSED",
        "met" if slower < AIM_SLOWER else "MISSED",
    )
    print(f"they cost {cores:.1%} of a core (aim: {AIM_CORES:.0%}) -> {verdicts[0]}")
    print(f"storing takes {slower:.2f} × as long (aim: {AIM_SLOWER}) -> {verdicts[1]}")


def main():
    """Measure and print, or be those who watch."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--snapshots", type=int, default=6)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between snapshots")
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.watch:
        asyncio.run(watch(args.watch, args.people))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        measure(directory, args.people, args.snapshots, args.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
