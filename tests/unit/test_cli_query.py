"""`pfscope query`: the columns that stay, the formats, and what is said when something is wrong."""

import json
import re
import shlex

import pyarrow.parquet as pq
import pytest

from pfscope.cli.main import main
from pfscope.query.questions import QUESTIONS
from tests.support.query_store import HOSTILE, make_store

CONTRACT = {
    "totals --by target": "time,target,rate",
    "series --by user": "time,user,rate",
    "series --by user,target": "time,user,target,rate",
    "series --by user --by target": "time,user,target,rate",
    "top --by user --limit 5": "rank,user,rate_mean,rate_max,total,share",
    "density --by user --base 10": "time,bucket_low,bucket_high,count",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def ask(data, capsys):
    """Return what a command line prints: exit code, output, errors."""

    def run(line, *more):
        code = main(["query", *shlex.split(line), "--data", str(data), *more])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(("line", "columns"), CONTRACT.items())
def test_names_and_columns_stay(ask, line, columns):
    code, out, _err = ask(line, "--format", "csv")
    assert code == 0
    assert out.splitlines()[0] == columns
    assert len(out.splitlines()) > 1


def test_csv_has_all_digits_and_times_in_utc(ask):
    assert ask("series --by user --operation open", "--format", "csv")[1] == (
        "time,user,rate\n"
        "2022-10-27T00:02:00Z,0,0.1\n"
        "2022-10-27T00:02:00Z,1001,1\n"
        "2022-10-27T00:02:00Z,1002,0.5\n"
        "2022-10-27T00:04:00Z,1001,2\n"
    )


def test_json_is_an_array_of_objects(ask):
    rows = json.loads(ask("top --by user --operation open --limit 1", "--format", "json")[1])
    assert rows == [
        {"rank": 1, "user": "1001", "rate_mean": 1.5, "rate_max": 2, "total": 360,
         "share": pytest.approx(360 / 432)},
    ]  # fmt: skip


def test_density_counts_by_magnitude(ask):
    assert ask("density --by user --operation open", "--format", "csv")[1].splitlines()[1:] == [
        "2022-10-27T00:02:00Z,0.1,1,2",
        "2022-10-27T00:02:00Z,1,10,1",
        "2022-10-27T00:04:00Z,1,10,1",
    ]


def test_a_table_is_for_people(ask):
    code, out, err = ask("top --by user --operation read_bytes", "--format", "table")
    assert (code, out) == (
        0,
        "rank  user  rate_mean  rate_max   total   share\n"
        "   1  1002   500 kB/s    1 MB/s  120 MB  100.0%\n",
    )
    assert "2022-10-27T00:00:00Z to 2022-10-27T00:04:00Z" in err


def test_what_is_not_known_is_empty_null_or_a_dash(ask):
    line = "top --by node --operation open --limit 9"
    assert ",," not in ask(f"{line} --node 'r*'", "--format", "csv")[1]
    assert "3,,0.05,0.1,12" in ask(line, "--format", "csv")[1]
    assert '"node": null' in ask(line, "--format", "json")[1]
    assert re.search(r"3  –  +0\.05 /s", ask(line, "--format", "table")[1])


def test_hostile_names_move_no_cursor_and_are_no_formula(ask):
    line = "top --by executable --user 0"
    table = ask(line, "--format", "table")[1]
    assert "\x1b" not in table
    assert r"=cmd\x1B[31m[red]" in table
    assert "'" + HOSTILE in ask(line, "--format", "csv")[1]
    assert json.loads(ask(line, "--format", "json")[1])[0]["executable"] == HOSTILE


def test_parquet_goes_to_a_file_with_what_is_to_be_told(ask, tmp_path):
    path = tmp_path / "top.parquet"
    assert ask("top --by user", "--format", "parquet", "--output", str(path)) == (0, "", "")
    table = pq.read_table(path)
    assert table.column_names == ["rank", "user", "rate_mean", "rate_max", "total", "share"]
    about = json.loads(table.schema.metadata[b"pfscope"])
    assert (about["unit"], about["by"]) == ("requests", ["user"])


def test_parquet_is_not_for_a_terminal(ask, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, err = ask("top", "--format", "parquet")
    assert (code, out) == (2, "")
    assert "--output FILE" in err


def test_a_file_that_cannot_be_written_is_told(ask, tmp_path):
    code, _out, err = ask("top", "--output", str(tmp_path / "none" / "x.csv"))
    assert code == 1
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "users"),
    [
        ("--from -2m", {"1001"}),
        ("--from=-2m", {"1001"}),
        ("--to 2022-10-27T00:02", {"0", "1001", "1002"}),
        ("--user 1001..1002", {"1001", "1002"}),
        ("--user '!1001'", {"0", "1002"}),
        ("--user 1001 --user 0", {"0", "1001"}),
        ("--lustre-server 'oss*'", {"1002"}),
        ("--target '*OST*'", {"1002"}),
        ("--system yes", {"0"}),
        ("--class sound --kind mdt --system no", {"1001", "1002"}),
        ("--job 72", {"1002"}),
    ],
)
def test_who_and_when(ask, line, users):
    rows = ask(f"top --by user {line}", "--format", "csv")[1].splitlines()[1:]
    assert {row.split(",")[1] for row in rows} == users


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("top --by usr", "did you mean 'user'"),
        ("top --operation opne", "did you mean 'open'"),
        ("top --limit many", "limit must be a whole number"),
        ("top --limit 1 --limit 2", "once only"),
        ("top --from yesterday", "is no time"),
        ("top --from 2022-10-28 --to 2022-10-27", "--from must be earlier"),
        ("top --step 1us", "is no duration"),
        ("top --step 1ms", "longer --step"),
        ("top --system maybe", "yes or no"),
        ("top --user ''", "user is empty"),
        ("top --usre 1001", "did you mean --user"),
        ("top --base 10", "unknown: --base"),
        ("top --to 9999-12-31", "is no time"),
        ("density --base 1", "2 or more"),
        ("density --bucket inf", "must be a number"),
    ],
)
def test_nonsense_is_told_in_one_line(ask, line, told):
    code, out, err = ask(line)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--target scratch-MDT000", "no target fits 'scratch-MDT000'; did you mean 'scratch-MDT"),
        ("--lustre-server msd1", "no server fits 'msd1'; did you mean 'mds1'?"),
        ("--from 2020-01-01 --to 2020-01-02", "data from 2022-10-27T00:00:00Z to"),
        ("--user 1001 --target '*OST*'", "nothing that fits was done from 2022-10-27"),
    ],
)
def test_no_rows_have_a_reason(ask, line, told):
    code, out, err = ask(f"top {line}", "--format", "table")
    assert (code, out) == (0, "")
    assert told in err
    assert ask(f"top {line}", "--format", "json")[1] == "[]\n"
    csv = ask(f"top {line}", "--format", "csv")
    assert csv[1:] == ("rank,user,rate_mean,rate_max,total,share\n", "")


def test_a_name_that_is_no_ascii_is_found_as_it_is_stored(ask):
    assert r"'caf\xC3\xA9'" in ask("top --executable café", "--format", "table")[2]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_helps_and_its_example_is_understood(ask, capsys, name):
    with pytest.raises(SystemExit, match="0"):
        main(["query", name, "--help"])
    text = capsys.readouterr().out
    assert "examples:" in text
    for option in QUESTIONS[name].form.options:
        assert f"--{option.name.replace('_', '-')} " in text
    code, _out, err = ask(QUESTIONS[name].example, "--format", "csv")
    # This store may lack what it is about, and then that is said.
    assert (code, err) == (0, "") or (code == 2 and "unknown" not in err and err.count("\n") == 1)
