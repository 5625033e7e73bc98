"""The agent's options, declared once: flags, keys of the configuration file, defaults, help.

A flag goes before the file, the file before the default. Whatever is wrong is told with its name.
"""

import argparse
import os
import re
import stat
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from pfscope.agent.errors import AgentError
from pfscope.agent.parameters import DEFAULT_GROUPS, GROUPS

DEFAULT_CONFIG = "/etc/pfscope/agent.conf"
SECTION = "agent"
_SIZE = re.compile(r"([0-9]+)\s*([KMGT]?)(i?B)?", re.IGNORECASE)
_TIME = re.compile(r"([0-9]+)\s*([smhd]?)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def size(text: str) -> int:
    """Read a number of bytes such as `512M` or `1G` (powers of 1024)."""
    match = _SIZE.fullmatch(text)
    if not match or not int(match.group(1)):
        raise ValueError("a size such as 512M or 1G")
    return int(match.group(1)) << (10 * " KMGT".index(match.group(2).upper() or " "))


def seconds(text: str) -> int:
    """Read a whole number of seconds such as `60`, `5m` or `24h`."""
    match = _TIME.fullmatch(text)
    if not match or not int(match.group(1)):
        raise ValueError("whole seconds, 1 or more, such as 60, 5m or 24h")
    return int(match.group(1)) * _SECONDS[match.group(2).lower()]


def clock(text: str) -> str:
    """Return whose clock it is."""
    if text not in ("machine", "tree"):
        raise ValueError("machine or tree")
    return text


def groups(text: str) -> Tuple[str, ...]:
    """Read the names of the groups to collect."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names or not set(names) <= set(GROUPS):
        raise ValueError("some of %s, with commas" % ",".join(GROUPS))
    return names


def server_name(text: str) -> str:
    """Read the name under which this server is known."""
    if not _SERVER.fullmatch(text):
        raise ValueError("at most 64 letters, digits, dots, dashes and underscores")
    return text


class Option(NamedTuple):
    """One thing that can be set."""

    key: str
    read: Callable[[str], Any]
    default: Any
    metavar: str
    help: str

    @property
    def flag(self) -> str:
        """The option's spelling on the command line."""
        return "--" + self.key.replace("_", "-")


OPTIONS = (
    Option(
        "server", server_name, None, "NAME", "this server's name (default: the short host name)"
    ),
    Option("interval", seconds, 60, "TIME", "collect so often (default: 60)"),
    Option("url", str, None, "URL", "where to send; without it frames are only spooled"),
    Option("token_file", str, None, "FILE", "holds the bearer token; ours alone, mode 0600"),
    Option("ca_file", str, None, "FILE", "certificates to trust instead of the system's"),
    Option(
        "spool",
        str,
        "/var/lib/pfscope-agent/spool",
        "DIR",
        "keep frames here until they are acknowledged (default: %(default)s)",
    ),
    Option("spool_bytes", size, 1 << 30, "SIZE", "the spool's bound (default: 1G)"),
    Option("spool_age", seconds, 86400, "TIME", "drop older frames (default: 24h)"),
    Option(
        "collect",
        groups,
        DEFAULT_GROUPS,
        "GROUPS",
        "of %s (default: all but exports, which costs much with many clients)" % ", ".join(GROUPS),
    ),
    Option("rate", size, 8 << 20, "SIZE", "send at most so many bytes a second (default: 8M)"),
    Option("root", str, "/", "DIR", "read a copied or simulated tree below this directory"),
    Option(
        "clock",
        clock,
        "machine",
        "WHOSE",
        "the time of frames: of this machine, or of the simulated tree (default: machine)",
    ),
    Option("lctl", str, None, "FILE", "the program to ask where no statistics files are found"),
)


class Settings(NamedTuple):
    """The options as the agent uses them."""

    server: str
    interval: int
    url: Optional[str]
    token_file: Optional[str]
    ca_file: Optional[str]
    spool: str
    spool_bytes: int
    spool_age: int
    collect: Tuple[str, ...]
    rate: int
    root: str
    lctl: Optional[str]
    clock: str = "machine"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--config", metavar="FILE", help="read options from here (default: %s)" % DEFAULT_CONFIG
    )
    for option in OPTIONS:
        text = option.help.replace("%(default)s", str(option.default))
        parser.add_argument(option.flag, metavar=option.metavar, help=text)


def settings(args: argparse.Namespace) -> Settings:
    """Return the settings that flags, file and defaults give; nonsense is an `AgentError`."""
    in_file = _read_config(args.config)
    values: Dict[str, Any] = {}
    for option in OPTIONS:
        given = getattr(args, option.key)
        origin, text = (
            (option.flag, given)
            if given is not None
            else ("%s in the configuration" % option.key, in_file.get(option.key))
        )
        values[option.key] = option.default if text is None else _value(option, origin, text)
    if values["server"] is None:
        values["server"] = _value(OPTIONS[0], "the host name", os.uname().nodename.split(".")[0])
    return Settings(**values)


def _value(option: Option, origin: str, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError as error:
        raise AgentError("%s: %r should be %s" % (origin, text, error)) from None


def _read_config(path: Optional[str]) -> Dict[str, str]:
    if path is None and not os.path.exists(DEFAULT_CONFIG):
        return {}
    import configparser  # only where there is a file

    parser = configparser.ConfigParser(interpolation=None)
    try:
        with open(path or DEFAULT_CONFIG) as file:
            parser.read_file(file)
    except OSError as error:
        raise AgentError("%s: %s" % (error.filename, error.strerror)) from None
    except (configparser.Error, UnicodeDecodeError) as error:
        raise AgentError(str(error).replace("\n", " ")) from None
    if parser.sections() != [SECTION]:
        raise AgentError("%s: should hold exactly one section, [%s]" % (path, SECTION))
    return {_known_key(key): value for key, value in parser.items(SECTION)}


def _known_key(key: str) -> str:
    known = [option.key for option in OPTIONS]
    name = key.replace("-", "_")
    if name in known:
        return name
    import difflib  # only for people who mistyped

    near = difflib.get_close_matches(name, known, 1)
    hint = "; did you mean %s?" % near[0] if near else "; known are " + ", ".join(known)
    raise AgentError("the configuration has an unknown key, %s%s" % (key, hint))


def read_token(path: str) -> str:
    """Return the token in a file that nobody but us can read; else an `AgentError`."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(4097).strip()
    except OSError as error:
        raise AgentError("token_file: %s: %s" % (path, error.strerror)) from None
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise AgentError("token_file: %s must be a file of our own; chown it" % path)
    if status.st_mode & 0o077:
        raise AgentError("token_file: others can read %s; chmod 600 it" % path)
    if not re.fullmatch(rb"[!-~]{1,4096}", text):
        raise AgentError("token_file: %s must hold one line of printable ASCII" % path)
    return text.decode("ascii")
