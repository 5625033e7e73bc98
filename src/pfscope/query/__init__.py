"""One set of functions answers every question about usage, for every view and any engine.

The way of a question: `selection` says which usage and when, `metrics` what is counted, `keys` by
whom; `usage` makes an Ibis expression of increments of them, `steps` rates on common timestamps.
Each kind of answer has a module that composes these; `data` is what `pfscope.open` returns.
"""
