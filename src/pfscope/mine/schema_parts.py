"""What the schemas of the lake are made of: columns with meanings, and types used often."""

from typing import Final, NamedTuple

import pyarrow as pa

TIME: Final = pa.timestamp("us", "UTC")
INT: Final = pa.int64()
SMALL: Final = pa.int32()
FLOAT: Final = pa.float64()
TEXT: Final = pa.string()
FLAG: Final = pa.bool_()
BITMAP: Final = pa.binary()


class Column(NamedTuple):
    """A column, its type and what a value of it means."""

    name: str
    type: pa.DataType
    meaning: str


Columns = tuple[Column, ...]
