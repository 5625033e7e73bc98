"""What may be asked of the server, and what is refused before it starts."""

from dataclasses import fields
from pathlib import Path

import pytest

from pfscope.errors import UsageError
from pfscope.server.limits import Limits, with_limits
from pfscope.server.run import Listen, check_exposure, parse_listen

CERT = Path("cert.pem")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"


def test_a_limit_is_changed_by_its_name():
    assert with_limits([]) == Limits()
    changed = with_limits(["body_bytes=2M", "frames=7"])
    assert (changed.body_bytes, changed.frames) == (2 << 20, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [("body_byte=1", "did you mean body_bytes"), ("nonsense", "known are"), ("frames=0", "1 or")],
)
def test_a_limit_that_makes_no_sense_is_refused_with_the_nearest(text, said):
    with pytest.raises(UsageError, match=said):
        with_limits([text])


def test_every_limit_is_documented_with_its_default():
    text = (DOCS / "server.md").read_text()
    for limit in fields(Limits):
        row = next(line for line in text.splitlines() if line.startswith(f"| `{limit.name}` |"))
        assert f"| {limit.default} |" in row.replace("\u202f", ""), row


def test_addresses():
    assert parse_listen("127.0.0.1:8470") == Listen("127.0.0.1", 8470)
    assert parse_listen("[::1]:0") == Listen("::1", 0)
    for text in ("8470", "127.0.0.1", "a b:1", "::1:80", "x:99999", ":80"):
        with pytest.raises(UsageError):
            parse_listen(text)
    with pytest.raises(UsageError, match="go together"):
        parse_listen("127.0.0.1:1", cert=CERT)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_may_be_open(host):
    assert check_exposure(Listen(host, 1), tokens=0, insecure=False) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "myhost", "127.0.0.1.evil"])
def test_any_other_address_needs_tls_and_tokens_or_insecure_said_aloud(host):
    plain, secure = Listen(host, 1), Listen(host, 1, CERT, CERT)
    for listen, tokens, lack in ((plain, 1, "TLS"), (secure, 0, "tokens"), (plain, 0, "TLS")):
        with pytest.raises(UsageError, match=lack):
            check_exposure(listen, tokens, insecure=False)
        assert lack in check_exposure(listen, tokens, insecure=True)[0]
    assert check_exposure(secure, 1, insecure=False) == []
