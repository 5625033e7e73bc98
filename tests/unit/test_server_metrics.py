"""`/metrics`: what is written is read back by a strict reader, whatever the labels are."""

import re

from pfscope.server.metrics import WebCounts, label, render
from pfscope.store.protocol import LedgerChange
from tests.support.server_world import MemoryStore, make_engine

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\["\\n])*)"')
UNDO = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def read(text):
    samples = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP|TYPE) pfscope_[a-z_]+ .+", line)
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        labels = tuple(
            (name, re.sub(r'\\[\\"n]', lambda m: UNDO[m[0]], value))
            for name, value in LABEL.findall(match[2] or "")
        )
        samples[match[1], labels] = float(match[3])
    return samples


def test_the_ledger_and_the_figures_are_there(tmp_path):
    store = MemoryStore(tmp_path)
    store.commit({}, [LedgerChange("receive", "oss1", "rejected", "damaged", 7, 0)])
    engine = make_engine(store)
    web = WebCounts()
    web.requests["/api/v1/frames", 200] += 3
    samples = read(render(engine, web))
    engine.close()
    line = (
        ("stage", "receive"),
        ("server", "oss1"),
        ("outcome", "rejected"),
        ("reason", "damaged"),
    )
    assert samples["pfscope_frames_total", line] == 7
    route = (("route", "/api/v1/frames"), ("code", "200"))
    assert samples["pfscope_http_requests_total", route] == 3
    assert samples["pfscope_ready", ()] == 1


def test_no_label_breaks_out_of_its_quotes(tmp_path):
    store = MemoryStore(tmp_path)
    evil = 'x"} 1\npfscope_ready 0\\'
    store.commit({}, [LedgerChange("receive", evil, "rejected", "\r\0é\u2028", 1, 0)])
    engine = make_engine(store)
    samples = read(render(engine, WebCounts()))
    engine.close()
    labels = [dict(key[1]) for key in samples if key[0] == "pfscope_frames_total"]
    assert {item["server"] for item in labels} == {evil}
    assert {item["reason"] for item in labels} == {"??é?"}
    assert samples["pfscope_ready", ()] == 1


def test_a_label_is_bounded():
    assert len(label("x" * 10_000)) == 128
