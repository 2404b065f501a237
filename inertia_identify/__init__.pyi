from identify import *  # noqa: F403
from identify import __version__ as __version__

def main() -> int: ...
