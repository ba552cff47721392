"""The launcher: a tiny process that keeps a few spare supervisors, one for each coming run.

Started once by the runtime as `python3 -I -S launcher.py SOCKET RUNS [FLAG…]` (see `read_choices`),
so that no run costs the start of a supervisor or a fork of the runtime's large process. It has
everything imported that a run needs. SOCKET is the path to listen on, RUNS the folder in which run
folders are made. Standard input is its life line: at its end no more connections are taken, and
the launcher ends after its last supervisor.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from sandbox.init import execute_program
from sandbox.launching import Kind, launch

_SPARES = 2
# For bursts of runs: more would compete with them for the processors.
_MOST_SPARES = min(8, 2 * (os.cpu_count() or 1))


def main() -> None:
    """Entry point."""
    path, runs = sys.argv[1], os.path.abspath(sys.argv[2])
    kind = Kind(
        path=path,
        runs=runs,
        life_line=0,
        spares=_SPARES,
        most_spares=_MOST_SPARES,
        runs_outlive=False,
        runs_each=1,
        execute=execute_program,
    )
    launch(kind, sys.argv[3:])


if __name__ == "__main__":
    main()
