"""A stand-in for `lctl get_param` and `lctl list_param` on a simulated server's tree.

A tree gets a copy of this file as `bin/lctl`, so it needs nothing but the standard library; what
it prints, and where it looks, is what `lctl` of the server's release does.
"""

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

MOUNTS: Final = ("proc/fs/lustre", "sys/fs/lustre", "sys/kernel/debug/lustre")
STYLE = "short-lines"
"""How this release prints values; see `Dialect.lctl`. The copy in a tree has the server's own."""


def printed(style: str, name: str, value: bytes) -> bytes:
    """Return what `lctl get_param` prints for a file."""
    if not value:
        return b"%s=\n" % name.encode() if style == "lines-and-empty" else b""
    long = b"\n" in value[:-1]
    if style == "short-lines":
        long = long or len(value) + len(name) >= 80
    return b"%s=%s%s" % (name.encode(), b"\n" if long else b"", value)


def script(style: str) -> str:
    """Return the text of `bin/lctl` for a server of this style."""
    source = Path(__file__).read_text()
    own = f'\nSTYLE = "{STYLE}"\n'
    # -S and -E keep the environment of whoever calls it out of it.
    return f"#!{sys.executable} -SE\n" + source.replace(own, f'\nSTYLE = "{style}"\n', 1)


def matches(root: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of every parameter that a dotted pattern finds."""
    relative = _as_path(pattern)
    for mount in MOUNTS:
        base = root / mount
        for path in sorted(base.glob(relative)):
            if path.is_file():
                yield str(path.relative_to(base)).replace("/", "."), path


def _as_path(pattern: str) -> str:
    """Turn dots into slashes, but for those of a client's address."""
    before, exports, after = pattern.partition(".exports.")
    nid, at, rest = after.partition("@")
    if not (exports and at):
        return pattern.replace(".", "/")
    network, _, leaf = rest.partition(".")
    return f"{before.replace('.', '/')}/exports/{nid}@{network}/{leaf.replace('.', '/')}"


def get_param(root: Path, patterns: Sequence[str], names: bool) -> int:
    """Print the parameters that match, and complain about patterns that match none."""
    code = 0
    for pattern in patterns:
        found = False
        for name, path in matches(root, pattern):
            try:
                value = path.read_bytes()
            except FileNotFoundError:  # the target left this server in the meantime
                continue
            found = True
            sys.stdout.buffer.write(printed(STYLE, name, value) if names else value)
        if not found:
            code = _complain("get_param", pattern)
    sys.stdout.buffer.flush()
    return code


def list_param(root: Path, patterns: Sequence[str]) -> int:
    """Print the names of the parameters that match."""
    code = 0
    for pattern in patterns:
        found = [name for name, _ in matches(root, pattern)]
        print("".join(f"{name}\n" for name in found), end="")
        code = code if found else _complain("list_param", pattern)
    return code


def _complain(verb: str, pattern: str) -> int:
    reason = os.strerror(2)
    print(f"error: {verb}: param_path '{_as_path(pattern)}': {reason}", file=sys.stderr)
    return 2


def main(arguments: Sequence[str], root: Path) -> int:
    """Run one command on the tree below `root`."""
    parser = argparse.ArgumentParser(prog="lctl", description="A simulated server's lctl.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    get = verbs.add_parser("get_param", help="print parameters")
    get.add_argument("-n", action="store_true", help="print values without their names")
    get.add_argument("pattern", nargs="+")
    verbs.add_parser("list_param", help="print names").add_argument("pattern", nargs="+")
    args = parser.parse_args(arguments)
    if args.verb == "get_param":
        return get_param(root, args.pattern, names=not args.n)
    return list_param(root, args.pattern)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the real one: `| head` ends it in silence
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parents[1]))
