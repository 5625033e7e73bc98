"""What an entry id says, and what of it can be trusted."""

import pytest

from pfscope.errors import UsageError
from pfscope.lustre.identity import Identifier
from pfscope.model import Identity

FIELDS = ("job", "user", "group", "node", "executable", "process")


def said(identity: Identity) -> dict[str, str]:
    return {f: getattr(identity, f).decode() for f in FIELDS if getattr(identity, f) is not None}


# Table 8 of the Aalto/CSC thesis: every form observed on Puhti.
TABLE_8 = [
    ("wget.11317854", "sound", {"executable": "wget", "user": "11317854"}),
    ("11317854:17627127:r01c01", "sound",
     {"job": "11317854", "user": "17627127", "node": "r01c01"}),
    (":17627127:r01c01", "missing-job", {"user": "17627127", "node": "r01c01"}),
    ("wget", "malformed", {}),
    ("wget.", "truncated", {"executable": "wget"}),
    ("11317854", "malformed", {}),
    ("11317854:", "truncated", {"job": "11317854"}),
    ("113178544", "malformed", {}),
    ("11317854:17627127", "truncated", {"job": "11317854"}),
    ("11317854:17627127:", "truncated", {"job": "11317854", "user": "17627127"}),
    ("11317854:17627127:r01c01.bullx", "qualified-host",
     {"job": "11317854", "user": "17627127", "node": "r01c01"}),
    (":17627127:r01c01.bullx", "missing-job", {"user": "17627127", "node": "r01c01"}),
    (":1317854:17627127:r01c01", "malformed", {"user": "17627127", "node": "r01c01"}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "id_class", "fields"), TABLE_8)
def test_table_8(raw, id_class, fields):
    identity = Identifier().identify(raw.encode())
    assert (identity.id_class.value, said(identity)) == (id_class, fields)
    assert identity.host_qualified == raw.endswith(".bullx")


@pytest.mark.parametrize(
    ("raw", "id_class", "fields"),
    [
        ("", "blank", {}),
        ("   ", "blank", {}),
        ("cluster-testjob1", "foreign", {}),
        ("bladejb:689.prometheus-node", "foreign", {}),
        ("kworker/86:1.0", "sound", {"executable": "kworker/86:1", "user": "0"}),
        ("rsync_env.sh.30026", "sound", {"executable": "rsync_env.sh", "user": "30026"}),
        (":17627127:", "truncated", {"user": "17627127"}),
        (":17627127", "malformed", {}),
        (":", "malformed", {}),
        (".1000", "malformed", {}),
        ("11317854:176x7127:r01c01", "malformed", {"job": "11317854"}),
        ("11317854:17627127:\xff\xfe", "malformed", {"job": "11317854", "user": "17627127"}),
        # 31 bytes: the node may have lost its end, and would be another one.
        ("11317854:17627127:node-rack01-a", "truncated", {"job": "11317854", "user": "17627127"}),
        ("11317854:17627127:r01c01.bullx.", "qualified-host",
         {"job": "11317854", "user": "17627127", "node": "r01c01"}),
        # An executable may be called like another format: the whole reading wins.
        ("1:0:r.1000", "sound", {"executable": "1:0:r", "user": "1000"}),
    ],
)  # fmt: skip
def test_other_forms(raw, id_class, fields):
    identity = Identifier().identify(raw.encode())
    assert (identity.id_class.value, said(identity)) == (id_class, fields)


@pytest.mark.parametrize(
    ("formats", "raw", "fields"),
    [
        (["%e.%g.%p.%h"], "ls.100.4242.r01c01.bullx.fi",
         {"executable": "ls", "group": "100", "process": "4242", "node": "r01c01"}),
        (["%j?%H:%u"], "4242:1000", {"job": "4242", "user": "1000"}),
        (["%j?%H:%u"], "r01c01:1000", {"node": "r01c01", "user": "1000"}),
        (["%u@%.3h"], "1000@r01", {"user": "1000", "node": "r01"}),
        (["%u:%j:%e"], "1000:4242:a:b c", {"user": "1000", "job": "4242", "executable": "a:b c"}),
        (["100%% %u"], "100% 1000", {"user": "1000"}),
        (["%j"], "4242", {"job": "4242"}),
    ],
)  # fmt: skip
def test_formats_of_other_sites(formats, raw, fields):
    identity = Identifier(formats).identify(raw.encode())
    assert (identity.id_class.value, said(identity)) == ("sound", fields)


def test_a_missing_job_first_or_in_the_middle():
    identify = Identifier(["%u:%j:%H"]).identify
    assert identify(b"1000::r01c01").id_class.value == "missing-job"
    assert said(identify(b"1000:42")) == {"user": "1000"}


def test_what_comes_first_survives():
    identify = Identifier(["%u:%j:%H"]).identify
    assert said(identify(b"17627127:AAAA\xff")) == {"user": "17627127"}
    assert said(identify(b"17627127:113178")) == {"user": "17627127"}


def test_array_tasks_as_slurm_shows_them():
    identity = Identifier().identify(b"4103947_100:1000:r01c01")
    assert (identity.job, identity.array_job, identity.array_task) == (
        b"4103947_100", b"4103947", b"100",
    )  # fmt: skip
    assert Identifier().identify(b"4103947:1000:r01c01").array_job is None


def test_job_ids_of_other_schedulers():
    identity = Identifier(["%j:%u"], job_pattern=r"[0-9]+(?:\[\])?\.[a-z0-9]+").identify(
        b"12.pbs1:5"
    )
    assert said(identity) == {"job": "12.pbs1", "user": "5"}


def test_system_users():
    identifier = Identifier(system_uid_below=500, system_users=["4711"])
    assert identifier.identify(b":0:r01c01").system
    assert identifier.identify(b"cron.4711").system
    assert not identifier.identify(b"cron.999").system
    assert not identifier.identify(b"113178544").system


def test_a_short_and_a_qualified_host_are_one_node_of_two_ids():
    short, qualified = b"1:1000:r01c01", b"1:1000:r01c01.bullx"
    identify = Identifier().identify
    assert short != qualified
    assert identify(short).node == identify(qualified).node == b"r01c01"


@pytest.mark.parametrize("text", ["", "abc", "%x", "%u:%u", "%", "%j?%H:%H"])
def test_formats_that_make_no_sense_are_refused(text):
    with pytest.raises(UsageError, match="jobid_name"):
        Identifier([text])


def test_a_long_hostile_id_takes_no_time():
    assert Identifier().identify(b"a." * 100_000 + b":").id_class.value == "foreign"
