"""`pfscope-agent` and `pfscope agent`: options in, frames out, until SIGTERM.

Quiet: one line at the start says what was found, then only trouble is told, once each.
"""

import argparse
import os
import signal
import sys
import time
from typing import List, Optional

import pfscope
from pfscope.agent.agent import Agent
from pfscope.agent.collect import Collector
from pfscope.agent.errors import AgentError
from pfscope.agent.options import Settings, add_options, read_token, settings
from pfscope.agent.post import Endpoint
from pfscope.agent.say import Sayer, Tally, say
from pfscope.agent.schedule import Stop, wait_for_tick
from pfscope.agent.send import Sender, SenderThread
from pfscope.frames import FrameLog, FramesError, decode

EXAMPLES = """examples:
  pfscope-agent --once --print                     show what would be sent
  pfscope-agent --url https://monitor:8470 --token-file /etc/pfscope/token
  pfscope-agent --root DIR --spool SPOOL --interval 5s
"""
_LAST_WORDS_S = 3.0


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the agent as a program of its own."""
    parser = argparse.ArgumentParser(
        prog="pfscope-agent",
        description="Collects Lustre's statistics on a server, spools them, sends them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version="pfscope " + pfscope.__version__)
    add_arguments(parser)
    try:
        return run(parser.parse_args(arguments))
    except AgentError as error:
        say(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of --print went away: point stdout elsewhere so that exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the agent's arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("--once", action="store_true", help="collect one frame, send it, end")
    parser.add_argument(
        "--print", action="store_true", help="with --once: print what would be sent, keep nothing"
    )
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Do what the arguments ask; a mistake in them is an `AgentError`."""
    if args.print and not args.once:
        raise AgentError("--print goes with --once")
    chosen = settings(args)
    sayer, tally = Sayer(), Tally()
    collector = Collector(chosen.root, chosen.collect, chosen.lctl)
    agent = Agent(chosen, collector, sayer, tally)
    if args.print:
        return _print(agent.make_frame({}))
    with _open_spool(chosen) as log:
        sender = _sender(chosen, log, sayer, tally)
        if args.once:
            return _once(agent, log, sender)
        say(_description(chosen, collector))
        _loop(agent, log, sender)
    return 0


def _loop(agent: Agent, log: FrameLog, sender: Optional[Sender]) -> None:
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop.request)
    thread = SenderThread(sender) if sender else None
    if thread:
        thread.start()
    while True:
        wait_for_tick(agent.pace.effective_s, stop.wait, lambda: stop.requested)
        if stop.requested:
            break
        agent.tick(log)
        if thread:
            thread.wake()
    if thread:
        thread.end(_LAST_WORDS_S)
    stop.close()


def _once(agent: Agent, log: FrameLog, sender: Optional[Sender]) -> int:
    if not agent.tick(log):
        return 1
    while sender:
        delay_s = sender.step()
        if sender.failing or delay_s == float("inf"):
            break
        time.sleep(delay_s)
    return 1 if sender and sender.failing else 0


def _print(encoded: bytes) -> int:
    frame = decode(encoded)
    origin = frame.origin
    head = "%s frame %d of epoch %s, wall time %d ns, file systems %s" % (
        origin.server,
        origin.sequence,
        origin.epoch,
        origin.wall_ns,
        ",".join(origin.filesystems),
    )
    lines = [
        head,
        "%d sections, %d bytes of text, %d bytes to send"
        % (len(frame.contents), frame.raw_bytes, len(encoded)),
    ]
    lines += ["%s: %s" % item for item in sorted(frame.notes.items())]
    sys.stderr.write("".join("# %s\n" % line for line in lines))
    sys.stderr.flush()
    for section in frame.sections():
        sys.stdout.buffer.write(section.lctl_form())
    sys.stdout.buffer.flush()
    return 0


def _open_spool(chosen: Settings) -> FrameLog:
    try:
        os.makedirs(chosen.spool, mode=0o700, exist_ok=True)
        return FrameLog(chosen.spool, chosen.spool_bytes, chosen.spool_age)
    except OSError as error:
        raise AgentError("spool: %s: %s" % (chosen.spool, error.strerror)) from None
    except FramesError as error:
        raise AgentError("spool: %s" % error) from None


def _sender(chosen: Settings, log: FrameLog, sayer: Sayer, tally: Tally) -> Optional[Sender]:
    if chosen.url is None:
        return None
    token = read_token(chosen.token_file) if chosen.token_file else None
    endpoint = Endpoint(chosen.url, token, chosen.ca_file)
    if token and not endpoint.secure and endpoint.host not in ("localhost", "127.0.0.1", "::1"):
        say("the token travels unencrypted to %s; use https" % endpoint.host)
    return Sender(log, endpoint.post, chosen.rate, sayer, tally)


def _description(chosen: Settings, collector: Collector) -> str:
    found = collector.found
    where = found.lctl or ", ".join(found.bases) or "nothing of Lustre below %s" % chosen.root
    return "pfscope %s on %s: %s with %s (%s); every %d s into %s, %s" % (
        pfscope.__version__,
        chosen.server,
        found.role,
        ", ".join(found.targets) or "no target",
        where,
        chosen.interval,
        chosen.spool,
        "sent to " + chosen.url if chosen.url else "not sent",
    )
