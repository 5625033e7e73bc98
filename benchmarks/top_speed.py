"""How soon `pfscope top` shows something, beside starts of Python alone and with Textual.

Run with `make bench`. A server answers from an hour of a small site on loopback. The window is
opened in a terminal of its own; `first paint` is when its first line is drawn, `first rows` when
the answer is. `--batch` is the time to its first row. Medians; the aim is half a second. Times of
the processor are beside those of the clock, which a busy machine makes longer.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.serve_process import served
from tests.support.terminal import terminal

ROUNDS = 7
AIM_S = 0.5
RUN = [sys.executable, "-m", "pfscope.cli.main"]


def make_data(directory):
    """Simulate an hour, and take it into a store, with the commands that anybody would use."""
    site, data = directory / "site", directory / "data"
    _run("lab", "dump", site, "--hours", "1", "--frames")
    frames = sorted(map(str, site.glob("*/*.pfl")))
    _run("import", "frames", *frames, "--data", data)
    return data


def _run(*arguments):
    subprocess.run([*RUN, *arguments], check=True, capture_output=True)


def started(*code):
    """Return how long a process takes from beginning to end, and of that the processor's part."""
    before, began = _spent(), time.perf_counter()
    subprocess.run([sys.executable, *code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began, _spent() - before


def window(url, text):
    """Return how long it takes until a text is drawn; the processor's part until its end."""
    with tempfile.TemporaryDirectory() as state:
        before, began = _spent(), time.perf_counter()
        command = [*RUN, "top", "--server", url]
        with terminal(command, TERM="xterm-256color", XDG_STATE_HOME=state) as screen:
            screen.until(text)
            shown_s = time.perf_counter() - began
            screen.until(b"by user")
            screen.type(b"q")
            screen.end()
        return shown_s, _spent() - before


def _spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    with tempfile.TemporaryDirectory() as folder:
        data = make_data(Path(folder))
        with served(data) as server:
            batch = ["-m", "pfscope.cli.main", "top", "--batch", "-n", "1", "--format", "csv"]
            cases = {
                "python": lambda: started("-c", "pass"),
                "python with textual": lambda: started("-c", "import textual.app"),
                "top --batch -n 1": lambda: started(*batch, "--server", server.url),
                "top: first paint": lambda: window(server.url, b"pfscope top"),
                "top: first rows": lambda: window(server.url, "LOAD▼".encode()),
            }
            measured = {name: [case() for _ in range(ROUNDS)] for name, case in cases.items()}
    base_s = None
    print(
        f"{'start':<22}{'clock':>9}{'processor':>11}{'to textual':>12}   ({os.cpu_count()} cores)"
    )
    for name, runs in measured.items():
        clock_s, spent_s = (statistics.median(column) for column in zip(*runs, strict=True))
        base_s = clock_s if name == "python with textual" else base_s
        ratio = f"{clock_s / base_s:.1f} ×" if base_s else ""
        aim = f"  aim {AIM_S} s" if name.startswith("top") else ""
        print(f"{name:<22}{clock_s:>7.3f} s{spent_s:>9.3f} s{ratio:>12}{aim}")


if __name__ == "__main__":
    main()
