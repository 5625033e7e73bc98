"""`pfscope mine job` and `pfscope mine low` as people and programs run them."""

import csv
import io
import json

import pytest

from pfscope.cli.main import main
from pfscope.logs.darshan.layouts import words as words_of
from pfscope.server.tokens import TokenFile
from tests.support.darshan_logs import WHEEL, counted, lustre_1, save, write_log
from tests.support.mine_lake import lake_of
from tests.support.mine_runs import lake_of_run
from tests.support.query_store import make_store
from tests.support.report_store import HOSTILE, Seen
from tests.support.serve_process import served

LOGS = {path.name: path for path in WHEEL.rglob("*.darshan")}
BAD_OST = LOGS["sample-badost.darshan"]
CONTRACT = {
    "job_id", "nprocs", "executable", "operation", "files", "critical_files", "span_s",
    "critical_s", "bandwidth_span_mib_s", "bandwidth_critical_mib_s", "small_pct",
    "nonconsec_pct", "coll_pct", "ost_count", "proc_per_ost", "ost_time_share", "partial",
    "findings",
}  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return lake_of(LOGS.values(), tmp_path_factory.mktemp("lake") / "lake")


@pytest.fixture
def run(capsys):
    def command(*said):
        code = main(["mine", *map(str, said)])
        return code, *capsys.readouterr()

    return command


def explained(run, *said):
    code, out, _ = run("job", *said, "--format", "json")
    assert code == 0
    return json.loads(out)


def test_the_contract_on_a_log_that_has_a_bad_ost(run):
    told = explained(run, BAD_OST)
    assert set(told) >= CONTRACT
    assert (told["job_id"], told["nprocs"], told["executable"]) == ("6265799", 2048, "ior")
    assert (told["operation"], told["files"], told["critical_files"]) == ("write", 2048, 2)
    assert told["critical_s"] == pytest.approx(727.179, abs=1e-3)
    assert told["bandwidth_critical_mib_s"] == pytest.approx(2048 * 256 / 727.179, rel=1e-5)
    assert (told["ost_count"], told["proc_per_ost"], told["partial"]) == (24, 1, False)
    assert len(told["ost_time_share"]) == 24
    assert told["ost_time_share"]["14"] == pytest.approx(0.9991, abs=1e-4)
    assert sum(told["ost_time_share"].values()) == pytest.approx(1)
    worst = told["findings"][0]
    assert (worst["code"], worst["severity"], worst["evidence"]["ost"]) == (
        "slow-ost", "critical", 14,
    )  # fmt: skip


def test_a_log_and_a_job_of_the_lake_are_told_alike(run, lake):
    of_log, of_lake = explained(run, BAD_OST), explained(run, "6265799", "--lake", lake)
    without_peers = [f for f in of_lake["findings"] if f["code"] != "cohort"]
    assert {**of_lake, "findings": without_peers} == of_log
    assert explained(run, of_log["log"], "--lake", lake) == of_lake


def test_a_log_is_compared_with_the_runs_of_the_lake(run, lake):
    codes = [f["code"] for f in explained(run, BAD_OST, "--lake", lake)["findings"]]
    assert "cohort" in codes


@pytest.mark.parametrize("operation", ["read", "metadata", "all"])
@pytest.mark.parametrize("name", ["dxt.darshan", "noposix.darshan"])
def test_every_operation_can_be_explained(run, name, operation):
    told = explained(run, LOGS[name], "--operation", operation)
    assert told["operation"] == operation
    assert 0 < told["critical_s"] <= told["span_s"]


def test_exact_intervals_need_traces(run):
    exact = explained(run, LOGS["dxt.darshan"], "--operation", "read", "--intervals", "exact")
    span = explained(run, LOGS["dxt.darshan"], "--operation", "read")
    assert 0 < exact["critical_s"] < span["critical_s"]
    code, _, said = run("job", BAD_OST, "--intervals", "exact")
    assert code == 2
    assert said.endswith("use --intervals span\n")


def test_for_people(run):
    code, out, _ = run("job", BAD_OST, "--format", "table")
    assert code == 0
    assert "OST 14 is the cause of 99.9 % of the critical time" in out
    assert "756 MB/s over the critical path" in out


