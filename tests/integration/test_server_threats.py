"""What comparable servers got wrong, each by its name, tried on ours over real connections."""

import gzip
import json
import socket
import zlib
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from pfscope.frames import Frame, SectionInfo, encode
from pfscope.frames.record import pack_head
from pfscope.server.limits import Limits
from pfscope.server.tokens import Gate, TokenFile
from tests.support.frame_samples import TEXT, WALL_NS, encoded, origin
from tests.support.server_world import server

SMALL = Limits(body_bytes=200_000, raw_bytes=4_000_000, held_bytes=8_000_000)


def bomb(encoding, size):
    data = bytes(size)
    if encoding == "gzip":
        return gzip.compress(data, 9)
    return pa.Codec("zstd", 19).compress(data, asbytes=True)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("size", [3_000_000, 100_000_000])
def test_a_compression_bomb_is_refused(tmp_path, encoding, size):
    with server(tmp_path, SMALL) as world:
        wire = bomb(encoding, size)
        assert len(wire) < SMALL.body_bytes
        for post in (world.post, world.lctl):
            status, code = world.error(post(wire, headers={"Content-Encoding": encoding}))
            assert status == 413
            assert code in ("ratio", "raw-size")
        assert world.engine.state().journal.frames == 0


def test_a_limit_on_the_compressed_size_alone_is_not_enough(tmp_path):
    limits = Limits(body_bytes=200_000, raw_bytes=1_000_000)
    with server(tmp_path, limits) as world:
        wire = gzip.compress(bytes(range(256)) * 5000)
        answer = world.lctl(wire, headers={"Content-Encoding": "gzip"})
        assert world.error(answer) == (413, "raw-size")


def test_a_bomb_inside_a_frame_is_rejected_before_it_is_kept(tmp_path):
    def frame(sequence, size):
        payload = zlib.compress(bytes(size), 9)
        return encode(Frame(origin(sequence), (SectionInfo("lctl", size, 0),), {}, payload))

    with server(tmp_path, SMALL) as world:
        frames = world.post(frame(0, 3_000_000) + frame(1, 5_000_000) + encoded(2)).json()["frames"]
        assert [f["status"] for f in frames] == ["rejected", "rejected", "stored"]
        assert frames[0]["reason"].startswith("ratio: ")
        assert frames[1]["reason"].startswith("too-large: ")


def named(server="mds1", filesystem="scratch", section="lctl"):
    """A frame as no honest agent makes it: its names are checked by nobody on the way."""
    fields = dict(origin()._asdict(), server=server, filesystems=[filesystem], notes={})
    del fields["wall_ns"]
    meta = json.dumps({**fields, "sections": [[section, len(TEXT), 0]]}).encode()
    payload = zlib.compress(TEXT)
    crc = zlib.crc32(payload, zlib.crc32(meta))
    return pack_head(len(meta), len(payload), WALL_NS, crc) + meta + payload


def test_names_that_are_no_text_are_rejected_and_answered_all_the_same(tmp_path):
    with server(tmp_path) as world:
        for frame, code in [
            (named(server="\ud800"), "server-name: "),
            (named(server="../../etc"), "server-name: "),
            (named(filesystem="\ud800"), "names: "),
            (named(section="mdt.\udcff-MDT0000.job_stats"), "names: "),
            (named(section="x" * 5000), "names: "),
        ]:
            (answer,) = world.post(frame).json()["frames"]
            assert answer["status"] == "rejected"
            assert answer["reason"].startswith(code)
        assert world.post(named(server="\ud800")).json()["frames"][0]["server"] == "\ud800"
        assert world.statuses(named()) == ["stored"]


def test_a_body_without_end_is_cut_off_and_told_why(tmp_path):
    with server(tmp_path, SMALL) as world:
        answer = world.post(b"x" * 64_000 for _ in range(100))
        assert world.error(answer) == (413, "size")
        answer = world.post(b"x" * 300_000)
        assert world.error(answer) == (413, "size")


def test_an_agent_that_speaks_http_1_0_hears_why_a_large_body_is_refused(tmp_path):
    from pfscope.agent.post import Endpoint

    with server(tmp_path, SMALL) as world:
        reply = Endpoint(world.url).post(b"x" * 8_000_000)
        assert reply.status == 413
        assert json.loads(reply.body)["error"]["code"] == "size"


def test_too_many_frames_in_one_request_are_refused_and_none_is_taken(tmp_path):
    with server(tmp_path, Limits(frames=3)) as world:
        body = b"".join(map(encoded, range(3)))
        assert world.error(world.post(body + encoded(3))) == (413, "frames")
        assert world.error(world.post(b"\x89PFF\r\n\x1a\n" * 3 + body)) == (413, "frames")
        assert world.statuses(body) == ["stored"] * 3


def trickle(world, head, pieces):
    """Open a connection, send a little, and return all that comes back until it is closed."""
    where = urlsplit(world.url)
    with socket.create_connection((where.hostname, where.port), 30) as connection:
        connection.sendall(head)
        for piece in pieces:
            connection.sendall(piece)
        answer = b""
        try:
            while data := connection.recv(65536):
                answer += data
        except ConnectionResetError:
            pass
        return answer


def test_a_slow_body_is_given_up(tmp_path):
    with server(tmp_path, Limits(body_s=1)) as world:
        head = b"POST /api/v1/frames HTTP/1.0\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
        answer = trickle(world, head, [b"x"])
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert world.statuses(encoded(0)) == ["stored"]


@pytest.mark.parametrize("sent", [b"", b"POST /api/v1/frames HTTP/1.1\r\nHost: loc"])
def test_a_slow_head_is_given_up(tmp_path, sent):
    with server(tmp_path, Limits(head_s=1)) as world:
        assert trickle(world, sent, []) == b""
        assert world.statuses(encoded(0)) == ["stored"]


