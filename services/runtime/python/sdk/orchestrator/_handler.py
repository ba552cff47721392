"""Loads the handler of a script and calls it. Used by the platform and in local mode."""

from __future__ import annotations

import datetime
import json
import os
import sys
import traceback
from types import ModuleType, TracebackType
from typing import Any, Awaitable, Callable, Dict, Optional

_HERE = os.path.dirname(os.path.abspath(__file__))


class HandlerError(Exception):
    """The script has no usable handler, or the handler returned no JSON value."""

    # Shown in reported errors. The platform loads this file under another module name.
    __module__ = "orchestrator"


class Context:
    """The context of a run.

    `run_id` is the ID of the run. `deadline` is the time at which the time limit ends the run;
    None without a limit.
    """

    def __init__(self, run_id: Optional[str], wall_clock_seconds: Optional[float]) -> None:
        self.run_id = run_id
        self.deadline: Optional[datetime.datetime] = None
        if wall_clock_seconds is not None:
            now = datetime.datetime.now(datetime.timezone.utc)
            self.deadline = now + datetime.timedelta(seconds=wall_clock_seconds)
        self._platform: Any = None

    @property
    def platform(self) -> Any:
        """The `Platform` of the run."""
        if self._platform is None:
            from orchestrator import Platform

            self._platform = Platform()
        return self._platform


class Handler:
    """The function `handler(event, context)` of an entry point, which is imported once."""

    def __init__(self, entrypoint: str) -> None:
        """@raises HandlerError if the entry point defines no such function"""
        self._name = os.path.basename(entrypoint)
        self._function = _usable(_load(entrypoint), self._name)
        self._loop: Any = None

    def call(self, event: Dict[str, Any], context: Context) -> None:
        """Calls the handler. Sets the result as the output of the run, unless the result is None.

        @raises HandlerError if the result is not a JSON value
        """
        result = self._function(event, context)
        if hasattr(result, "__await__"):
            result = self._wait_for(result)
        if result is not None:
            self._check_output(result)
            context.platform.output(result)

    def _wait_for(self, result: Awaitable[Any]) -> Any:
        # All runs share one event loop, so that the handler's connections stay usable.
        if self._loop is None:
            # Imported only if necessary: most handlers do not need it, and its import takes a long time.
            import asyncio

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(result)

    def _check_output(self, result: Any) -> None:
        try:
            json.dumps(result, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise HandlerError(
                f"{self._name}: handler returned {type(result).__name__}, which cannot be the output of the run "
                f"({error}). Return None or a JSON value: dict, list, str, int, float or bool."
            ) from None


def report_error(error: BaseException) -> None:
    """Prints the traceback of the script to standard error, or the message of a `HandlerError`."""
    if isinstance(error, HandlerError):
        print(f"HandlerError: {error}", file=sys.stderr)
    else:
        error.__traceback__ = _without_own_frames(error.__traceback__)
        traceback.print_exception(type(error), error, error.__traceback__)


def _without_own_frames(trace: Optional[TracebackType]) -> Optional[TracebackType]:
    rest = trace
    while rest is not None and _is_own(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    return rest or trace


def _is_own(path: str) -> bool:
    # For an async handler, frames of the event loop come between this module and the script.
    return (
        os.path.dirname(path) == _HERE
        or os.path.basename(os.path.dirname(path)) == "asyncio"
    )


def _load(entrypoint: str) -> Any:
    name = os.path.splitext(os.path.basename(entrypoint))[0]
    if not entrypoint.endswith(".py"):
        raise HandlerError(f"{entrypoint} cannot have a handler. Use an entry point that ends with .py.")
    path = os.path.abspath(entrypoint)
    module = ModuleType(name)
    module.__file__ = path
    # Pickled functions and classes of the script refer to their module by its name.
    sys.modules[name] = module
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(module))
    return module


def _usable(module: Any, name: str) -> Callable[[Any, Any], Any]:
    import inspect

    function = getattr(module, "handler", None)
    if not callable(function):
        raise HandlerError(f"{name} defines no handler. Add the function: def handler(event, context)")
    try:
        inspect.signature(function).bind({}, None)
    except TypeError:
        raise HandlerError(
            f"{name}: handler does not accept two arguments. Change its signature to: "
            "def handler(event, context)"
        ) from None
    except ValueError:
        # A function in C without a signature.
        pass
    return function  # type: ignore[no-any-return]
