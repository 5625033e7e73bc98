"""The list of all questions: their names, what they take, what they answer with, who answers.

The command line, the HTTP face, its description and the documentation are made from this list.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.query import (
    balance,
    causes,
    counters,
    latency,
    load,
    quality,
    rates,
    silence,
    sizes,
    unattributed,
)
from pfscope.query.asked import Asked
from pfscope.query.request import Form, Option

LIMIT: Final = Option("limit", int, 20, "so many rows at most")
BASE: Final = Option("base", int, 10, "buckets lie between powers of it")
PAST: Final = (
    Option("baseline", str, None, "the past to compare with is so long: 12h"),
    Option("baseline_from", str, None, "it begins then"),
    Option("baseline_to", str, None, "it ends then, before the interval at the latest"),
)
EXPLAIN: Final = Option("explain", float, 0.8, "name as many as make up this part of the increase")
OVER_TIME: Final = Option("over_time", bool, False, "for each step, with its time")
HISTOGRAM: Final = Option(
    "histogram", bool, False, "list requests by the upper bound of their size"
)


@dataclass(frozen=True)
class Question:
    """One kind of question."""

    name: str
    summary: str
    columns: str
    """Of the answer; KEYS stands for what it is grouped by."""
    form: Form
    answer: Callable[[Asked], pa.Table]
    example: str
    """Of the command line, behind `pfscope query`."""


_ALL: Final = (
    Question(
        "totals", "total rates over time", "time,KEYS,rate",
        Form(("target",)), rates.series, "totals --by target --operation open",
    ),
    Question(
        "series", "rates over time of each user, job, node, …", "time,KEYS,rate",
        Form(("user",)), rates.series, "series --by user,target --operation read_bytes --step 10m",
    ),
    Question(
        "top", "who did most", "rank,KEYS,rate_mean,rate_max,total,share",
        Form(("user",), (LIMIT,)), rates.top, "top --by user --operation metadata --from -1h",
    ),
    Question(
        "density", "how many have a rate of which magnitude; with --bucket, who",
        "time,bucket_low,bucket_high,count",
        Form(
            ("user",),
            (BASE, Option("bucket", float, None, "list who has a rate in the bucket of this one")),
        ),
        rates.density_over_time, "density --by user --operation setattr --target '*MDT0000'",
    ),
    Question(
        "causes", "who is behind an increase, against what was usual before",
        "rank,KEYS,baseline,peak,increase,share",
        Form(("user",), (LIMIT, *PAST, EXPLAIN)), causes.causes,
        "causes --by user --operation open --from -1h",
    ),
    Question(
        "quality", "entries by how sound their ids are", "time,target,class,system,entries",
        Form(()), quality.quality, "quality --target '*OST*' --step 10m",
    ),
    Question(
        "silence", "how long servers were not heard of", "KEYS,last,silent_s",
        Form(("server",)), silence.silence, "silence --by filesystem,server",
    ),
    Question(
        "unattributed", "what targets counted and no id is told for",
        "KEYS,total,attributed,unattributed,share",
        Form(("target",), (OVER_TIME,)), unattributed.unattributed,
        "unattributed --by target,operation",
    ),
    Question(
        "sizes", "how large requests to read and write are",
        "KEYS,operation,requests,bytes,mean_size,p50_size,p90_size,minimum,maximum",
        Form(("job",), (HISTOGRAM,)), sizes.sizes, "sizes --by job --operation read",
    ),
    Question(
        "balance", "how evenly targets share what is done",
        "KEYS,targets,mean,max,busiest,ratio,effective",
        Form(balance.POOL), balance.balance, "balance --operation read_bytes",
    ),
    Question(
        "counters", "the raw counters of Lustre over time", "time,KEYS,counter",
        Form(("target", "node")), counters.counters,
        "counters --job 11317854 --operation write",
    ),
    Question(
        "load", "which part of a server's load each job, user or node causes, three ways",
        "server,KEYS,load,load_equal,load_service,load_learned",
        Form(
            ("job",),
            (
                Option("limit", int, 20, "so many rows of each server at most"),
                Option("fit_window", str, "24h", "learn what requests cost from so long a time"),
                Option("costs", bool, False, "tell what requests cost each server"),
            ),
        ),
        load.load, "load --by job --from -1h",
    ),
    Question(
        "latency", "how long requests took, where servers tell it (Lustre 2.14 and later)",
        "KEYS,operation,requests,mean_us,deviation_us,minimum_us,maximum_us",
        Form(("job", "operation"), (LIMIT,)), latency.latency,
        "latency --by user,operation --target '*MDT0000'",
    ),
)  # fmt: skip

QUESTIONS: Final = {question.name: question for question in _ALL}


def find_question(name: str) -> Question:
    """Return a question by its name."""
    if name not in QUESTIONS:
        raise UsageError(f"there is no question {name!r}; there are {', '.join(QUESTIONS)}")
    return QUESTIONS[name]
