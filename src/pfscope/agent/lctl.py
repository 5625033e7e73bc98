"""Asks `lctl get_param`, for servers whose files cannot be read directly.

Its output is passed on as it comes. Parameters that do not exist make it complain and fail, which
is normal; what hangs is ended.
"""

import os
import select
import time
from typing import Iterator, List, Optional

_FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin")
_CHUNK = 64 << 10
PATIENCE_S = 60.0


def find_lctl(root: str, given: Optional[str]) -> Optional[str]:
    """Return the `lctl` to use: the given one, else the tree's own, else the system's."""
    if given:
        return given
    below_root = [os.path.join(root, folder, "lctl") for folder in ("bin", "usr/sbin")]
    system = [os.path.join(folder, "lctl") for folder in _FOLDERS]
    candidates = system if os.path.abspath(root) == "/" else below_root
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


def get_param(
    program: str, patterns: List[str], patience_s: float = PATIENCE_S, names: bool = True
) -> Iterator[bytes]:
    """Yield what `lctl get_param` prints, in chunks; a program that cannot run is an OSError."""
    import subprocess  # only here: most servers never need it

    command = [program, "get_param"] + ([] if names else ["-n"]) + patterns
    # No shell, and the program is the one the administrator chose or the system's own.
    child = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    deadline = time.monotonic() + patience_s
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
                raise TimeoutError("lctl did not end within %d s" % patience_s)
            chunk = os.read(child.stdout.fileno(), _CHUNK)
            if not chunk:
                break
            yield chunk
    finally:
        child.stdout.close()
        child.kill()
        child.wait()
