"""pfscope names the user, the job and the cause when a parallel file system slows down.

Importing this package costs nothing and works on Python 3.6, because the agent ships it.
"""

__version__ = "0.1.0"


def open(source, config=None, token_file=None, ca_file=None):  # type: ignore[no-untyped-def]  # noqa: A001 - as `tarfile.open`
    """Return the data in a directory, or at the URL of a server: see `pfscope.query.data.Data`.

    `config` is the site's configuration file; without it the usual places are looked at. A server
    is asked with the token in `token_file` or `$PFSCOPE_TOKEN`, and trusted by `ca_file`.
    """
    # By its name, because the agent ships this file without what it takes to open data.
    from importlib import import_module

    return import_module("pfscope.opening").open_data(source, config, token_file, ca_file)
