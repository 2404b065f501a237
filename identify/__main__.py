"""`python -m identify`: the command line, also if another `identify` is on the PATH."""

import sys

from identify.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
