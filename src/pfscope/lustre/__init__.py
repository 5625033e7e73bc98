"""Lustre's text as columns: bytes in, NumPy arrays out; pure, streaming, resynchronising.

Nothing here touches a disk or a network. What cannot be read is counted with its reason and its
offset, and never hides the good text that follows it.
"""
