"""What the agent costs a server: share of one core, and memory, on a tree with 1 000 entries.

The real process collects from files and sends to a receiver on loopback. Printed beside what
PFSTRASE's publication states for its daemon in C (101 clients).
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

from pfscope.frames import Found, scan

OPERATIONS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr"),
    *("setattr", "getxattr", "setxattr", "statfs", "sync"),
)
ENTRY = '- job_id:          "{id}"\n  snapshot_time:   1723114647.{n:09} secs.nsecs\n'
COUNTER = (
    "  {name:<16} {{ samples: {samples:>11}, unit: usecs, min: {low:>8}, max: {high:>8}, "
    "sum: {total:>16}, sumsq: {square:>18} }}\n"
)


def entry(n: int) -> str:
    """Return one entry as Lustre 2.15 prints it; ten of its operations have counts."""
    lines = [
        ENTRY.format(
            id=f"{20_000_000 + n}\\x3A{10_000 + n % 300}\\x3Ar{n % 20:02}c{n % 48:02}", n=n
        )
    ]
    for i, name in enumerate(OPERATIONS):
        samples = (n * 7919 + i * 104_729) % 1_000_003 if i < 10 else 0
        lines.append(
            COUNTER.format(
                name=name + ":", samples=samples, low=samples and 3 + i, high=samples % 90_001,
                total=samples * 37, square=samples * 1931,
            )
        )  # fmt: skip
    return "".join(lines)


def make_tree(root: Path, entries: int) -> int:
    """Write an MDS of four targets and return the size of its job_stats."""
    size = 0
    for target in range(4):
        folder = root / "proc/fs/lustre/mdt" / f"scratch-MDT{target:04}"
        folder.mkdir(parents=True)
        text = "job_stats:\n" + "".join(entry(n) for n in range(target, entries, 4))
        size += len(text)
        (folder / "job_stats").write_text(text)
        (folder / "job_cleanup_interval").write_text("600\n")
        (folder / "num_exports").write_text("1000\n")
        (folder / "md_stats").write_text("open 12 samples [reqs]\n" * 16)
    for name in ("loadavg", "stat", "meminfo", "uptime"):
        (root / "proc" / name).write_bytes(Path("/proc", name).read_bytes())
    return size


class Receiver(BaseHTTPRequestHandler):
    """Stores nothing, acknowledges everything."""

    frames = 0
    sent_bytes = 0

    def do_POST(self) -> None:
        """Acknowledge each frame."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        keys = [item.frame.key for item in scan(BytesIO(body)) if isinstance(item, Found)]
        Receiver.frames += len(keys)
        Receiver.sent_bytes += len(body)
        names = ("server", "epoch", "sequence")
        items = [dict(zip(names, key, strict=True), status="stored") for key in keys]
        answer = json.dumps({"frames": items}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_arguments: object) -> None:
        """Keep quiet."""


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process's threads, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def memory_mib(pid: int, field: str) -> float:
    """Return a figure of a process's memory."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split(field + ":")[1].split()[0]) / 1024


def measure(command: list[str], seconds: float) -> tuple[float, float, float, float]:
    """Run the agent; return CPU at the start, share of a core afterwards, RSS and its peak."""
    agent = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        start_cpu, start = cpu_seconds(agent.pid), time.monotonic()
        time.sleep(seconds)
        used, elapsed = cpu_seconds(agent.pid) - start_cpu, time.monotonic() - start
        return (
            start_cpu,
            used / elapsed,
            memory_mib(agent.pid, "VmRSS"),
            memory_mib(agent.pid, "VmHWM"),
        )
    finally:
        agent.send_signal(signal.SIGTERM)
        agent.wait()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--interval", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--agent", help="a built pfscope-agent.pyz instead of the sources")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to measure")
    args = parser.parse_args()
    program = [args.agent] if args.agent else ["-m", "pfscope.agent"]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        size = make_tree(Path(directory), args.entries)
        command = [
            args.python, *program, "--root", directory, "--spool", directory + "/spool",
            "--interval", str(args.interval), "--url", f"http://127.0.0.1:{server.server_port}",
        ]  # fmt: skip
        start_cpu, share, rss, peak = measure(command, args.seconds)
    server.shutdown()
    per_entry = Receiver.sent_bytes / max(1, Receiver.frames) / args.entries
    print(
        f"{args.entries} entries, {size / 1e6:.2f} MB of text, every {args.interval} s, "
        f"{Receiver.frames} frames received, {per_entry:.0f} bytes per entry sent"
    )
    print(f"{'':24}{'share of a core':>16}{'RSS MiB':>9}{'peak MiB':>10}")
    print(f"{'pfscope agent':24}{share:>16.3%}{rss:>9.1f}{peak:>10.1f}")
    print(f"{'aim':24}{'0.300%':>16}{'20':>9}{'':>10}")
    print(f"{'PFSTRASE, as published':24}{'0.500%':>16}{'1':>9}{'':>10}")
    print(f"starting took {start_cpu:.2f} s of processor time")


if __name__ == "__main__":
    main()
