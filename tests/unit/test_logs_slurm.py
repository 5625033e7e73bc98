"""What `sacct --parsable2` prints: jobs and steps as tables, and what is left out of them."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from pfscope.errors import InputError, UsageError
from pfscope.logs.slurm import ALLOCATIONS, STEPS, Defects, iter_sacct, latest
from pfscope.logs.slurm_lines import BLOCK_BYTES

HEADER = "JobID|JobIDRaw|User|UID|GID|Account|Partition|State|Submit|Start|End|NodeList|JobName"
JOB = (
    "{id}|{raw}|anna|10234|20000|project_7|small|COMPLETED|2022-10-27T00:00:00|2022-10-27T00:10:00|"
    "2022-10-27T01:00:00|r01c[01-02]|{name}"
)


def line(job="1", name="run", raw=None):
    return JOB.format(id=job, raw=job if raw is None else raw, name=name)


def read(*lines, **options):
    """Return jobs and steps as rows, and all defects together."""
    text = "\n".join(lines) + "\n"
    return read_bytes([text.encode("utf-8", "surrogateescape")], **options)


def read_bytes(chunks, **options):
    jobs, steps, defects = [], [], Defects()
    for batch in iter_sacct(chunks, **options):
        assert batch.allocations.schema == ALLOCATIONS
        assert batch.steps.schema == STEPS
        jobs += batch.allocations.to_pylist()
        steps += batch.steps.to_pylist()
        defects.extend(batch.defects)
    return jobs, steps, defects


def at(hour, minute=0):
    return datetime(2022, 10, 27, hour, minute, tzinfo=UTC)


def test_a_job_in_full():
    (job,), steps, defects = read(HEADER, line("123", "my job"))
    said = {name: value for name, value in job.items() if value is not None}
    assert said == {
        "line": 2, "job": "123", "user": "10234", "user_name": "anna", "group": "20000",
        "project": "project_7", "partition": "small", "state": "COMPLETED", "submit": at(0),
        "start": at(0, 10), "end": at(1), "nodes": "r01c[01-02]", "name": "my job",
    }  # fmt: skip
    assert not steps
    assert not defects


def test_steps_are_a_table_of_their_own():
    text = [
        "JobID|JobName|State|Start|End|NNodes|NTasks|TotalCPU|MaxRSS|AveDiskRead|ExitCode",
        "8|run|FAILED|2022-10-27T00:00:00|2022-10-27T01:00:00|2|||||1:0",
        "8.batch|batch|FAILED|2022-10-27T00:00:00|2022-10-27T01:00:00|1|1|01:02.500|4K|0.5M|0:9",
        "8.0|prog|COMPLETED|2022-10-27T00:00:00|2022-10-27T01:00:00|2|8|1-00:00:00|||0:0",
    ]
    jobs, steps, _ = read(*text)
    assert [job["job"] for job in jobs] == ["8"]
    assert [(step["job"], step["step"], step["tasks"]) for step in steps] == [
        ("8", "batch", 1), ("8", "0", 8),
    ]  # fmt: skip
    batch, srun = steps
    assert (batch["cpu_s"], batch["max_rss_bytes"], batch["mean_read_bytes"]) == (62.5, 4096, 2**19)
    assert (batch["exit_code"], batch["exit_signal"]) == (0, 9)
    assert (srun["cpu_s"], srun["node_count"]) == (86_400, 2)


@pytest.mark.parametrize(
    ("shown", "raw", "job", "array", "het"),
    [
        ("5", "5", "5", (None, None), (None, None)),
        ("120_4", "125", "125", ("120", "4"), (None, None)),
        ("120_[5-9%2]", "120", "120", ("120", "[5-9%2]"), (None, None)),
        ("120_[1,5]", "120", "120", ("120", "[1,5]"), (None, None)),
        ("70+1", "71", "71", (None, None), ("70", "1")),
        ("120_4", "", "120_4", ("120", "4"), (None, None)),
        ("70+1", "", "70+1", (None, None), ("70", "1")),
        ("", "9", "9", (None, None), (None, None)),
    ],
)
def test_ids(shown, raw, job, array, het):
    (row,), _, _ = read(HEADER, line(shown, raw=raw))
    assert row["job"] == job
    assert (row["array_job"], row["array_task"]) == array
    assert (row["het_job"], row["het_offset"]) == het


@pytest.mark.parametrize(
    ("shown", "raw", "found"),
    [
        ("120_4.extern", "125.extern", ("125", "extern")),
        ("70+1.0", "71.0", ("71", "0")),
        ("120_4.0", "", ("120_4", "0")),
        ("7.interactive", "7.interactive", ("7", "interactive")),
    ],
)
def test_ids_of_steps(shown, raw, found):
    jobs, (step,), _ = read(HEADER, line(shown, raw=raw))
    assert not jobs
    assert (step["job"], step["step"]) == found


def test_a_text_without_ids_of_array_tasks():
    (job,), _, _ = read("JobIDRaw|Account", "125|project_7")
    assert (job["job"], job["array_job"], job["project"]) == ("125", None, "project_7")


def test_parsable_has_a_bar_behind_the_last_field():
    jobs, _, defects = read(HEADER + "|", line("1") + "|", line("2", "a|b") + "|", line("3") + "|x")
    assert [job["name"] for job in jobs] == ["run", "a|b"]
    assert defects.rejected == {"more fields than columns": 1}


@pytest.mark.parametrize("end", ["", "|"])
def test_fields_stand_in_for_a_header(end):
    jobs, _, defects = read(line("1") + end, line("2") + end, fields=HEADER.split("|"))
    assert [(job["job"], job["name"]) for job in jobs] == [("1", "run"), ("2", "run")]
    assert not defects


def test_fields_may_have_widths_as_in_the_command():
    (job,), _, _ = read("1|project_with_a_long_name", fields=["jobid", "Account%30"])
    assert job["project"] == "project_with_a_long_name"


@pytest.mark.parametrize("text", [line(), "JobName|State\nrun|RUNNING", "JobID,State\n1,RUNNING"])
def test_a_text_whose_columns_are_unknown_is_refused_with_advice(text):
    with pytest.raises(InputError, match="--parsable2, or name its columns"):
        read(text)


def test_headers_of_files_that_were_joined():
    jobs, _, defects = read("", HEADER, HEADER, line("1"), HEADER, HEADER, HEADER, line("2"))
    assert [(job["line"], job["job"]) for job in jobs] == [(4, "1"), (8, "2")]
    assert not defects


def test_a_header_that_a_user_wrote_changes_no_column():
    forged = "JobID|User|Account"
    jobs, _, defects = read("JobID|Account|User", "1|project_7|anna", forged, "2|project_8|berit")
    assert [(job["project"], job["user_name"]) for job in jobs] == [
        ("project_7", "anna"), ("project_8", "berit"),
    ]  # fmt: skip
    assert defects.first == [(3, "no job id")]


def test_a_job_called_like_a_header_is_a_job():
    jobs, _, _ = read(HEADER, line("1", "JobID"), line("2", "JobIDRaw"))
    assert [job["name"] for job in jobs] == ["JobID", "JobIDRaw"]


def test_a_bar_in_the_only_text_of_users_moves_no_column():
    header = "JobID|JobName|User|Account"
    jobs, _, defects = read(header, "1|a|b||c|anna|project_7", r"2|a\|b|anna|project_7")
    assert [(job["name"], job["user_name"], job["project"]) for job in jobs] == [
        ("a|b||c", "anna", "project_7"), ("a|b", "anna", "project_7"),
    ]  # fmt: skip
    assert not defects


def test_a_name_that_ends_with_a_backslash_swallows_nothing():
    (job,), _, _ = read("JobID|JobName|Account", "1|C:\\|project_7")
    assert (job["name"], job["project"]) == (r"C:\x5C", "project_7")


@pytest.mark.parametrize("name", ["x|project_1\\", "x\\|project_1", "|||\\", "\\|"])
def test_no_name_chooses_the_project(name):
    (job,), _, _ = read("JobID|JobName|Account|UID", f"1|{name}|project_7|10234")
    assert (job["project"], job["user"]) == ("project_7", "10234")


def test_two_texts_of_a_user_choose_no_project_between_them():
    jobs, _, defects = read("JobID|JobName|Account|Comment", "1|a\\|project_7|project_1|c")
    assert not jobs
    assert defects.rejected == {"more fields than columns": 1}


def test_a_bar_whose_column_cannot_be_told_leaves_the_job_out():
    jobs, _, defects = read("JobID|JobName|Comment|Account", "1|a|root|b|c", "2|a|b|c")
    assert [job["job"] for job in jobs] == ["2"]
    assert defects.rejected == {"more fields than columns": 1}
    assert defects.first == [(2, "more fields than columns")]


def test_a_broken_line_hides_nothing_that_follows():
    broken = line("1", "two\nlines")
    jobs, _, defects = read(HEADER, broken, "", "rubbish", line("2"), line("x", raw="y"))
    assert [(job["job"], job["name"]) for job in jobs] == [("1", "two"), ("2", "run")]
    assert defects.rejected == {"fewer fields than columns": 2, "no job id": 1}
    assert [place.line for place in defects.first] == [3, 5, 7]


def test_a_line_without_end_is_left_out_in_bounded_memory():
    def chunks():
        yield f"{HEADER}\n{line('1')}\n".encode()
        for _ in range(3 * BLOCK_BYTES // 65_536):
            yield b"x" * 65_536
        yield f"\n{line('2')}\n".encode()

    jobs, _, defects = read_bytes(chunks())
    assert [(job["line"], job["job"]) for job in jobs] == [(2, "1"), (4, "2")]
    assert defects.first[0].line == 3
    assert defects.rejected == {f"line longer than {BLOCK_BYTES} bytes": 1}


def test_hostile_names_become_ascii():
    raw = "JobID|JobName|Account\n1|caf\u00e9 \x1b[2J\u202e\\|<b>\n".encode() + b"2|\xff\xfe|p\n"
    jobs, _, defects = read_bytes([raw])
    assert jobs[0]["name"] == r"caf\xC3\xA9 \x1B[2J\xE2\x80\xAE\x5C"
    assert jobs[0]["project"] == "<b>"
    assert jobs[1]["name"] == r"\xFF\xFE"
    assert not defects


def test_names_that_look_like_nothing_are_names():
    jobs, _, _ = read("JobID|JobName|NodeList", "1|None|None assigned", "2||")
    assert [(job["name"], job["nodes"]) for job in jobs] == [("None", None), (None, None)]


def test_windows_line_ends():
    (job,), _, defects = read_bytes([b"JobID|Account\r\n1|project_7\r\n"])
    assert job["project"] == "project_7"
    assert not defects


def test_the_last_line_may_lack_its_end():
    jobs, _, _ = read_bytes([b"JobID|Account\n1|project_7\n2|project_8"])
    assert [job["project"] for job in jobs] == ["project_7", "project_8"]


@pytest.mark.parametrize("text", [b"", b"\n\n", f"{HEADER}\n".encode()])
def test_a_day_without_jobs(text):
    jobs, steps, defects = read_bytes([text])
    assert (jobs, steps, bool(defects)) == ([], [], False)


def test_the_best_of_several_columns_is_read():
    text = ["JobID|Elapsed|ElapsedRaw|Timelimit|TimelimitRaw|NNodes", "1|01:00|61|UNLIMITED||2K"]
    (job,), _, _ = read(*text)
    assert (job["elapsed_s"], job["time_limit_s"], job["node_count"]) == (61, None, 2048)


def test_who_cancelled_is_told_apart_from_the_state():
    jobs, _, _ = read("JobID|State", "1|CANCELLED by 380693", "2|CANCELLED", "3|OUT_OF_MEMORY")
    assert [(job["state"], job["canceller"]) for job in jobs] == [
        ("CANCELLED", "380693"), ("CANCELLED", None), ("OUT_OF_MEMORY", None),
    ]  # fmt: skip


def test_who_has_not_ended_has_no_end():
    text = [
        "JobID|State|Start|End",
        "1|RUNNING|2022-10-27T00:00:00|2022-10-27T01:00:00",
        "2|PENDING|2022-10-27T05:00:00|2022-10-27T06:00:00",
        "3|NODE_FAIL|2022-10-27T00:00:00|2022-10-27T01:00:00",
        "4|RUNNING|2022-10-27T00:00:00|Unknown",
    ]
    jobs, _, _ = read(*text)
    assert [(job["start"], job["end"]) for job in jobs] == [
        (at(0), None), (None, None), (at(0), at(1)), (at(0), None),
    ]  # fmt: skip


def test_values_that_make_no_sense_are_null_and_counted():
    text = ["JobID|Submit|UID|State|NNodes", "1|yesterday|root|?|many", "2|Unknown|||"]
    jobs, _, defects = read(*text)
    assert [job["job"] for job in jobs] == ["1", "2"]
    assert all(job[n] is None for job in jobs for n in ("submit", "user", "state", "node_count"))
    assert defects.unread == {"submit": 1, "uid": 1, "state": 1, "nnodes": 1}
    assert not defects.rejected


def test_times_of_another_zone():
    text = ["JobID|Start|End", "1|2022-10-27T03:00:00|2022-10-27T04:00:00"]
    (job,), _, _ = read(*text, time_zone="Europe/Helsinki")
    assert (job["start"], job["end"]) == (at(0), at(1))


@pytest.mark.parametrize("zone", ["Helsinki", "", "../../etc/passwd"])
def test_an_unknown_zone_is_refused(zone):
    with pytest.raises(UsageError, match="no time zone"):
        read(HEADER, line(), time_zone=zone)


def test_all_records_of_a_job_are_kept_and_the_last_one_is_known():
    text = [
        "JobID|State|Submit|Start|End",
        "1|COMPLETED|2022-10-27T02:00:00|2022-10-27T03:00:00|2022-10-27T04:00:00",
        "2|RUNNING|2022-10-27T00:00:00|2022-10-27T01:00:00|Unknown",
        "1|NODE_FAIL|2022-10-27T00:00:00|2022-10-27T01:00:00|2022-10-27T02:00:00",
        "2|COMPLETED|2022-10-27T00:00:00|2022-10-27T01:00:00|2022-10-27T02:00:00",
        "2|RUNNING|2022-10-27T00:00:00|2022-10-27T01:00:00|Unknown",
        "3|PENDING|2022-10-27T00:00:00|Unknown|Unknown",
    ]
    (batch,) = iter_sacct([("\n".join(text) + "\n").encode()])
    assert batch.allocations.num_rows == 6
    last = latest(pa.Table.from_batches([batch.allocations])).to_pylist()
    assert [(job["job"], job["line"]) for job in last] == [("1", 2), ("2", 5), ("3", 7)]


def test_nobody_is_the_latest_of_none():
    assert latest(ALLOCATIONS.empty_table()).num_rows == 0
