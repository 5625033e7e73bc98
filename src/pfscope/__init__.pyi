"""What `pfscope` offers, with its types; the module itself stays readable by Python 3.6."""

from pathlib import Path

from pfscope.query.data import Data

__version__: str

def open(  # noqa: A001 - as `tarfile.open`
    source: str | Path,
    config: str | Path | None = None,
    token_file: str | Path | None = None,
    ca_file: str | Path | None = None,
) -> Data:
    """Return the data in a directory, or at the URL of a server."""
