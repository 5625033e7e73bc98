"""Whatever sacct's text holds: nothing is lost unseen, and how it is cut into pieces is all one."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.errors import InputError
from pfscope.logs.slurm import Defects, iter_sacct
from pfscope.untrusted import from_ascii_text

HEADER = "JobID|JobIDRaw|State|Submit|Start|End|Elapsed|ReqMem|ExitCode|NodeList|Account|JobName"
COLUMNS = HEADER.split("|")
CELLS = st.sampled_from(
    ["", "1", "2_3", "4_[1-3%2]", "5+1", "6.batch", "RUNNING", "CANCELLED by 7", "1-02:03:04",
     "2022-10-27T00:00:00", "2022-02-30T00:00:00", "Unknown", "4000Mc", "16?", "0:9", "n[1-2]",
     "99999999999999999999", "JobID", "\\", "\r"]
) | st.text(max_size=8)  # fmt: skip
LINES = st.lists(CELLS, max_size=len(COLUMNS) + 2).map("|".join)


def read(chunks, **options):
    rows, defects = [], Defects()
    for batch in iter_sacct(chunks, **options):
        rows += [("job", row) for row in batch.allocations.to_pylist()]
        rows += [("step", row) for row in batch.steps.to_pylist()]
        defects.extend(batch.defects)
    return sorted(rows, key=lambda row: (row[1]["line"], row[0])), defects


def all_text(rows):
    return "".join(value for _, row in rows for value in row.values() if isinstance(value, str))


def pieces(raw, size):
    return (raw[i : i + size] for i in range(0, len(raw), size))


@settings(deadline=None, max_examples=150)
@given(st.lists(LINES | st.just(HEADER), max_size=8), st.integers(1, 60))
def test_every_line_is_a_row_or_a_defect(lines, size):
    raw = "\n".join([HEADER, *lines]).encode("utf-8", "surrogatepass")
    rows, defects = read([raw])
    text = raw.replace(b"\r\n", b"\n").split(b"\n")
    counted = [line for line in text if line and line != HEADER.encode()]
    assert len(rows) + sum(defects.rejected.values()) == len(counted)
    assert len({row["line"] for _, row in rows}) == len(rows)
    assert all_text(rows).isascii()
    assert not rows or all_text(rows).isprintable()
    assert read(pieces(raw, size))[0] == rows


@settings(deadline=None, max_examples=150)
@given(st.binary() | st.binary().map(lambda raw: HEADER.encode() + b"\n" + raw))
def test_any_bytes_are_read_or_refused(raw):
    for form in ("auto", "parsable", "json"):
        try:
            rows, _ = read([raw], form=form)
        except InputError:
            continue
        assert all_text(rows).isascii()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["set", "infinite", "number", "current", "start", "id", "count", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
KEYS = ["job_id", "time", "state", "array", "het", "steps", "tres", "nodes", "exit_code", "name"]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6), max_size=4))
def test_json_of_any_kind_costs_no_other_job(jobs):
    sound = {"job_id": 77, "account": "project_7"}
    rows, _ = read([json.dumps({"jobs": [*jobs, sound]}).encode()])
    assert rows[-1][1]["job"] == "77"
    assert rows[-1][1]["project"] == "project_7"


@settings(deadline=None, max_examples=100)
@given(st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_both_forms_carry_a_name_unchanged(name):
    text = json.dumps([{"job_id": 1, "name": name.decode("utf-8", "surrogateescape")}])
    ((_, job),), _ = read([text.encode()])
    assert from_ascii_text(job["name"] or "") == name
    if b"\n" not in name and not name.endswith(b"\r"):
        ((_, job),), _ = read([b"JobID|JobName\n1|" + name + b"\n"])
        assert from_ascii_text(job["name"] or "").replace(b"\\|", b"|") == name.replace(
            b"\\|", b"|"
        )
