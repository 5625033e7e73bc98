"""Lakes for tests: of real logs, or of rows that a test makes."""

from pfscope.mine.darshan_import import write_logs
from pfscope.mine.inputs import Found, Period, digest
from pfscope.mine.lake import writing
from pfscope.mine.parts import Parts


def lake_of(paths, place):
    """Return a lake that has some logs, each content once."""
    named = {digest(str(path)): path for path in paths}
    found = [Found(str(path), path.stat().st_size, 0, name) for name, path in named.items()]
    with writing(place) as lake:
        records = write_logs(lake.staging("logs"), "logs", found, Period())
        assert [record.reason for record in records if record.state == "quarantined"] == []
        lake.commit("logs")
    return place


def lake_of_rows(place, date, **tables):
    """Return a lake that has these rows, all of one day."""
    with writing(place) as lake:
        parts = Parts(lake.staging("rows"), "rows")
        for name, rows in tables.items():
            parts.write(name, date, rows)
        parts.close()
        lake.commit("rows")
    return place
