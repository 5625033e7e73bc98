"""The agent: reads Lustre's statistics on a server, spools them as frames, sends them.

It parses nothing that it collects, needs the standard library only, and its syntax is Python 3.6's,
so that one file runs on whatever a vendor's image has.
"""
