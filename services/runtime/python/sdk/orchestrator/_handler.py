"""Loads and calls a script's handler, on the platform and in local mode."""

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
    """The script has no usable handler, or the handler returned a value that JSON cannot represent."""

    # The module name in reported errors, because the platform loads this file under another name.
    __module__ = "orchestrator"


class Context:
    """The context of a run.

    `run_id` is the run's ID. `deadline` is the time at which the time limit ends the run, or None if there is no limit.
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
        """The run's `Platform` object."""
        if self._platform is None:
            from orchestrator import Platform

            self._platform = Platform()
        return self._platform


class Handler:
    """The function `handler(event, context)` of an entry point, which is imported once."""

    def __init__(self, entrypoint: str) -> None:
        """Imports the entry point.

        @raises HandlerError if the entry point does not define this function
        """
        self._name = os.path.basename(entrypoint)
        self._function = _usable(_load(entrypoint), self._name)
        self._loop: Any = None

    def call(self, event: Dict[str, Any], context: Context) -> None:
        """Calls the handler. Sets its result as the run's output, unless the result is None.

        @raises HandlerError if JSON cannot represent the result
        """
        result = self._function(event, context)
        if hasattr(result, "__await__"):
            result = self._wait_for(result)
        if result is not None:
            self._check_output(result)
            context.platform.output(result)

    def _wait_for(self, result: Awaitable[Any]) -> Any:
        # All runs share one event loop, so that the handler's connections remain usable.
        if self._loop is None:
            # Imports asyncio only if necessary, because the import is slow and most handlers do not need asyncio.
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
    """Prints the script's traceback to standard error, or only the message of a `HandlerError`."""
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
    # For an async handler, event loop frames appear between this module and the script.
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
    # Pickled functions and classes from the script refer to their module by name.
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
        # Some functions that are written in C have no signature.
        pass
    return function  # type: ignore[no-any-return]
