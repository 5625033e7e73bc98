"""Logs of others as columns: schedulers and Darshan. No network, no store, no neighbours.

Every reader streams, and sets aside and counts what it cannot read. Text that users wrote leaves
this room as ASCII, other bytes as `\\xHH`.
"""
