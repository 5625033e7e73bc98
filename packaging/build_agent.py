"""Builds the agent as one file: `python packaging/build_agent.py dist/pfscope-agent.pyz`.

The file holds the agent's two rooms and nothing else, runs on Python 3.6 and later, and has the
same bytes whoever builds it and when: names sorted, times fixed, nothing compressed.
"""

import argparse
import io
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src"
PARTS = ("pfscope/__init__.py", "pfscope/frames/*.py", "pfscope/agent/*.py")
START = b"""import sys

from pfscope.agent.main import main

sys.exit(main())
"""
SHEBANG = b"#!/usr/bin/env python3\n"


def build(out: Path) -> None:
    """Write the program to `out` and make it executable."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        _add(file, "__main__.py", START)
        for path in sorted(p for part in PARTS for p in PACKAGE.glob(part)):
            _add(file, path.relative_to(PACKAGE).as_posix(), path.read_bytes())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(SHEBANG + archive.getvalue())
    out.chmod(0o755)


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed time and fixed rights: the same sources always give the same bytes.
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o644 << 16
    file.writestr(entry, content)


def main() -> None:
    """Build to the path that was given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, nargs="?", default=Path("dist/pfscope-agent.pyz"))
    out = parser.parse_args().out
    build(out)
    print(f"{out}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
