"""The keeper: an interpreter of one script's environment that is forked for each of its runs.

Started by the runtime as `{bare environment}/bin/python {workspace}/{entrypoint}` with `warm` on
PYTHONPATH and ORCH_KEEPER, a JSON object: `socket` and `runs` as for the launcher, its `flags`,
`python`, the path of the interpreter in the script's environment, and `modules` of the standard
library that the script imports. It does what a launcher does, and a script's process does not
execute a program in the end: it becomes what an interpreter is that has just been started, and goes
on as that (see warm/encodings and first_steps). Only the platform writes the bare environment, and
nothing of the script's environment or of the script is read outside the sandbox, so the keeper never
executes code that is not the platform's.

Descriptor 0 is /dev/null, 1 and 2 are pipes, as a run has them; 3 is the life line.
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
from typing import Dict, FrozenSet, List

from sandbox import kernel
from sandbox.first_steps import FirstSteps
from sandbox.held import Held
from sandbox.launching import Kind, launch
from sandbox.leaving import BecomeScript
from sandbox.spared import Spared

_LIFE_LINE = 3
# More are made when runs come together, and stay for a while.
_SPARES = 1
# Its memory grows a little with each.
_RUNS_EACH = 100
# Without the wrapper around them, which looks up what each number means.
_set_signal, _IGNORED = _signal.signal, int(signal.SIG_IGN)
_SIGINT, _SIGPIPE, _SIGXFSZ = int(signal.SIGINT), int(signal.SIGPIPE), int(signal.SIGXFSZ)
_HERE = os.path.dirname(os.path.abspath(__file__))
_OWN = ("sandbox", "keeper")


def keep(early: FrozenSet[str]) -> None:
    """Returns in the process of a script only, when that is to be executed.

    @param early names of the modules that every interpreter has by now
    """
    config = json.loads(os.environ["ORCH_KEEPER"])
    spared = Spared()
    _move_to_environment(config["python"])
    for name in config["modules"]:
        _preload(name)
    os.environ.clear()
    _forget_own_modules(spared)
    steps = FirstSteps(early)
    spared.note()
    kind = Kind(
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
        launch(kind, config["flags"])
    except BecomeScript as script:
        argv, environment, held = script.argv, script.environment, script.held
        # With what its frames hold: to free that costs more than to leave it.
        spared.keep(script)
    else:
        os._exit(0)
    _start_afresh(argv, environment)
    spared.begin()
    steps.take(lambda: _let_go(held))


def _move_to_environment(python: str) -> None:
    """Replaces the bare environment's paths by those of the script's, which only `site` reads, inside
    the sandbox. Before 3.14 `sys.prefix` is the base installation's until then.

    @param python path of the script's interpreter
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
        # This interpreter was built without it, or has it no more.
        pass


def _become_script(
    _program: bytes, argv: List[bytes], environment: Dict[bytes, bytes], held: Held
) -> None:
    raise BecomeScript(argv, environment, held)


def _start_afresh(argv: List[bytes], environment: Dict[bytes, bytes]) -> None:
    """Makes of this process what the interpreter would be if it had just been started."""
    if kernel.AVAILABLE:
        # As after an execution: the script may read its own /proc.
        kernel.set_dumpable(True)
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
    # What is kept of this must not be in the way of the script's own.
    gc.freeze()


def _let_go(held: Held) -> None:
    """From here on this process is the script's."""
    held.wait()
    os.closerange(3, 4096)
    _renew_modules()
    gc.enable()


def _renew_modules() -> None:
    """What modules noted when they were imported."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging._startTime = time.time_ns() if sys.version_info >= (3, 13) else time.time()
    threading = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()


def _forget_own_modules(spared: Spared) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in _OWN]:
        spared.keep(sys.modules.pop(name))
    sys.path.remove(_HERE)
    for path in [path for path in sys.path_importer_cache if path.startswith(_HERE)]:
        del sys.path_importer_cache[path]
