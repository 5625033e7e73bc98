"""Where usage is kept: recent days in DuckDB, the past as immutable Parquet, both seen as one."""
