"""`pfscope serve`: the server of a data directory; `serve token`, `serve user`: who may use it."""

import argparse
import logging
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pfscope.cli import serve_user
from pfscope.config import add_config, load_config
from pfscope.errors import UsageError
from pfscope.server.limits import describe_limits, with_limits
from pfscope.server.tokens import Gate, TokenFile, token_from_secret

DEFAULT_LISTEN = "127.0.0.1:8470"
SECRET_VARIABLE = "PFSCOPE_TOKEN"  # noqa: S105 - a variable's name
EXAMPLES = f"""examples:
  pfscope serve --data DIR
  lctl get_param '*.*.job_stats' | curl --data-binary @- 'http://127.0.0.1:8470/api/v1/lctl?server=oss1'

  pfscope serve token add oss --data DIR --server 'oss*'
  pfscope serve token add grafana --data DIR --read
  pfscope serve user add anna --data DIR
  pfscope serve --data DIR --listen 0.0.0.0:8470 --tls-cert cert.pem --tls-key key.pem
  pfscope serve --data DIR --socket /run/pfscope/pfscope.sock

limits (--limit NAME=VALUE; sizes may end in K, M, G, T):
{describe_limits()}

${SECRET_VARIABLE}, if set, is one more token, for all servers.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the server and the commands about tokens."""
    parser.epilog = EXAMPLES
    parser.add_argument("--data", type=Path, metavar="DIR", help="the data directory")
    parser.add_argument(
        "--listen", default=DEFAULT_LISTEN, metavar="HOST:PORT",
        help=f"where to listen; port 0 is any free one (default: {DEFAULT_LISTEN})",
    )  # fmt: skip
    parser.add_argument(
        "--socket", type=Path, metavar="PATH",
        help="listen here, too, for those who are on this machine: the kernel says who they are",
    )  # fmt: skip
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="certificate chain, PEM")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, PEM")
    parser.add_argument(
        "--insecure", action="store_true", help="listen beyond loopback without TLS or tokens"
    )
    parser.add_argument(
        "--archive", type=Path, metavar="DIR", help="keep the frames here when they are stored"
    )
    parser.add_argument(
        "--archive-days", type=int, metavar="N", help="and no longer than this (default: for ever)"
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="NAME=VALUE", help="change a limit"
    )
    add_config(parser)
    commands = parser.add_subparsers(dest="command", metavar="token|user")
    _add_tokens(
        commands.add_parser("token", help="which machines may send or ask: add|list|revoke")
    )
    serve_user.configure(commands.add_parser("user", help="who may sign in: add|list|revoke"))


def _add_tokens(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)
    add = commands.add_parser("add", help="make a token and show it, this once")
    add.add_argument("name", metavar="NAME", help="whose it is")
    add.add_argument(
        "--server", action="append", default=[], metavar="GLOB", dest="servers",
        help="it may speak for these servers, such as oss1 or 'oss*'; without, it may not send",
    )  # fmt: skip
    add.add_argument("--read", action="store_true", help="it may ask questions about usage")
    listing = commands.add_parser("list", help="list tokens; secrets are kept nowhere")
    revoke = commands.add_parser("revoke", help="refuse a token from now on")
    revoke.add_argument("name", metavar="NAME")
    for command in (add, listing, revoke):
        command.add_argument(
            "--data", type=Path, metavar="DIR", required=True, help="the data directory"
        )


def run(args: argparse.Namespace) -> int:
    """Serve, or change who may send."""
    if args.command == "token":
        return _token(args)
    if args.command == "user":
        return serve_user.run(args)
    if args.data is None:
        raise UsageError("serve needs --data DIR")
    return _serve(args)


def _token(args: argparse.Namespace) -> int:
    file = TokenFile(args.data)
    if args.action == "add":
        print(file.add(args.name, tuple(args.servers), reads=args.read))
        print("this is shown once: put it into a --token-file", file=sys.stderr)
    elif args.action == "revoke":
        file.revoke(args.name)
    else:
        for token in file.holders(people=False):
            rights = [*token.servers, *(["(asks)"] if token.reads else [])]
            print(token.name, token.created, *(rights or ["(metrics only)"]))
    return 0


def _serve(args: argparse.Namespace) -> int:
    from pfscope.opening import site_of
    from pfscope.server.app import create_app
    from pfscope.server.engine import Engine
    from pfscope.server.guard import Guard
    from pfscope.server.journal import Archive
    from pfscope.server.logs import configure_logs
    from pfscope.server.run import check_exposure, parse_listen, serve
    from pfscope.web import pages

    limits = with_limits(args.limit)
    listen = parse_listen(args.listen, args.tls_cert, args.tls_key, args.socket)
    configure_logs()
    config = load_config(args.config)
    privacy = replace(config.privacy, given=config.privacy.given or args.socket is not None)
    gate = _gate(args.data, listen.is_loopback, args.insecure)
    for warning in check_exposure(listen, gate.count, args.insecure):
        print(f"pfscope: warning: {warning}", file=sys.stderr)
    age_s = args.archive_days and args.archive_days * 86400.0
    archive = Archive(args.archive, None, age_s) if args.archive else None

    def say(url: str) -> None:
        is_open = gate.open and not privacy.given
        who = "open to all" if is_open else f"{gate.count} tokens"
        print(f"pfscope listens on {url}, data in {args.data}, {who}", flush=True)
        if privacy.given or TokenFile(args.data).holders(people=True):
            _warn_of_readers(args.data)

    with ExitStack() as stack:

        def make_app() -> Guard:
            engine = Engine.open(args.data, config, limits, archive)
            stack.callback(engine.close)
            return create_app(engine, gate, site_of(config), pages.routes(), privacy)

        serve(make_app, listen, limits, say)
    return 0


def _warn_of_readers(directory: Path) -> None:
    """Tell who could read past the server what it shows to few."""
    if directory.stat().st_mode & 0o077:
        told = f"others on this machine can read all names in {directory}; chmod 700 it"
        print(f"pfscope: warning: {told}", file=sys.stderr)


def _gate(directory: Path, local: bool, insecure: bool) -> Gate:
    secret = os.environ.get(SECRET_VARIABLE)
    further = () if secret is None else (token_from_secret(SECRET_VARIABLE, secret, ("*",)),)
    told = logging.getLogger("pfscope.server").info
    return Gate(
        TokenFile(directory),
        further,
        may_be_open=local or insecure,
        local=local,
        told=lambda text: told("%s", text),
    )
