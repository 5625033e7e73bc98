"""The demo's two views: the same numbers as lines and as a picture, and nothing that bites."""

import io
from collections import Counter

from rich.console import Console

from pfscope.cli.demo_view import LiveView, PlainView, together
from pfscope.lab.spectator import Requests, Seen
from pfscope.watch.model import Cause
from pfscope.watch.written import plain, row
from tests.support import alert_world

HOSTILE = b"\x1b[31m[bold]caf\xe9"


def seen(server: str, user: bytes, requests: int, seconds: float = 10.0) -> Seen:
    return Seen(
        server=server,
        sequence=7,
        wall_ns=1_700_000_000 * 10**9,
        raw_bytes=2048,
        entries=3,
        classes=Counter({"sound": 2, "foreign": 1}),
        defects=0,
        seconds=seconds,
        requests=requests,
        users=Requests({user: requests}),
        jobs=Requests({b"4711": requests}),
    )


def test_a_line_tells_what_a_frame_held() -> None:
    out = io.StringIO()
    with PlainView(out) as view:
        view.frame(seen("oss1", HOSTILE, 120))
        view.frame(seen("oss2", b"10001", 120, seconds=0.0))
    assert out.getvalue().splitlines() == [
        "22:13:20 oss1 frame 7: 3 entries (sound 2, foreign 1); 12 requests/s; "
        r"users \x1B[31m[bold]caf\xE9 12/s; jobs 4711 12/s",
        "22:13:20 oss2 frame 7: 3 entries (sound 2, foreign 1)",
    ]


def test_the_picture_adds_up_servers_and_shows_names_as_they_are() -> None:
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=True, color_system=None)
    view = LiveView(console)
    view.frame(seen("oss2", b"10001", 100))
    view.frame(seen("oss1", HOSTILE, 120))
    view.frame(seen("oss2", HOSTILE, 130))
    out.truncate(0)
    console.print(view.picture())
    text = out.getvalue()
    lines = [line.split() for line in text.splitlines() if line.strip()]
    assert [
        "oss1",
        "22:13:20",
        "7",
        "2",
        "12",
        "3",
        "entries",
        "(sound",
        "2,",
        "foreign",
        "1)",
    ] in lines
    assert [r"\x1B[31m[bold]caf\xE9", "25"] in lines
    assert ["4711", "25"] in lines
    assert "\x1b[31m" not in text


def test_an_incident_is_shown_by_both_views_and_bites_in_none() -> None:
    causes = (Cause("caf\x1b[31m", "4711", None, None, 0.9, 0.8),)
    told = row(plain(alert_world.incident(causes=causes)))
    out = io.StringIO()
    with PlainView(out) as view:
        view.incident(told)
    console = Console(file=out, width=120, force_terminal=True, color_system=None)
    live = LiveView(console)
    live.incident(told)
    console.print(live.picture())
    assert out.getvalue().count(r"user caf\x1B[31m, job 4711 (90%), sure to 80%") == 2
    assert "\x1b[31m" not in out.getvalue()


def test_together_sums_and_sorts() -> None:
    assert list(together([{b"a": 1.0, b"b": 2.0}, {b"a": 4.0}]).items()) == [
        (b"a", 5.0),
        (b"b", 2.0),
    ]
