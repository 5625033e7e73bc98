"""Mining of application logs: the lake of Parquet tables, and what is asked of it."""