def test_connections_are_bounded_and_places_come_back(tmp_path):
    with server(tmp_path, Limits(connections=5)) as world:
        where = urlsplit(world.url)
        held = [socket.create_connection((where.hostname, where.port), 20) for _ in range(5)]
        for one in held:
            one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert one.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert trickle(world, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", []) == b""
        for one in held:
            one.close()
        while True:
            try:
                assert world.client.get("/health").status_code == 200
                break
            except OSError:
                continue


def test_requests_in_flight_are_bounded_and_places_come_back(tmp_path):
    with server(tmp_path, Limits(requests=2)) as world:
        where = urlsplit(world.url)
        held = [socket.create_connection((where.hostname, where.port), 20) for _ in range(2)]
        for one in held:
            one.sendall(b"POST /api/v1/frames HTTP/1.1\r\nHost: localhost\r\n")
            one.sendall(b"Content-Length: 10\r\n\r\n")
        while "pfscope_requests_in_flight 2" not in world.client.get("/metrics").text:
            pass
        answer = world.post(encoded(0))
        assert world.error(answer) == (429, "busy")
        assert answer.headers["retry-after"]
        for one in held:
            one.close()
        while "pfscope_requests_in_flight 0" not in world.client.get("/metrics").text:
            pass
        assert world.statuses(encoded(0)) == ["stored"]


def test_all_bodies_together_are_bounded(tmp_path):
    with server(tmp_path, Limits(held_bytes=500_000)) as world:
        answer = world.post(b"x" * 600_000)
        assert world.error(answer) == (429, "memory")
        assert answer.headers["retry-after"]
        for _ in range(10):
            assert world.error(world.post(b"x" * 600_000))[0] == 429
        assert world.statuses(encoded(0)) == ["stored"]


def raw_post(world, authorization):
    """Send what a well-behaved client would not."""
    body = encoded(0)
    head = f"POST /api/v1/frames HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    if authorization is not None:
        head += f"Authorization: {authorization}\r\n"
    head, _, body = trickle(world, head.encode() + b"\r\n" + body, []).partition(b"\r\n\r\n")
    return head, json.loads(body)


def test_an_empty_or_wrong_secret_never_lets_anybody_in(tmp_path):
    file = TokenFile(tmp_path)
    secret = file.add("oss", ("*",))
    with server(tmp_path, gate=Gate(file)) as world:
        for header in (
            None,
            "",
            "Bearer",
            "Bearer ",
            "Bearer \t ",
            "bearer x",
            f"Basic {secret}",
            secret,
            f"Bearer {secret[:-1]}",
            f"Bearer {secret}x",
            f"Bearer {secret} {secret}",
        ):
            head, answer = raw_post(world, header)
            assert head.startswith(b"HTTP/1.1 401 "), header
            assert b"www-authenticate: Bearer" in head
            assert answer["error"]["code"] == "token"
        _head, answer = raw_post(world, f"bearer {secret}")
        assert answer["frames"][0]["status"] == "stored"


def test_an_open_server_takes_no_empty_or_unknown_token_for_a_good_one(tmp_path):
    with server(tmp_path) as world:
        for header in ("", "Bearer", "Bearer ", "Bearer x"):
            head, _answer = raw_post(world, header)
            assert head.startswith(b"HTTP/1.1 401 "), header
        assert raw_post(world, None)[1]["frames"][0]["status"] == "stored"


def test_no_second_input_is_unauthenticated(tmp_path):
    file = TokenFile(tmp_path)
    file.add("oss", ("*",))
    with server(tmp_path, gate=Gate(file)) as world:
        assert world.post(encoded(0)).status_code == 401
        assert world.lctl(TEXT).status_code == 401
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            for path in ("/", "/health", "/ready", "/metrics", "/api/v1/ledger"):
                assert world.client.request(method, path).status_code == 405
        assert world.engine.state().journal.frames == 0


def test_a_page_of_another_site_cannot_send_through_a_browser(tmp_path):
    with server(tmp_path) as world:
        for headers in (
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            answer = world.lctl(TEXT, headers=headers)
            assert world.error(answer) == (403, "origin")
            assert "access-control-allow-origin" not in answer.headers
        answer = world.lctl(TEXT, headers={"Host": "rebound.evil.example"})
        assert world.error(answer) == (403, "host")


def test_secrets_and_senders_texts_are_in_no_log_line(tmp_path, capfd):
    file = TokenFile(tmp_path)
    secret = file.add("oss", ("oss*",))
    with server(tmp_path, gate=Gate(file)) as world:
        headers = {"Authorization": f"Bearer {secret}"}
        world.post(encoded(0, server="evil\x1b[31m"), headers=headers)
        world.lctl(TEXT, "server=oss1%0AFORGED", headers=headers)
        world.lctl(TEXT, headers={"Authorization": f"Bearer {secret}wrong"})
        file.revoke("oss")
        world.lctl(TEXT, headers=headers)
        metrics = world.client.get("/metrics", headers=headers).text
    said = capfd.readouterr()
    for text in (said.out, said.err, metrics):
        assert secret not in text
        assert "\x1b" not in text
        assert "FORGED" not in text


def test_names_that_senders_choose_make_no_new_labels(tmp_path):
    with server(tmp_path, Limits(servers=3)) as world:
        for i in range(20):
            world.post(encoded(0, server=f"flood{i}"))
            world.client.get(f"/no/such/path/{i}")
        lines = world.client.get("/metrics").text.splitlines()
    assert len([line for line in lines if "flood" in line]) <= 3 * 6
    assert [line for line in lines if 'route="other",code="404"' in line] == [
        'pfscope_http_requests_total{route="other",code="404"} 20'
    ]