def test_findings_as_csv(run):
    _, out, _ = run("job", BAD_OST, "--format", "csv")
    first = next(csv.DictReader(io.StringIO(out)))
    assert (first["severity"], first["code"]) == ("critical", "slow-ost")
    assert json.loads(first["evidence"])["ost"] == 14


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (
            ["4711"],
            2,
            "there is no log 4711; to explain a job by its id, name the lake: --lake DIR",
        ),
        (["4711", "--lake", "LAKE"], 1, "the lake has no run of job 4711"),
        (["6265799", "--lake", "nowhere"], 1, "nowhere is no lake: make one with"),
        ([__file__], 1, "cannot be read: "),
        ([BAD_OST, "--small", "1000"], 2, "Darshan does not count accesses up to 1000 bytes"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(run, lake, asked, code, said):
    asked = [lake if word == "LAKE" else word for word in asked]
    found, out, told = run("job", *asked)
    assert (found, out, told.count("\n")) == (code, "", 1)
    assert said in told


def test_low_bandwidth(run, lake):
    code, out, said = run(
        "low", "--lake", lake, "--operation", "write", "--below", "1GB/s", "--min-procs", 1000,
        "--format", "json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert [row["job_id"] for row in found] == ["6265799"]
    assert found[0]["bandwidth_critical_mib_s"] == pytest.approx(720.99, abs=0.01)
    assert said == "1 run is as slow\n"
    _, out, _ = run("low", "--lake", lake, "--below", "1TB/s", "--min-procs", 1000, "--limit", 1)
    assert out.splitlines()[1].startswith("6265799,")


def hostile_log(path):
    """A log of files with hostile names, on two OSTs."""
    names = [(i + 1, f"/lus/{name}") for i, name in enumerate(HOSTILE)]
    rows = [
        {"id": i, "rank": 0, "POSIX_WRITES": 2, "POSIX_BYTES_WRITTEN": 2**20,
         "POSIX_F_WRITE_START_TIMESTAMP": float(i), "POSIX_F_WRITE_END_TIMESTAMP": i + 1.5}
        for i, _ in names
    ]  # fmt: skip
    posix = counted(words_of("POSIX", 4), "<", rows)
    lustre = lustre_1("<", [(i, 0, 0, 2**20, [i % 2]) for i, _ in names])
    log = write_log(
        [("POSIX", 4, posix), ("LUSTRE", 1, lustre)], names, command=f"/bin/{HOSTILE[0]} -w"
    )
    return save(path, log)


def test_a_page_shows_hostile_names_as_text(run, tmp_path):
    log = hostile_log(tmp_path / "logs" / "hostile.darshan")
    code, _, said = run("job", log, "--out", tmp_path / "job.html")
    assert code == 0
    assert said.startswith(f"{tmp_path / 'job.html'} is written")
    html = (tmp_path / "job.html").read_text()
    seen = Seen(html)
    assert not [tag for tag, _ in seen.tags if tag in ("img", "iframe", "b", "i")]
    assert not [a for _, attributes in seen.tags for a in attributes if a.startswith("on")]
    links = [a["href"] for tag, a in seen.tags if tag == "a"]
    assert {link[0] for link in links} == {"#"}
    assert "http://" not in html.split("<main")[1].split("<script")[0]
    for name in HOSTILE[:3]:
        assert f"/lus/{name}" in seen.text
    _, out, _ = run("job", log, "--format", "table")
    assert "\x1b" not in out


def test_a_page_has_the_figures_and_their_numbers(run, lake, tmp_path):
    run("job", "6265799", "--lake", lake, "--out", tmp_path / "job.html")
    seen = Seen((tmp_path / "job.html").read_text())
    figures = [a for _, a in seen.tags if "data-figure" in a]
    assert len(figures) == 2
    assert all(a["aria-label"] for a in figures)
    assert any("OST 14 is the cause of 99.9 % of the critical time" in text for text in seen.text)
    assert "median of its program" in seen.text


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """The store's job 72 read 120 MB in two minutes; Darshan's run of it read 60 MB."""
    folder = tmp_path_factory.mktemp("watched")
    file = {"bytes_read": 60 * 10**6, "read_start_s": 0.0, "read_end_s": 60.0, "osts": b"\x01"}
    lake = lake_of_run(folder / "lake", [file], {"job_id": "72", "ost_count": 1})
    return make_store(folder / "store"), ("72", "--lake", lake, "--operation", "read")


def test_both_sides_of_a_job(run, watched, tmp_path):
    store, words = watched
    (side,) = explained(run, *words, "--data", store)["servers"]
    assert side["servers_bytes"] == pytest.approx(120 * 10**6)
    assert side["difference_bytes"] == pytest.approx(60 * 10**6)
    assert side["expected"] == {"scratch-OST0000": 60 * 10**6}
    assert side["own_share"] == 1
    _, out, _ = run("job", *words, "--data", store, "--format", "table")
    assert "servers    read: 120 MB seen by the servers, 60 MB done by processes, 100 %" in out
    run("job", *words, "--data", store, "--out", tmp_path / "job.html")
    seen = Seen((tmp_path / "job.html").read_text())
    assert "Both sides" in seen.text
    assert "Processes 60 MB, servers 120 MB: 60 MB more." in seen.text


def test_both_sides_by_a_server_are_the_same(run, watched, tmp_path):
    store, words = watched
    of_data = explained(run, *words, "--data", store)
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text(TokenFile(store).add("anna", (), reads=True))
    with served(store) as running:
        reach = ("--server", running.url, "--token-file", token)
        assert explained(run, *words, *reach) == of_data


def test_data_and_server_exclude_each_other(run):
    with pytest.raises(SystemExit) as stopped:
        run("job", BAD_OST, "--data", "x", "--server", "http://127.0.0.1:1")
    assert stopped.value.code == 2
