"""Stores for reports: two days of a site whose users have hostile names, and a silence in it."""

import re
from html.parser import HTMLParser

from tests.support.query_store import make_store
from tests.support.query_tables import named, one_series, used
from tests.support.store_rows import MINUTE_US, at

HOSTILE = (
    "<script>document.title='pwned'</script>",
    "</script><script>document.title='pwned'</script>",
    "<img src=x onerror=document.title='pwned'>",
    "\" onmouseover=\"document.title='pwned'",
    "<a href=\"javascript:document.title='pwned'\">click</a>",
    "<b>%{x}</b> $\\alpha$ %{customdata}",
    "=1+1",
    "#2563a8",
    "&lt;i&gt;",
)
STEP_US = 10 * MINUTE_US
SILENT = (at(hour=3), at(hour=4))
"""Nothing was read of the OST in this hour."""
STORM = (at(hour=6), at(hour=7))
"""The first of the users opens a hundred times as many files."""
HOURS = 8


def hostile_store(directory, *, days=(0,)):
    """Make a store in which every hostile name is that of a user, job, node and program."""
    rows = {"usage_mdt": [], "usage_ost": [], "frames": [], "quality": []}
    for day in days:
        ends = range(at(day) + STEP_US, at(day, HOURS) + 1, STEP_US)
        for time in ends:
            _add(rows, time, at(day) - at())
        rows["frames"] += [_frame("mds1", at(day)), _frame("oss1", at(day))]
    series = [_series(n, "MDT", name) for n, name in enumerate(HOSTILE)]
    series += [_series(len(HOSTILE) + n, "OST", name) for n, name in enumerate(HOSTILE)]
    operations = named("open", ("read_bytes", "bytes"), ("write_bytes", "bytes"))
    return make_store(directory, series=series, operations=operations, **rows)


def _series(number, kind, name):
    target = f"scratch-{kind}0000"
    return one_series(number, target, user=name, job=name, node=name, executable=name)


def _add(rows, time, day_us):
    begin = time - STEP_US
    storm = STORM[0] <= begin - day_us < STORM[1]
    silent = SILENT[0] < time - day_us < SILENT[1]
    for n in range(len(HOSTILE)):
        opened = (600 - n) * (100 if storm and n == 0 else 1)
        rows["usage_mdt"].append(used(n, begin, time, opened))
        if not silent:
            since = SILENT[0] + day_us if time - day_us == SILENT[1] else begin
            rows["usage_ost"] += [
                used(
                    len(HOSTILE) + n,
                    since,
                    time,
                    60 + n,
                    total=10**9 - n * 10**7,
                    operation=operation,
                )
                for operation in (1, 2)
            ]
    rows["quality"].append(_quality("scratch-MDT0000", "mds1", time))
    rows["frames"].append(_frame("mds1", time))
    if not silent:
        rows["quality"].append(_quality("scratch-OST0000", "oss1", time))
        rows["frames"].append(_frame("oss1", time))


def _quality(target, server, time):
    return {
        "time": time, "target": target, "server": server, "class": "sound", "system": False,
        "entries": len(HOSTILE),
    }  # fmt: skip


def _frame(server, time):
    return {
        "server": server, "epoch": "e", "sequence": time // STEP_US, "time": time,
        "state": "stored", "entries": len(HOSTILE),
    }  # fmt: skip


class Seen(HTMLParser):
    """What a page is made of, as a browser without scripts would read it."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self.text = []
        self.data = {}
        self.ids = set()
        self._within = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        self.ids |= {found["id"]} if "id" in found else set()
        self._within = tag if tag in ("script", "style") else None
        if tag == "script" and found.get("type") == "application/json":
            self._within = found["id"]

    def handle_endtag(self, _tag):
        self._within = None

    def handle_data(self, data):
        if self._within is None:
            self.text.append(data)
        elif self._within not in ("script", "style"):
            self.data[self._within] = self.data.get(self._within, "") + data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def scripts_of(page):
    """Return the scripts that a page would run, as text."""
    return re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
