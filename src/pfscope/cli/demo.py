"""`pfscope demo`: a simulated site, real agents on its servers, a server that watches, an incident.

Some hours of the site's past are imported first: what is usual has to be known. Laboratory, agents
and server are processes of their own, as in real life. They end with the demo, whatever ends it,
and a temporary directory goes with them.
"""

import argparse
import contextlib
import json
import math
import os
import re
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from pfscope.cli.demo_incident import Detective
from pfscope.cli.demo_stored import look
from pfscope.cli.demo_summary import Summary
from pfscope.cli.demo_view import View, make_view
from pfscope.cli.processes import Processes
from pfscope.errors import InputError
from pfscope.lab.live import require_empty
from pfscope.lab.spectator import Spectator, SpoolReader

INTERVAL_S = 2
STEP_S = 60
SPEED = 60
HISTORY_H = 3
ONCE_S = 60.0
START_LIMIT_S = 120.0
POLL_S = 0.2
GRACE_S = 30.0
"""On a busy machine the last server's frames may be longer in coming."""
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
ASK_S = 0.5
STORM = {
    "kind": "metadata_storm",
    "start": HISTORY_H * 3600 + 300,
    "duration_s": 3600,
    "factor": 30,
}
EXAMPLES = """examples:
  pfscope demo                  watch until Ctrl-C
  pfscope demo --once           until the incident is found; 0 if the culprit named is the right one
  pfscope demo --dialect 2.16   servers that print as Lustre 2.16 does
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--once", action="store_true", help="print the incident and end, without a browser"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open the page")
    parser.add_argument("--seconds", type=float, metavar="N", help="end after N seconds")
    parser.add_argument(
        "--dir", type=Path, metavar="DIR", help="keep everything there (default: temporary)"
    )
    parser.add_argument("--dialect", default="2.12", help="release of the servers (default: 2.12)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another site")


def run(args: argparse.Namespace) -> int:
    """Show the demo; 0 only if every server was heard of, and `--once` named the right culprit."""
    if args.dir:
        require_empty(args.dir)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_ended_like_interrupted())
        directory = args.dir or Path(
            stack.enter_context(TemporaryDirectory(prefix="pfscope-demo-"))
        )
        with Processes(directory / "log") as processes:
            site, url = _begin(processes, directory, args)
            servers = _servers(site)
            print(_introduction(servers, url), flush=True)
            if not (args.once or args.no_browser):
                _open_page(url)
            limit_s = args.seconds or (ONCE_S if args.once else None)
            summary, detective = Summary(servers), Detective(url, site)
            with make_view() as view, contextlib.suppress(KeyboardInterrupt):
                _watch(processes, directory, summary, detective, view, limit_s, args.once)
        stored = look(directory / "data")
        print(summary.text(detective.injected()))
        print(stored.text())
        print(detective.verdict())
        lacking = summary.lacking() or stored.lacking(servers)
        return 1 if lacking or (args.once and not detective.is_right()) else 0


def _begin(processes: Processes, directory: Path, args: argparse.Namespace) -> tuple[Path, str]:
    """Start everything; return where the site is and at what address the server listens."""
    with Console(stderr=True).status(f"simulating {HISTORY_H} hours of the past") as status:
        hold = directory / "go"
        site = _start_site(processes, directory, args, hold)
        _wait_for_site(processes, site)
        status.update("importing them")
        history = [str(path) for path in sorted((site / "history").iterdir())]
        data, config = str(directory / "data"), _server_config(directory)
        processes.run("import", "pfscope.cli.main", "import", "frames", *history, "--data", data,
                      "--config", config)  # fmt: skip
        status.update("starting the server")
        url = _start_server(processes, data, config)
        for server in _servers(site):
            _start_agent(processes, directory, server, url)
        hold.touch()
    return site, url


def _server_config(directory: Path) -> str:
    """Return a configuration that is the demo's own, whatever this machine has."""
    config = directory / "pfscope.toml"
    config.write_text('[alert.incident]\non = "incidents"\n')
    return str(config)


def _introduction(servers: list[str], url: str) -> str:
    return (
        f"A simulated Lustre site, {SPEED} times as fast as life: {', '.join(servers)}.\n"
        f"A real agent on each collects every {INTERVAL_S} seconds and sends to {url};\n"
        f"before it, the server was given {HISTORY_H} hours of their past.\n"
        f"Look at {url}/ (Now); within a minute there is an incident. Times are simulated."
    )


def _open_page(url: str) -> None:
    """Open the page in a browser, where somebody sits before a screen."""
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(f"{url}/")


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


def _start_site(
    processes: Processes, directory: Path, args: argparse.Namespace, hold: Path
) -> Path:
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
        "--history": HISTORY_H,
        "--hold": hold,
    }
    arguments = [str(part) for option in options.items() for part in option]
    processes.start("laboratory", "pfscope.cli.main", "lab", "run", str(site), *arguments)
    return site


def _wait_for_site(processes: Processes, site: Path) -> None:
    """Wait until the first step is there; its truth is written last."""
    deadline = time.monotonic() + START_LIMIT_S
    while not _truth(site).exists():
        processes.check()
        if time.monotonic() > deadline:
            raise InputError(f"the laboratory showed nothing in {START_LIMIT_S:.0f} seconds")
        time.sleep(POLL_S)


def _servers(site: Path) -> list[str]:
    return sorted(path.parents[1].name for path in site.glob("*/bin/lctl"))


def _start_server(processes: Processes, data: str, config: str) -> str:
    """Start a server that receives and watches, and return its address."""
    arguments = ("serve", "--data", data, "--config", config, "--limit", "reorder_s=1")
    log = processes.start("server", "pfscope.cli.main", *arguments, "--listen", "127.0.0.1:0")
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
        "--clock": "tree",
        "--url": url,
        "--spool": directory / "spool" / server,
    }
    arguments = [str(part) for option in options.items() for part in option]
    processes.start(f"agent of {server}", "pfscope.agent", *arguments)


def _watch(
    processes: Processes,
    directory: Path,
    summary: Summary,
    detective: Detective,
    view: View,
    limit_s: float | None,
    once: bool,
) -> None:
    """Show what arrives, until the time is over or, with `once`, the incident is there."""
    end = time.monotonic() + limit_s if limit_s else math.inf
    ask_at = 0.0
    spectator = Spectator()
    journal = SpoolReader(directory / "data" / "journal")
    while time.monotonic() < end or (summary.lacking() and time.monotonic() < end + GRACE_S):
        processes.check()
        for frame in journal.new_frames():
            seen = spectator.see(frame)
            summary.add(seen)
            view.frame(seen)
        if time.monotonic() >= ask_at:
            ask_at = time.monotonic() + ASK_S
            if told := detective.look():
                view.incident(told)
        if once and detective.first and not summary.lacking():
            return
        time.sleep(POLL_S)


def _truth(site: Path) -> Path:
    return site / "truth" / "incidents.json"
