"""`/metrics`: the server's own figures in Prometheus' text format.

Every label's values are few and known (routes, codes, lines of the ledger, whose servers are
bounded), and each passes `label` on its way out.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import pfscope
from pfscope.server.engine import Engine
from pfscope.store.protocol import StoreError

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class WebCounts:
    """What the HTTP face counts."""

    def __init__(self) -> None:
        self.started_s = time.time()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.refusals: Counter[str] = Counter()
        self.travelled_bytes = 0
        self.undone_bytes = 0
        self.in_flight = 0
        self.questions: Counter[str] = Counter()
        self.question_s: dict[str, float] = defaultdict(float)


def label(value: str) -> str:
    r"""Return a label's value, safe inside its quotes.

    >>> label('a"b\n\\')
    'a\\"b\\n\\\\'
    """
    shown = "".join(c if c.isprintable() or c == "\n" else "?" for c in value)[:128]
    return shown.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def render(engine: Engine, web: WebCounts) -> str:
    """Return all metrics as text."""
    families = (*_web(web), *_journal(engine), _ledger(engine))
    return "".join(families)


def _web(web: WebCounts) -> Iterable[str]:
    requests = ([("route", r), ("code", str(c))] for r, c in sorted(web.requests))
    yield _family("build_info", "gauge", "The program", [([("version", pfscope.__version__)], 1)])
    yield _family("start_time_seconds", "gauge", "When it began", [([], web.started_s)])
    yield _family(
        "http_requests_total",
        "counter",
        "Answers, by route and status",
        zip(requests, (n for _key, n in sorted(web.requests.items())), strict=True),
    )
    yield _family(
        "http_refusals_total",
        "counter",
        "Requests that were not served, by reason",
        [([("reason", code)], n) for code, n in sorted(web.refusals.items())],
    )
    yield _family(
        "received_bytes_total",
        "counter",
        "Bytes of bodies, as they travelled and decoded",
        [([("form", "travelled")], web.travelled_bytes), ([("form", "decoded")], web.undone_bytes)],
    )
    yield _family("requests_in_flight", "gauge", "Requests with a body", [([], web.in_flight)])
    yield _by_question("questions_total", "Questions that were asked", web.questions)
    yield _by_question("question_seconds_total", "Time spent on them", web.question_s)


def _by_question(name: str, meaning: str, counts: Mapping[str, float]) -> str:
    samples = [([("question", key)], n) for key, n in sorted(counts.items())]
    return _family(name, "counter", meaning, samples)


def _journal(engine: Engine) -> Iterable[str]:
    state = engine.state()
    journal = state.journal
    yield _family("ready", "gauge", "1 when /ready says so", [([], int(state.ready))])
    yield _family("backlog_frames", "gauge", "Frames not committed yet", [([], state.backlog)])
    yield _family(
        "deferred_frames_total", "counter", "Frames told to come later", [([], state.deferred)]
    )
    yield _family("journal_frames", "gauge", "Frames in the journal", [([], journal.frames)])
    yield _family("journal_bytes", "gauge", "Bytes of the journal", [([], journal.size_bytes)])
    yield _family("journal_damaged", "gauge", "Damage that was met", [([], journal.damaged)])
    yield _family("journal_syncs_total", "counter", "Group commits", [([], journal.syncs)])
    yield _family(
        "journal_sync_seconds_total", "counter", "Time spent in them", [([], journal.sync_s)]
    )
    yield _family(
        "trouble",
        "gauge",
        "1 while a part does not do its work",
        [([("part", part)], int(there)) for part, there in state.troubles.items()],
    )
    yield _family("disk_free_bytes", "gauge", "Free disk space", [([], state.free_bytes)])


def _ledger(engine: Engine) -> str:
    names = ("stage", "server", "outcome", "reason")
    try:
        ledger = engine.ledger()
    except StoreError:  # the other figures are wanted all the more
        ledger = []
    lines = [(list(zip(names, line[:4], strict=True)), line.frames) for line in ledger]
    return _family("frames_total", "counter", "Frames, by the lines of the ledger", lines)


def _family(
    name: str, kind: str, meaning: str, samples: Iterable[tuple[list[tuple[str, str]], float]]
) -> str:
    lines = [f"# HELP pfscope_{name} {meaning}.", f"# TYPE pfscope_{name} {kind}"]
    for labels, value in samples:
        inner = ",".join(f'{key}="{label(text)}"' for key, text in labels)
        lines.append(f"pfscope_{name}{{{inner}}} {value}" if inner else f"pfscope_{name} {value}")
    return "\n".join(lines) + "\n"
