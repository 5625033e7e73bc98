"""Times of notifications as the formats of others have them."""

from datetime import UTC, datetime, timedelta


def moment(time_us: int) -> datetime:
    """Return a time with its zone, UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
