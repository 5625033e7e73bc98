"""Figures and reports: what the query layer answers, drawn for people, one file per output.

Everything is asked of `pfscope.query.data.Data`, so a directory and a server give the same pages.
Text from answers reaches a page by `markup.element` and a figure by `plotly_text`, in no other way.
"""
