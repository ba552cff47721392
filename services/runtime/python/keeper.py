"""The keeper: a warm interpreter of one script's environment, which forks a process for each run.

The runtime starts the keeper as `{bare environment}/bin/python {workspace}/{entrypoint}` with `warm` on PYTHONPATH and
with ORCH_KEEPER set. ORCH_KEEPER is a JSON object with these fields: `socket`, `runs` and `flags` (as for the
launcher), `python` (the path of the interpreter in the script's environment) and `modules` (the modules of the standard
library to import). The keeper does the work of a launcher, but a script process is forked without `exec`: it continues
as a freshly started interpreter (see warm/encodings). Only the platform writes the bare environment. The keeper reads
neither the script nor its environment outside the sandbox, so it never executes untrusted code.

Descriptor 0 is /dev/null. Descriptors 1 and 2 are pipes, as in a run. Descriptor 3 is a pipe that is closed when the
runtime exits.
"""

from __future__ import annotations

import _signal
import gc
import importlib
import json
import os
import signal
import sys
import time
from typing import Dict, List

from kernel import syscalls
from lifecycle.start_gate import BecomeScript, StartGate
from pool.fast_exit import FastExit
from pool.supervisor_pool import PoolOptions, launch

_LIFE_LINE = 3
# The number of spares when there is no burst of runs.
_SPARES = 1
# A supervisor is replaced after this number of runs, because its memory grows a little with each run.
_RUNS_EACH = 100
# The functions in `signal` are slower, because they convert each signal number to an enum member.
_set_signal, _IGNORED = _signal.signal, int(signal.SIG_IGN)
_SIGINT, _SIGPIPE, _SIGXFSZ = int(signal.SIGINT), int(signal.SIGPIPE), int(signal.SIGXFSZ)
_HERE = os.path.dirname(os.path.abspath(__file__))
_OWN = ("keeper", "pool", "lifecycle", "containment", "kernel", "wire")


def keep() -> None:
    """Runs the keeper. Returns only in a script's process, when the script may execute. The interpreter then continues
    with the script."""
    config = json.loads(os.environ["ORCH_KEEPER"])
    fast_exit = FastExit()
    _move_to_environment(config["python"])
    for name in config["modules"]:
        _preload(name)
    os.environ.clear()
    _forget_own_modules(fast_exit)
    fast_exit.note()
    options = PoolOptions(
        path=config["socket"],
        runs=config["runs"],
        life_line=_LIFE_LINE,
        spares=_SPARES,
        most_spares=_SPARES,
        runs_outlive=True,
        runs_each=_RUNS_EACH,
        execute=_become_script,
    )
    try:
        launch(options, config["flags"])
    except BecomeScript as script:
        argv, environment, gate = script.argv, script.environment, script.gate
        # Keeps the object alive, because freeing its frames would delay the start.
        fast_exit.keep(script)
    else:
        os._exit(0)
    _start_afresh(argv, environment)
    fast_exit.begin()
    gate.wait()
    os.closerange(3, 4096)
    _renew_modules()
    gc.enable()


def _move_to_environment(python: str) -> None:
    """Replaces the bare environment's paths with the paths of the script's environment.

    Only `site` reads these paths, inside the sandbox. Before Python 3.14, `sys.prefix` names the base installation
    until `site` has run.

    @param python the path of the script's interpreter
    """
    bare, prefix = (os.path.dirname(os.path.dirname(path)) for path in (sys.executable, python))
    for name in ("executable", "_base_executable", "prefix", "exec_prefix"):
        path = getattr(sys, name)
        if path == bare or path.startswith(bare + "/"):
            setattr(sys, name, prefix + path[len(bare) :])


def _preload(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        # This interpreter does not have the module.
        pass


def _become_script(
    _program: bytes, argv: List[bytes], environment: Dict[bytes, bytes], gate: StartGate
) -> None:
    raise BecomeScript(argv, environment, gate)


def _start_afresh(argv: List[bytes], environment: Dict[bytes, bytes]) -> None:
    """Resets this process to the state of a newly started interpreter."""
    if syscalls.AVAILABLE:
        # Even without this access, a process can read its own /proc after execve.
        syscalls.set_dumpable(True)
    _set_signal(_SIGINT, signal.default_int_handler)
    _set_signal(_SIGPIPE, _IGNORED)
    _set_signal(_SIGXFSZ, _IGNORED)
    for name, value in environment.items():
        os.environb[name] = value
    if b"TZ" in environment:
        time.tzset()
    words = [os.fsdecode(word) for word in argv]
    sys.argv[:] = words[1:]
    getattr(sys, "orig_argv", [])[:] = words
    # Excludes the existing objects from the script's garbage collections.
    gc.freeze()


def _renew_modules() -> None:
    """Updates values that modules compute at import time."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging._startTime = time.time_ns() if sys.version_info >= (3, 13) else time.time()
    threading = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()


def _forget_own_modules(fast_exit: FastExit) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in _OWN]:
        fast_exit.keep(sys.modules.pop(name))
    sys.path.remove(_HERE)
    for path in [path for path in sys.path_importer_cache if path.startswith(_HERE)]:
        del sys.path_importer_cache[path]
