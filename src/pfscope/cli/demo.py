"""`pfscope demo`: a simulated site, a real agent on each of its servers, and a server that stores.

Laboratory, agents and server are processes of their own, as in real life. They end with the demo,
whatever ends it, and a temporary directory goes with them.
"""

import argparse
import contextlib
import json
import math
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pfscope.cli.demo_stored import look
from pfscope.cli.demo_summary import Summary
from pfscope.cli.demo_view import View, make_view
from pfscope.cli.processes import Processes
from pfscope.errors import InputError
from pfscope.lab.live import require_empty
from pfscope.lab.spectator import Spectator, SpoolReader

INTERVAL_S = 2
STEP_S = 30
SPEED = 30
ONCE_S = 20.0
START_LIMIT_S = 120.0
POLL_S = 0.2
GRACE_S = 30.0
"""On a busy machine the last server's frames may be longer in coming."""
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
STORM = {"kind": "metadata_storm", "start": 60, "duration_s": 7 * 86400, "factor": 30}
EXAMPLES = """examples:
  pfscope demo                  watch until Ctrl-C
  pfscope demo --once           watch for about 20 seconds, print a summary
  pfscope demo --dialect 2.16   servers that print as Lustre 2.16 does
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--once", action="store_true", help="end after about 20 seconds")
    parser.add_argument("--seconds", type=float, metavar="N", help="end after N seconds")
    parser.add_argument(
        "--dir", type=Path, metavar="DIR", help="keep everything there (default: temporary)"
    )
    parser.add_argument("--dialect", default="2.12", help="release of the servers (default: 2.12)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another site")


def run(args: argparse.Namespace) -> int:
    """Show the demo; 0 only if frames of every server came and held entries."""
    if args.dir:
        require_empty(args.dir)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_ended_like_interrupted())
        directory = args.dir or Path(
            stack.enter_context(TemporaryDirectory(prefix="pfscope-demo-"))
        )
        with Processes(directory / "log") as processes:
            site = _start_site(processes, directory, args)
            url = _start_server(processes, directory)
            servers = _wait_for_servers(processes, site)
            for server in servers:
                _start_agent(processes, directory, server, url)
            print(_introduction(servers, url), flush=True)
            limit_s = args.seconds or (ONCE_S if args.once else None)
            summary = Summary(servers)
            with make_view() as view, contextlib.suppress(KeyboardInterrupt):
                _watch(processes, directory, summary, view, limit_s)
        stored = look(directory / "data")
        print(summary.text(_culprit(site)))
        print(stored.text())
        return 1 if summary.lacking() or stored.lacking(servers) else 0


def _introduction(servers: list[str], url: str) -> str:
    return (
        f"A simulated Lustre site, {SPEED} times as fast as life: {', '.join(servers)}.\n"
        f"A real agent on each collects every {INTERVAL_S} seconds and sends to {url};\n"
        "what is shown is what the server has acknowledged. Rates are in simulated seconds."
    )


@contextlib.contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """Clean up on SIGTERM, and when the terminal is closed, as on Ctrl-C."""
    kinds = (signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: Any) -> None:
        for kind in kinds:
            signal.signal(kind, signal.SIG_IGN)  # once: what follows is the cleaning up
        raise KeyboardInterrupt

    before = {kind: signal.signal(kind, interrupt) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _start_site(processes: Processes, directory: Path, args: argparse.Namespace) -> Path:
    incidents = directory / "incidents.json"
    incidents.write_text(json.dumps([STORM]))
    site = directory / "site"
    options = {
        "--preset": "mini",
        "--step": STEP_S,
        "--speed": SPEED,
        "--seed": args.seed,
        "--dialect": args.dialect,
        "--incidents": incidents,
    }
    arguments = [str(part) for option in options.items() for part in option]
    processes.start("laboratory", "pfscope.cli.main", "lab", "run", str(site), *arguments)
    return site


def _wait_for_servers(processes: Processes, site: Path) -> list[str]:
    """Wait until the first step is there; its truth is written last."""
    deadline = time.monotonic() + START_LIMIT_S
    while not _truth(site).exists():
        processes.check()
        if time.monotonic() > deadline:
            raise InputError(f"the laboratory showed nothing in {START_LIMIT_S:.0f} seconds")
        time.sleep(POLL_S)
    return sorted(path.parents[1].name for path in site.glob("*/bin/lctl"))


def _start_server(processes: Processes, directory: Path) -> str:
    """Start a receiving server and return its address."""
    arguments = ("serve", "--data", str(directory / "data"), "--listen", "127.0.0.1:0")
    log = processes.start("server", "pfscope.cli.main", *arguments)
    deadline = time.monotonic() + START_LIMIT_S
    while (found := _ADDRESS.search(log.read_text(errors="backslashreplace"))) is None:
        processes.check()
        if time.monotonic() > deadline:
            raise InputError(f"the server did not listen in {START_LIMIT_S:.0f} seconds")
        time.sleep(POLL_S)
    return found[0]


def _start_agent(processes: Processes, directory: Path, server: str, url: str) -> None:
    config = directory / "agent.conf"
    config.write_text("[agent]\n")  # not this machine's own, which may send somewhere
    options = {
        "--config": config,
        "--root": directory / "site" / server,
        "--server": server,
        "--interval": INTERVAL_S,
        "--url": url,
        "--spool": directory / "spool" / server,
    }
    arguments = [str(part) for option in options.items() for part in option]
    processes.start(f"agent of {server}", "pfscope.agent", *arguments)


def _watch(
    processes: Processes, directory: Path, summary: Summary, view: View, limit_s: float | None
) -> None:
    end = time.monotonic() + limit_s if limit_s else math.inf
    spectator = Spectator()
    journal = SpoolReader(directory / "data" / "journal")
    while time.monotonic() < end or (summary.lacking() and time.monotonic() < end + GRACE_S):
        processes.check()
        for frame in journal.new_frames():
            seen = spectator.see(frame)
            summary.add(seen)
            view.frame(seen)
        time.sleep(POLL_S)


def _culprit(site: Path) -> dict[str, Any]:
    culprit: dict[str, Any] = json.loads(_truth(site).read_text())[0]
    return culprit


def _truth(site: Path) -> Path:
    return site / "truth" / "incidents.json"
