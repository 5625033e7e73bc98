"""A real standalone cluster of Spark on loopback: a master and workers, each its own process."""

import os
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_WAIT_S = 120


@contextmanager
def cluster(folder, workers=2, memory="1g"):
    """Run a cluster while the block runs, and give its address."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port, page = _free(), _free()
    started = []
    try:
        started.append(
            _start(folder, home, "master", "org.apache.spark.deploy.master.Master",
                   "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        )  # fmt: skip
        address = f"spark://127.0.0.1:{port}"
        started += [
            _start(folder, home, f"worker{number}", "org.apache.spark.deploy.worker.Worker",
                   "--host", "127.0.0.1", "--cores", "1", "--memory", memory,
                   "--webui-port", str(_free()), "--work-dir", str(folder / f"work{number}"),
                   address)
            for number in range(workers)
        ]  # fmt: skip
        _await(f"http://127.0.0.1:{page}/json/", workers, folder)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(folder, home, name, main, *arguments):
    env = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    env["PYTHONPATH"] = str(_ROOT)  # workers find the functions that tests hand over
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [home / "bin" / "spark-class", main, *arguments],
            stdout=log, stderr=subprocess.STDOUT, env=env,
        )  # fmt: skip


def _free():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _await(url, workers, folder):
    """Wait until the master knows all workers."""
    until = time.monotonic() + _WAIT_S
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
            if answer.read().count(b'"ALIVE"') >= workers + 1:
                return
        time.sleep(0.3)
    logs = "\n".join(file.read_text()[-800:] for file in sorted(folder.glob("*.log")))
    raise AssertionError(f"the cluster did not start:\n{logs}")
