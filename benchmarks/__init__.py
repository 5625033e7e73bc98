"""Benchmarks: each prints a ratio against a peer or a baseline measured in the same run."""
