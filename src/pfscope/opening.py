"""Finds out what a source of data is, a directory or a server, and opens it for questions."""

from pathlib import Path

from pfscope.config import load_config
from pfscope.query.asked import Site
from pfscope.query.data import Data
from pfscope.query.engine import StoreEngine
from pfscope.query.local import LocalSource
from pfscope.query.metrics import SHIPPED


def open_data(source: str | Path, config: str | Path | None = None) -> Data:
    """Return the data in a directory, or at the URL of a server."""
    from pfscope.store.embedded import open_store

    load_config(Path(config) if config else None)
    store = open_store(Path(source), create=False, read_only=True)
    return Data(LocalSource(StoreEngine(store), Site(SHIPPED), store.close))
