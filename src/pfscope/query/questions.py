"""The list of all questions: their names, what they take, what they answer with, who answers.

The command line, the HTTP face, its description and the documentation are made from this list.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from pfscope.query import rates
from pfscope.query.asked import Asked
from pfscope.query.request import Form, Option

LIMIT: Final = Option("limit", int, 20, "so many rows at most")
BASE: Final = Option("base", int, 10, "buckets lie between powers of it")


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
)  # fmt: skip

QUESTIONS: Final = {question.name: question for question in _ALL}
