"""What happens now, worked out in memory from the last minutes: milliseconds, whatever the past is.

The same is worked out for any past moment, from the same few minutes as the store has them.
"""
