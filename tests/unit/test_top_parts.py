"""The parts of the window: heads, columns, pasts of rows, and answers that are none."""

import copy

import pytest

from pfscope.errors import InputError
from pfscope.top import head, incidents
from pfscope.top.columns import chosen, laid_out
from pfscope.top.history import KEPT, VIEWS, History
from pfscope.top.picture import Picture
from pfscope.top.state import remember, state_file
from tests.support.top_site import END_US, INCIDENT, StoreSource

DOCUMENT = StoreSource().now({"by": ["user"]})
PICTURE = Picture.read(DOCUMENT)
LIVE = head.Where("http://x", "live", 1, 1.0)


def changed(**more):
    return Picture.read({**copy.deepcopy(DOCUMENT), **more})


def servers(count, **more):
    one = DOCUMENT["servers"][0]
    return [{**one, "server": f"oss{n:03}", "load": float(n), **more} for n in range(count)]


def text(lines):
    return ["".join(piece.text for piece in line) for line in lines]


def drawn(picture, found=(), width=80, height=24, most=30.0, where=LIVE):
    lines = text(head.lines(picture, found, where, most, width, height))
    assert {len(line) for line in lines} == {width}
    return [line.rstrip() for line in lines]


@pytest.mark.parametrize(
    "spoilt",
    [
        None, [], {}, {**DOCUMENT, "about": {}}, {**DOCUMENT, "rows": [["1001"]]},
        {**DOCUMENT, "rows": [[1, *range(len(DOCUMENT["columns"]) - 1)]]},
        {**DOCUMENT, "sums": ["x"]}, {**DOCUMENT, "servers": [{}]}, {**DOCUMENT, "targets": 3},
        {**DOCUMENT, "units": None}, {**DOCUMENT, "rows": [[None] * len(DOCUMENT["columns"]), 1]},
        {**DOCUMENT, "sums": [True] * (len(DOCUMENT["columns"]) - 1)},
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_told(spoilt):
    with pytest.raises(InputError, match="not as pfscope's"):
        Picture.read(spoilt)


def test_of_many_servers_the_busiest_are_shown_and_the_others_counted():
    lines = drawn(changed(servers=servers(40)), most=39.0)
    shown = " ".join(lines)
    assert "oss039" in shown
    assert "oss001" not in shown
    assert "and 33 less busy" in shown
    assert len(drawn(changed(servers=servers(40)), height=60)) > len(lines)


def test_a_server_with_an_incident_is_shown_however_idle():
    found = incidents.read([{**INCIDENT, "targets": ["idle-MDT0000"]}])
    many = servers(40)
    many[3]["targets"] = ["idle-MDT0000"]
    assert "oss003" in " ".join(drawn(changed(servers=many), found))


def test_a_silent_server_says_for_how_long_and_one_without_load_that_it_tells_none():
    told = servers(2)
    told[0] |= {"silent": True, "time_us": END_US - 300 * 10**6}
    told[1] |= {"load": None}
    shown = " ".join(drawn(changed(servers=told)))
    assert "oss000 silent for 5 min" in shown
    assert "oss001 no load told" in shown


def test_bars_tell_the_part_that_nobody_is_told_for():
    told = servers(1, load_told=10.0)
    told[0]["load"] = 20.0
    (line,) = [line for line in drawn(changed(servers=told), most=20.0) if "oss000" in line]
    assert line.count("|") == pytest.approx(line.count(":"), abs=1)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (LIVE, "● live"),
        (head.Where("x", "live", 1, 600.0), "nothing new for 10 min"),
        (head.Where("x", "paused", 1, 600.0), "‖ paused"),
        (head.Where("x", "playing", 30, 0.0), "▶ ×30"),
        (head.Where("x", "end", 1, 1e9), "recorded"),
        (head.Where("x", "live", 1, 0.0, "no answer"), "no answer"),
    ],
)
def test_the_first_line_says_how_things_are(where, said):
    assert said in drawn(PICTURE, where=where)[0]


def test_incidents_that_are_none_are_passed_by():
    broken = [None, {}, {**INCIDENT, "severity": "bad"}, {**INCIDENT, "targets": [1]}, 3]
    over = {**INCIDENT, "state": "unknown"}
    assert [i.name for i in incidents.read([*broken, over, INCIDENT])] == [INCIDENT["id"]]


@pytest.mark.parametrize(
    ("by", "names", "part"),
    [
        (("user",), ("1001",), True), (("user",), ("1002",), False), (("user",), (None,), False),
        (("job", "user"), ("77", "1001"), True), (("job", "user"), ("77", "1002"), False),
        (("target",), ("scratch-MDT0000",), True), (("filesystem",), ("home",), False),
        (("node",), ("r01c01",), False),
    ],
)  # fmt: skip
def test_who_is_part_of_an_incident(by, names, part):
    (incident,) = incidents.read([INCIDENT])
    assert incident.names(by, names) is part


@pytest.mark.parametrize("width", range(20, 160, 7))
@pytest.mark.parametrize("sort", ["load", "write_bytes", "open"])
def test_columns_fit_and_that_by_which_is_sorted_is_there(width, sort):
    names = chosen(PICTURE, ("load", "share", "trend", "iops", "write_bytes"), detail=False,
                   sort=sort)  # fmt: skip
    columns = laid_out(PICTURE, names, [["1001" * 9]], sort, width)
    used = sum(column.width + 1 for column in columns) - 1
    assert used <= max(width, 20)
    assert sort in [column.name for column in columns]


def minute(number, seconds=0):
    time_us = (60 * number + seconds) * 10**6
    return changed(about={**DOCUMENT["about"], "time_us": time_us})


def test_a_rows_past_is_bounded_and_in_order_of_time():
    history = History()
    for number in (3, 1, 2, 2):
        history.add("view", minute(number), "load")
    row = PICTURE.rows[0][0]
    assert len(history.of("view", "load", row, 180 * 10**6, 9)) == 3
    assert len(history.of("view", "load", row, 120 * 10**6, 9)) == 2
    assert history.of("view", "load", ("nobody",), 180 * 10**6, 9) == [0, 0, 0]
    for number in range(3 * KEPT):
        history.add("view", minute(number), "load")
    assert len(history.of("view", "load", row, 10**18, 10**6)) == KEPT
    for view in range(2 * VIEWS):
        history.add(view, PICTURE, "load")
    assert history.of("view", "load", row, 10**18, 9) == []


def test_servers_that_tell_one_after_another_make_one_observation():
    history = History()
    for number in range(5):
        for seconds in (0, 1, 2):
            history.add("view", minute(number, seconds), "load")
    assert len(history.of("view", "load", PICTURE.rows[0][0], 10**18, 99)) == 5


def test_what_cannot_be_remembered_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    assert "not remembered" in remember(tmp_path / "file" / "top.json", ["load"])


def test_it_is_remembered_where_xdg_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_file() == tmp_path / "pfscope" / "top.json"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_file() == tmp_path / ".local" / "state" / "pfscope" / "top.json"
