"""Who may see whom by name: roles, people, pseudonyms, and the store as somebody may see it.

No network and no server: the server decides who asks, this room what that person sees.
"""
