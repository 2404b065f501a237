"""`python -m inertia_identify`: the command line."""

import sys

from inertia_identify import main

if __name__ == "__main__":
    sys.exit(main())
