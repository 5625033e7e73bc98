"""The site's configuration: what it changes, and how mistakes are told."""

import pytest

from pfscope.config import Config, load_config, parse_config
from pfscope.errors import InputError, UsageError
from pfscope.opening import site_of

EXAMPLE = """
[identity]
jobid_name = ["%u:%j:%H"]
system_uid_below = 500

[filesystem.home.identity]
jobid_name = ["%e.%u"]

[retention]
usage_ost = 30

[metric.opening]
weights = {open = 2, close = 1}
kinds = ["mdt"]

[nodes]
login = ["puhti-login*"]
"""


def test_one_file_system_differs_and_keeps_the_rest():
    config = parse_config(EXAMPLE, "x")
    assert config.identifier("scratch").identify(b"700:42:r01c01").job == b"42"
    home = config.identifier("home").identify(b"bash.700")
    assert (home.executable, home.system) == (b"bash", False)
    assert config.identifier("home").identify(b"bash.400").system


def test_retention_is_told_by_table():
    assert parse_config(EXAMPLE, "x").retention.limits() == {"usage_ost": 30}


def test_a_site_has_metrics_and_login_nodes_of_its_own():
    config = parse_config(EXAMPLE, "x")
    opening = config.metrics["opening"]
    assert (opening.weights, opening.kinds) == ({"open": 2.0, "close": 1.0}, ("mdt",))
    site = site_of(config)
    assert site.login_nodes == ("puhti-login*",)
    assert {"opening", "metadata", "iops", "bytes"} <= site.metrics.keys()


def test_without_a_file_the_defaults_hold(monkeypatch):
    monkeypatch.delenv("PFSCOPE_CONFIG", raising=False)
    assert load_config() == Config()


def test_the_environment_names_a_file(tmp_path, monkeypatch):
    path = tmp_path / "pfscope.toml"
    path.write_text(EXAMPLE)
    monkeypatch.setenv("PFSCOPE_CONFIG", str(path))
    assert load_config().identity.system_uid_below == 500


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[identiy]\n", "did you mean 'identity'"),
        ("[identity]\njobidname = []\n", "did you mean 'jobid_name'"),
        ("[identity]\nsystem_uid_below = 'many'\n", "system_uid_below must be a number"),
        ("[identity]\njobid_name = [1]\n", "jobid_name must be a list of strings"),
        ("[identity]\njobid_name = ['%x']\n", "%x"),
        ("[filesystem.scratch.idendity]\n", r"\[filesystem.scratch\]: unknown key 'idendity'"),
        ("identity = 3\n", "must be a table"),
        ("[retention]\nusage = 3\n", "unknown key 'usage'"),
        ("[retention]\nusage_ost = 'long'\n", "usage_ost must be a number of days"),
        ("[retention]\nusage_ost = 0\n", "at least 1"),
        ("[metric.m]\n", "weights must be numbers above 0"),
        ("[metric.m]\nweights = {}\n", "one operation at least"),
        ("[metric.m]\nweights = {open = 'two'}\n", "weights must be numbers above 0"),
        ("[metric.m]\nweights = {open = true}\n", "weights must be numbers above 0"),
        ("[metric.m]\nweights = {open = inf}\n", "weights must be numbers above 0"),
        ("[metric.m]\nweights = {open = 0}\n", "weights must be numbers above 0"),
        ("[metric.m]\nweights = {open = 1, read_bytes = 1}\n", "bytes and requests"),
        ("[metric.m]\nweight = {open = 1}\n", "did you mean 'weights'"),
        ("[metric.m]\nweights = {open = 1}\nkinds = ['mdts']\n", "a list of mdt and ost"),
        ("[metric.'a b']\nweights = {open = 1}\n", "letters, digits"),
        ("[metric]\nm = 3\n", r"\[metric.m\] must be a table"),
        ("metric = 3\n", "must be tables"),
        ("[nodes]\nlogins = []\n", "did you mean 'login'"),
        ("[nodes]\nlogin = 'login1'\n", "a list of patterns"),
        ("[identity\n", "is not TOML"),
    ],
)
def test_mistakes_are_told_with_the_place(text, told):
    with pytest.raises(UsageError, match=told):
        parse_config(text, "pfscope.toml")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot read the configuration"):
        load_config(tmp_path / "none.toml")
