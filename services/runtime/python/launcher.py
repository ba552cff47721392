"""The launcher: a small process that keeps a pool of spare supervisors, each of which executes one run.

The runtime starts the launcher once as `python3 -I -S launcher.py SOCKET RUNS [FLAG…]` (see `read_choices`). A run then
needs neither a new interpreter for its supervisor nor a fork of the runtime's large process. The launcher imports
everything that a run needs.

SOCKET is the path to listen on, and RUNS is the folder for run folders. When standard input ends, the launcher accepts
no more connections, and exits after its last supervisor.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lifecycle.init import execute_program
from pool.supervisor_pool import PoolOptions, launch

_SPARES = 2
# The maximum number of spares, for bursts of runs. More spares would compete with the runs for processors.
_MOST_SPARES = min(8, 2 * (os.cpu_count() or 1))


def main() -> None:
    """Starts the pool of the launcher."""
    path, runs = sys.argv[1], os.path.abspath(sys.argv[2])
    options = PoolOptions(
        path=path,
        runs=runs,
        life_line=0,
        spares=_SPARES,
        most_spares=_MOST_SPARES,
        runs_outlive=False,
        runs_each=1,
        execute=execute_program,
    )
    launch(options, sys.argv[3:])


if __name__ == "__main__":
    main()
