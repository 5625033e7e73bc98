"""The head of the window: where and when, file systems, servers with bars of load, incidents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pfscope.figures import abbreviated, short_time
from pfscope.times import iso
from pfscope.top.columns import DIM, HOT, WARM
from pfscope.top.incidents import Incident, level_at
from pfscope.top.picture import Picture, Server
from pfscope.top.text import Line, Piece, cut, fitted, name_text, spread

LEVEL_STYLES: Final = ("", WARM, HOT)
GOOD: Final = "green"
_BOLD: Final = "bold"
_CELL: Final = 38
"""So wide is a server, at least."""
_STALE_STEPS: Final = 3
_RATES: Final = ("iops", "read_bytes", "write_bytes")


@dataclass(frozen=True)
class Where:
    """What is said at the very top."""

    place: str
    state: str
    """As of a `Player`: `live`, `end`, `playing`, `paused`."""
    speed: int
    age_s: float
    """How old the picture is."""
    trouble: str = ""
    """Why nothing new comes."""


def lines(
    picture: Picture, incidents: Sequence[Incident] | None, where: Where, most: float, width: int,
    height: int,
) -> list[Line]:  # fmt: skip
    """Return the head; `most` is the load of a full bar, `height` that of the whole window."""
    room = max(height // 6, 1)
    return [
        title(picture, where, width),
        *_filesystems(picture, width)[:room],
        *_servers(picture, incidents or (), most, width, room),
        _incidents(incidents, width),
    ]


def title(picture: Picture | None, where: Where, width: int) -> Line:
    """Return the first line."""
    left = [Piece("pfscope top", _BOLD), Piece(f"  {name_text(where.place)}", DIM)]
    if where.trouble:
        return spread(left, [Piece(f" {where.trouble}", HOT)], width)
    if picture is None:
        return spread(left, [Piece("asking …", DIM)], width)
    time = iso(picture.time_us // 10**6 * 10**6).replace("T", " ")
    return spread(left, [*_state(picture, where), Piece(f"  {time}", _BOLD)], width)


def _state(picture: Picture, where: Where) -> Line:
    if where.state == "playing":
        return [Piece(f"▶ ×{where.speed}", WARM)]
    if where.state == "paused":
        return [Piece("‖ paused", WARM)]
    if where.state == "end":
        return [Piece("recorded", DIM)]
    stale = where.age_s > max(_STALE_STEPS * (picture.step_us or 0) / 1e6, 60)
    if stale:
        return [Piece(f"nothing new for {short_time(where.age_s)}", HOT)]
    return [Piece("● live", GOOD)]


def _filesystems(picture: Picture, width: int) -> list[Line]:
    """Return a line for each file system, the busiest first."""
    sums: dict[str, dict[str, float]] = {}
    for target in picture.targets:
        system = sums.setdefault(target.name.rpartition("-")[0] or target.name, {})
        for name in _RATES:
            system[name] = system.get(name, 0.0) + (target.rates.get(name) or 0.0)
        told, lost = target.rates.get("iops") or 0.0, target.unattributed.get("iops") or 0.0
        counted = told / (1 - lost) if 0 < lost < 1 else told
        system["counted"] = system.get("counted", 0.0) + counted
    ordered = sorted(sums.items(), key=lambda item: -item[1]["iops"])
    return [_filesystem(name, told, width) for name, told in ordered]


def _filesystem(name: str, told: dict[str, float], width: int) -> Line:
    said = [
        f"{abbreviated(told['iops'])} requests/s",
        f"read {abbreviated(told['read_bytes'], 'B/s')}",
        f"write {abbreviated(told['write_bytes'], 'B/s')}",
    ]
    unknown = 1 - told["iops"] / told["counted"] if told["counted"] else 0.0
    if unknown >= 0.001:
        said.append(f"{unknown:.1%} by nobody known")
    return cut([Piece(name_text(name), _BOLD), Piece("  " + ", ".join(said))], width)


def _servers(
    picture: Picture, incidents: Sequence[Incident], most: float, width: int, room: int
) -> list[Line]:
    """Return servers beside each other; where there is no room for all, the busiest."""
    columns = max(width // _CELL, 1)
    each = (width - 2 * (columns - 1)) // columns
    shown = list(picture.servers)
    left = len(shown) - columns * room
    if left > 0:
        busiest = sorted(shown, key=lambda s: (-level_at(incidents, s), -(s.load or 0.0), s.name))
        shown = sorted(busiest[: columns * room - 1], key=lambda server: server.name)
    drawn = [_server(server, level_at(incidents, server), most, picture, each) for server in shown]
    if left > 0:
        drawn.append([Piece(fitted(f"and {left + 1} less busy", each), DIM)])
    height = -(-len(drawn) // columns)
    found = []
    for row in range(height):
        line: Line = []
        for piece in drawn[row::height]:
            line += [*([Piece("  ")] if line else []), *piece]
        found.append(cut(line, width))
    return found


def _server(server: Server, level: int, most: float, picture: Picture, width: int) -> Line:
    name_width = min(max(len(name_text(s.name)) for s in picture.servers), width // 3)
    name = Piece(fitted(name_text(server.name), name_width) + " ", LEVEL_STYLES[max(level, 0)])
    if server.silent:
        gone = short_time((picture.time_us - server.time_us) / 1e6)
        return cut([name, Piece(f"silent for {gone}", WARM)], width)
    if server.load is None:
        return cut([name, Piece("no load told", DIM)], width)
    number = f" {server.load:.3g}".rjust(6)
    room = max(width - name_width - 3 - len(number), 1)
    full = min(round(server.load / most * room), room) if most > 0 else 0
    told = min(round((server.told or 0.0) / most * room), full) if most > 0 else 0
    return [
        name, Piece("[", DIM),
        Piece("|" * told, LEVEL_STYLES[level] if level > 0 else GOOD),
        Piece(":" * (full - told), DIM), Piece(" " * (room - full)),
        Piece("]", DIM), Piece(number),
    ]  # fmt: skip


def _incidents(incidents: Sequence[Incident] | None, width: int) -> Line:
    if incidents is None:
        return cut([Piece("incidents are not known", DIM)], width)
    if not incidents:
        return cut([Piece("no incident", DIM)], width)
    worst = incidents[0]
    count = f"! {len(incidents)} incidents: " if len(incidents) > 1 else "! "
    return cut([Piece(count + worst.line(), LEVEL_STYLES[worst.level] or _BOLD)], width)
