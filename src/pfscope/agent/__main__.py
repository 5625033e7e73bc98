"""`python -m pfscope.agent`, and what the single file `pfscope-agent.pyz` starts."""

import sys

from pfscope.agent.main import main

if __name__ == "__main__":
    sys.exit(main())
