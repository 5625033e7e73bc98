"""What a question is answered with: an Arrow table that knows what it is about."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


class Result:
    """Rows of an answer. Whatever takes Arrow takes it: Polars, pandas, DuckDB."""

    def __init__(self, name: str, table: pa.Table, about: Mapping[str, Any]) -> None:
        self.name = name
        """The question: `top`, `series`, …"""
        self.table = table
        self.about = dict(about)
        """What was asked and what to know of the answer: unit, step, notes."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} rows of {', '.join(self.table.column_names)}>"

    def _repr_html_(self) -> str:
        html: str = self.to_pandas()._repr_html_()
        return html

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a pandas DataFrame."""
        return self.table.to_pandas()

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return rows as dictionaries."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def plot(self) -> "go.Figure":
        """Return a Plotly figure of it."""
        from pfscope.report.plot import plot

        return plot(self)
