"""An import goes on when a process that reads files dies, and finds the file that killed it."""

import pytest

from pfscope.errors import InputError
from pfscope.mine.importing import Source, import_files
from pfscope.mine.lake import writing
from pfscope.mine.workers import Isolated
from tests.support import deadly_reader
from tests.support.darshan_logs import save
from tests.support.lake_rows import rows


class Counted:
    files = 0

    def total(self, files):
        self.of = files

    def done(self, files):
        self.files += files


def test_the_file_that_kills_is_found_and_the_others_are_read(tmp_path):
    for i in range(24):
        name = "deadly" if i == 13 else "fine"
        save(tmp_path / "logs" / f"{i:02d}-{name}.darshan", b"%d" % i)
    watch = Counted()
    with writing(tmp_path / "lake") as lake:
        source = Source("darshan", (str(tmp_path / "logs"),), (".darshan",))
        summary = import_files(lake, source, deadly_reader.read, watch, processes=2)
    states = {record.path.rpartition("-")[2]: record.state for record in summary.records}
    assert states == {"fine.darshan": "whole", "deadly.darshan": "quarantined"}
    assert len(summary.records) == watch.files == watch.of == 24
    assert len(rows(tmp_path / "lake", "imports")) == 24
    (dead,) = (record for record in summary.records if record.state == "quarantined")
    assert "takes down the process" in dead.reason


def test_a_process_that_reads_alone_is_followed_by_another(tmp_path):
    with Isolated() as isolated:
        with pytest.raises(InputError, match="takes down"):
            isolated(deadly, "x")
        assert isolated(str.upper, "alive") == "ALIVE"


def deadly(_path):
    import os

    os.abort()
