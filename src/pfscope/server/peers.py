"""The socket for those who are on this machine: whoever connects is known by the kernel.

A connection's peer stands in the scope as `("unix", uid)`, where one over the network has its
address: no header can say it. The socket is open to all, as who may do what is decided later.
"""

import errno
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from pfscope.errors import InputError

UNIX: Final = "unix"
_CREDENTIALS: Final = struct.Struct("3i")
"""Process, user and group, as `SO_PEERCRED` gives them."""
_MODE: Final = 0o666


def peer_of(connection: Any) -> tuple[str, int] | None:
    """Return who is at the other end of a socket of this machine; None: it is none."""
    if connection is None or connection.family != socket.AF_UNIX:
        return None
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _process, uid, _group = _CREDENTIALS.unpack(told)
    return UNIX, uid


def uid_of(request: Request) -> int | None:
    """Return the user at the other end; None: the request came over the network."""
    client = request.scope.get("client")
    return client[1] if client and client[0] == UNIX else None


@contextmanager
def bound_socket(path: Path) -> Iterator[socket.socket]:
    """Give a socket that is bound to a path, which is free again at the end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            _clear(path)
            listener.bind(str(path))
            path.chmod(_MODE)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot listen on {path}: {reason}") from None
        ours = path.stat().st_ino
        try:
            yield listener
        finally:
            with suppress(OSError):
                if path.stat().st_ino == ours:
                    path.unlink()


def _clear(path: Path) -> None:
    """Remove what a server that is gone left behind; whatever else is there stays."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OSError(errno.EEXIST, "something else has this name")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
        if tried.connect_ex(str(path)) != errno.ECONNREFUSED:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    path.unlink()
