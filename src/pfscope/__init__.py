"""pfscope names the user, the job and the cause when a parallel file system slows down.

Importing this package costs nothing and works on Python 3.6, because the agent ships it.
"""

__version__ = "0.1.0"
