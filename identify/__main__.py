"""`python -m identify`: the command line, whatever else is called `identify` on the PATH."""

import sys

from identify.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
