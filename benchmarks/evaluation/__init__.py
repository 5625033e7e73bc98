"""Judges the watch by the laboratory's truth: `python -m benchmarks.evaluation`."""
