"""Both sides of a run on one axis of time, and who else was at work on its targets."""

import numpy as np
import plotly.graph_objects as go

from pfscope.mine.both_sides import BothSides
from pfscope.mine.explain_facts import Facts
from pfscope.report import draw, numbers
from pfscope.report.lines import Line, Steps
from pfscope.report.markup import Markup, element, table
from pfscope.report.page import Page

_DONE = {"read": "read", "write": "written"}


def servers(page: Page, facts: Facts) -> Markup | None:
    """Return the section, where the servers were watched."""
    if not facts.servers:
        return None
    return element("div", [_side(page, side) for side in facts.servers])


def _side(page: Page, side: BothSides) -> Markup:
    title = f"{side.kind.capitalize()}s"
    if side.reason is not None:
        return element("div", element("h3", title), element("p", f"{side.reason}."))
    done = _DONE[side.kind]
    caption = (
        f"Bytes that were {done} in each second: by the run's processes as Darshan has it, spread"
        " evenly over the time of each file, and of the job as the servers saw it."
    )
    difference = side.servers_bytes - side.processes_bytes
    return element(
        "div", element("h3", title),
        element(
            "p", f"Processes {numbers.amount(side.processes_bytes, 'bytes')}, servers"
            f" {numbers.amount(side.servers_bytes, 'bytes')}:"
            f" {numbers.amount(abs(difference), 'bytes')} {'more' if difference > 0 else 'less'}.",
        ),
        page.figure(_figure(side), caption, caption), _targets(side), _neighbours(side),
    )  # fmt: skip


def _figure(side: BothSides) -> go.Figure:
    begins, ends = side.edges_us[:-1], side.edges_us[1:]
    steps = Steps(int(side.edges_us[0]), int(side.edges_us[-1]), ends, begins)
    seconds = (ends - begins) / 1e6
    lines = tuple(
        Line((name,), ends, np.asarray(moved / seconds))
        for name, moved in (("processes", side.processes), ("servers", side.servers))
    )
    panel = draw.Panel(f"{side.kind}s", draw.units("bytes"), lines)
    return draw.time_figure([panel], steps, panel_px=240)


def _targets(side: BothSides) -> Markup:
    rows = [
        [target, numbers.amount(seen, "bytes"), numbers.amount(side.expected.get(target), "bytes")]
        for target, seen in sorted(side.targets.items(), key=lambda pair: -pair[1])
    ]
    head = ["target", "seen by its server", "done by processes"]
    return table("Bytes of the job by target", head, rows, numeric=(1, 2))


def _neighbours(side: BothSides) -> Markup | None:
    if not side.neighbours:
        return None
    rows = [
        [draw.plain(n.user), draw.plain(n.job), numbers.amount(n.bytes, "bytes"),
         numbers.share(n.share)]
        for n in side.neighbours
    ]  # fmt: skip
    head = ["user", "job", "bytes", "share"]
    return table("Others on the same targets in the same time", head, rows, numeric=(2, 3))
