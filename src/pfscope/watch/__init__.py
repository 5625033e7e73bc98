"""Says by itself when something changes on a file system, who causes it, and what to do.

Data walks: `signals` (rates as they were observed) → `trend` (changes of single signals) →
`incidents` (one change with its causes, however many signals show it) → `archetype` and `advice`
→ `alerts` (who is told, and when). The same code runs beside a server and over the past.
"""
