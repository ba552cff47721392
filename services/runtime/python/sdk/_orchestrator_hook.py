"""Reports how the main process of a run fails.

A path file in the environment imports this module before the script starts. The module is small, because each run
imports it. It does nothing until the interpreter exits after a failure.
"""

import _sitebuiltins
import atexit
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST_FRAMES = 50
_raise_exit = sys.exit
_main_process = os.getpid()
# The last failing `sys.exit` call: its status, its frames as text, and the exception that the script was handling.
# Frames are stored as text, because frame objects would keep the script's objects alive. The status and the exception
# also keep objects alive, but only until the next call, and only in a script that continues after the call.
_last_exit = []


def exit(status=None, /):
    """Exit the interpreter by raising SystemExit(status).

    If the status is omitted or None, it defaults to zero (i.e., success). If the status is an integer, it will be
    used as the system exit status. If it is another kind of object, it will be printed and the system exit status
    will be one (i.e., failure).
    """
    frames, frame = [], sys._getframe(1)
    while frame is not None and len(frames) < _MOST_FRAMES:
        code = frame.f_code
        frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    # A status of any other type makes the process exit with code 1.
    failed = status != 0 if isinstance(status, int) else status is not None
    _last_exit[:] = (status, frames[::-1], sys.exc_info()[1]) if failed else ()
    _raise_exit(status)


# Gives the function the identity of the original, for example for pickle.
exit.__module__ = "sys"


def _quit(_quitter, code=None):
    try:
        sys.stdin.close()
    except Exception:
        pass
    exit(code)


def _report():
    # The interpreter sets this attribute before it calls the script's hook for uncaught exceptions.
    error = getattr(sys, "last_value", None)
    if (error is None and not _last_exit) or os.getpid() != _main_process:
        return
    loaded = getattr(sys.modules.get("orchestrator"), "__file__", None)
    if loaded and not loaded.startswith(_HERE):
        # One of the script's modules has the same name as the package.
        return
    try:
        sys.path.insert(0, _HERE)
        from orchestrator import _report as report

        report.send(report.describe(error) if error is not None else report.describe_exit(*_last_exit))
    except BaseException:
        # If the report fails, the platform reads the traceback from the log instead.
        pass


def install():
    """Installs the hook. Call this function once, in the main process of a run."""
    # Removes the variable, so that processes started by the script do not report.
    del os.environ["ORCH_REPORT_ERRORS"]
    sys.exit = exit
    # Replaces the built-in functions `exit` and `quit`, which are created after this call.
    _sitebuiltins.Quitter.__call__ = _quit
    atexit.register(_report)
