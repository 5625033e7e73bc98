"""The terminal's window: who loads the file systems now, and at any past moment.

A thin view: what it shows is answered by `/api/v1/now` and `/api/v1/live` of a server, or by the
same questions to a directory. Nothing here knows how it is worked out.
"""
