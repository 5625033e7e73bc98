"""Finds out what a source of data is, a directory or a server, and opens it for questions."""

import re
from pathlib import Path

from pfscope.config import Config, load_config
from pfscope.now.now import Now
from pfscope.query.asked import Site
from pfscope.query.data import Data
from pfscope.query.engine import StoreEngine
from pfscope.query.metrics import SHIPPED
from pfscope.watch.source import WatchedSource

_URL = re.compile(r"(https?|unix)://", re.IGNORECASE)


def open_data(
    source: str | Path,
    config: str | Path | None = None,
    token_file: str | Path | None = None,
    ca_file: str | Path | None = None,
) -> Data:
    """Return the data in a directory, or at the URL of a server."""
    if not isinstance(source, str) or not _URL.match(source):
        return Data(open_local(Path(source), Path(config) if config else None))
    from pfscope.remote import Connection, RemoteSource

    return Data(RemoteSource(Connection(source, token_file, ca_file)))


def open_local(directory: Path, config: Path | None = None) -> WatchedSource:
    """Return the data in a directory, read beside others that read it."""
    from pfscope.store.embedded import open_store

    site = site_of(load_config(config))
    store = open_store(directory, create=False, read_only=True)
    return WatchedSource(StoreEngine(store), site, store.close)


def site_of(config: Config) -> Site:
    """Return what a configuration says about questions."""
    return Site({**SHIPPED, **config.metrics}, config.login_nodes)


def open_now(directory: Path, config: Path | None = None) -> Now:
    """Return what answers what happened at any moment of the data in a directory."""
    from pfscope.store.embedded import open_store

    site = site_of(load_config(config))
    return Now(open_store(directory, create=False, read_only=True), site)
