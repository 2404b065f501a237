"""Run a command and print its wall and processor time and its peak memory as JSON.

    python peak_memory.py COMMAND ...

It runs as a separate process because the peak memory of a child includes that of its parent at the
start: the parent must be small.
"""

import json
import os
import sys
import time


def main(command: list[str]) -> None:
    """Run the command, wait for it, print its resource usage."""
    started = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    exit_status = os.waitstatus_to_exitcode(status)
    taken = {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * unit,
        "exit": exit_status,
    }
    print(json.dumps(taken))


if __name__ == "__main__":
    main(sys.argv[1:])
