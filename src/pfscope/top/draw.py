"""What a window knows, and how that becomes its head, its table and its last line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pfscope.figures import short_time
from pfscope.top import head
from pfscope.top.columns import DIM, HOT, TREND, Column, cells, chosen, laid_out
from pfscope.top.history import History
from pfscope.top.incidents import Incident, level_of
from pfscope.top.picture import LOAD, Picture
from pfscope.top.player import Player
from pfscope.top.table import GUTTER, Row, Table
from pfscope.top.text import Line, Piece, name_text, spread
from pfscope.top.view import View

_SAID_US: Final = 5 * 10**6


@dataclass
class Screenful:
    """All that is shown but the place of the cursor."""

    where: str
    history: History
    picture: Picture | None = None
    view: View | None = None
    """What the picture is of."""
    typed: str = ""
    incidents: tuple[Incident, ...] | None = None
    """None: it is not known whether there are any."""
    most: float = 1.0
    """The highest load that was seen on any server."""
    detail: bool = False
    measures: tuple[str, ...] = ()
    """The columns that can be chosen among, in their order."""
    keeps_place: bool = False
    said: str = ""
    """What there is to say, for a moment."""
    said_us: int = 0
    trouble: str = ""
    again_us: int | None = None
    now_us: int = 0

    @property
    def sort(self) -> str:
        """By what the rows are sorted."""
        asked = self.view.sort if self.view else LOAD
        return self.picture.decided_by(asked) if self.picture else asked

    def say(self, text: str) -> None:
        """Say something for a moment."""
        self.said, self.said_us = text, self.now_us

    def take(self, view: View, picture: Picture, *, keeps_place: bool) -> None:
        """Take in a picture."""
        self.view, self.picture, self.keeps_place = view, picture, keeps_place
        self.most = max(self.most, *(server.load or 0.0 for server in picture.servers), 1.0)
        self.history.add(_kind(view), picture, self.sort)


def _kind(view: View) -> object:
    """Return what tells the pasts of rows apart: not the order, and not what was typed."""
    return view.by, view.where, view.path, view.over


def head_lines(seen: Screenful, player: Player, width: int, height: int) -> list[Line]:
    """Return the head."""
    picture = seen.picture
    age_s = (seen.now_us - picture.time_us) / 1e6 if picture else 0.0
    told = head.Where(seen.where, player.state, player.speed, age_s, _trouble(seen))
    if picture is None:
        return [head.title(None, told, width)]
    return head.lines(picture, seen.incidents, told, seen.most, width, height)


def _trouble(seen: Screenful) -> str:
    if seen.again_us is None:
        return ""
    wait_s = max((seen.again_us - seen.now_us) / 1e6, 0)
    return f"no answer, trying again in {short_time(wait_s)}"


def table_of(
    seen: Screenful, wanted: Sequence[str] | None, width: int
) -> tuple[Sequence[Column], list[Row]]:
    """Return columns and rows."""
    picture, view = seen.picture, seen.view
    assert picture is not None
    assert view is not None
    sort, kind = seen.sort, _kind(view)
    narrowed = replace(view, typed=seen.typed)
    rows = [row for row in picture.rows if narrowed.shows(row[0])]
    names = chosen(picture, wanted, detail=seen.detail, sort=sort)
    seen.measures = tuple(names)
    texts = [[name_text(row[0][n]) for row in rows] for n in range(len(picture.by))]
    columns = laid_out(picture, names, texts, sort, width - GUTTER)
    told = [column for column in columns if not column.is_key]
    count = max((column.width for column in told if column.name == TREND), default=0)
    drawn, total = [], picture.total(sort)
    for place, (row, numbers) in enumerate(rows):
        past = seen.history.of(kind, sort, row, picture.time_us, count)
        level = level_of(seen.incidents or (), picture.by, row)
        shown = cells(picture, told, numbers, past, sort, total)
        drawn.append(Row(
            row, tuple(column[place] for column in texts), level,
            head.LEVEL_STYLES[max(level, 0)], tuple(shown),
        ))  # fmt: skip
    return columns, drawn


def status_line(seen: Screenful, view: View, table: Table, width: int) -> Line:
    """Return where one is, or what there is to say, and which rows are seen."""
    if seen.now_us - seen.said_us > _SAID_US:
        seen.said = ""
    said = seen.said or seen.trouble
    left = [Piece(name_text(said), HOT if seen.trouble else "bold")] if said else _path(view)
    first, last = table.seen
    total = seen.picture.all_rows if seen.picture and not seen.typed else len(table.rows)
    return spread(left, [Piece(f"  {first}–{last} of {total}", DIM)], width)


def _path(view: View) -> Line:
    """Return what was looked into, and what was typed."""
    steps = [f"{key} {name_text(name)}" for key, name in view.path]
    looked_into = dict(view.path)
    steps += [
        f"{key} {' '.join(map(name_text, patterns))}"
        for key, patterns in view.where
        if key not in looked_into
    ]
    line = [Piece(" › ".join([*steps, f"by {', '.join(view.by)}"]))]
    if view.typed:
        line.append(Piece(f"  containing {name_text(view.typed)}", "bold"))
    if view.over:
        line.append(Piece(f"  means of {name_text(view.over)}"))
    return line
