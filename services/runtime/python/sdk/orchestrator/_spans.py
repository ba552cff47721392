"""A run's spans: named, nested periods that the platform shows as a timeline."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Type, Union

from ._channel import encoded
from ._errors import InvalidRequest

if TYPE_CHECKING:
    from ._parts import AnyChannel

_MAX_SPANS = 1000
_MAX_NAME_LENGTH = 200
_MAX_ATTRIBUTES = 32
_MAX_ATTRIBUTES_BYTES = 4096
_SPANS_PER_CALL = 50
_TOO_MANY = f"a run records at most {_MAX_SPANS} spans; further spans are dropped"
# Larger integers are converted to text, because many JSON parsers lose their last digits.
_MAX_EXACT_INTEGER = 2**53

Value = Union[str, int, float, bool, None]

# The active span in this thread or asyncio task.
_active: ContextVar[Optional[str]] = ContextVar("orchestrator_span", default=None)


class Span:
    """One period of a run: the duration of a `with` block."""

    def __init__(self, sender: SpanSender, name: str, attributes: Dict[str, Any]) -> None:
        if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME_LENGTH:
            raise InvalidRequest(f"the name of a span must be text of 1 to {_MAX_NAME_LENGTH} characters")
        self._sender = sender
        self._name = name
        self._attributes: Dict[str, Value] = {}
        self._id: Optional[str] = None
        self._parent: Optional[str] = None
        self._token: Optional[Token[Optional[str]]] = None
        self._is_recorded = False
        self._started_at = 0.0
        self._started = 0.0
        self.set(**attributes)

    def set(self, /, **attributes: Any) -> None:
        """Adds attributes, or replaces them. They are stored when the block ends.

        Text, finite numbers, booleans and None are kept. Any other value is converted with `str`. A value that cannot
        be converted is replaced with its type.

        @raises InvalidRequest if a number is not finite, or if there are more than 32 attributes or 4 KiB of attributes
        """
        merged = {**self._attributes, **{key: _plain(key, value) for key, value in attributes.items()}}
        if len(merged) > _MAX_ATTRIBUTES:
            raise InvalidRequest(f"a span has at most {_MAX_ATTRIBUTES} attributes")
        if len(encoded(merged)) > _MAX_ATTRIBUTES_BYTES:
            raise InvalidRequest(f"the attributes of a span exceed {_MAX_ATTRIBUTES_BYTES} bytes as JSON")
        self._attributes = merged

    def __enter__(self) -> Span:
        if self._id is not None:
            raise InvalidRequest("a span can be entered only once; call platform.span again")
        self._id = os.urandom(8).hex()
        self._parent = _active.get()
        self._started_at = time.time()
        self._started = time.perf_counter()
        self._token = _active.set(self._id)
        self._is_recorded = self._send(None, False)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        _traceback: Optional[TracebackType],
    ) -> None:
        try:
            if self._token is not None:
                _active.reset(self._token)
        except ValueError:
            # The token is invalid if the block ended in another context, such as another task.
            _active.set(self._parent)
        # Closing a generator early or exiting with code 0 is not a failure.
        is_expected = isinstance(error, GeneratorExit) or (
            isinstance(error, SystemExit) and error.code in (None, 0)
        )
        failed = kind is not None and not is_expected
        if failed and kind is not None and "exception.type" not in self._attributes:
            # Records no message. A truncated message could end with a partial secret that the platform does not
            # recognize.
            self._attributes["exception.type"] = kind.__qualname__[:_MAX_NAME_LENGTH]
        if self._is_recorded:
            self._send(self._started_at + time.perf_counter() - self._started, failed)

    def _send(self, ended_at: Optional[float], failed: bool) -> bool:
        return self._sender.send(
            {
                "id": self._id,
                "parent_id": self._parent,
                "name": self._name,
                "started_at": self._started_at * 1000,
                "ended_at": None if ended_at is None else ended_at * 1000,
                "failed": failed,
                "attributes": dict(self._attributes),
            }
        )


class SpanSender:
    """Sends spans from a separate thread, so that each span only delays the script by microseconds."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel
        self._warned = False
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._pending: Dict[str, Dict[str, Any]] = {}
        self._known = 0
        self._is_sending = False

    def send(self, span: Dict[str, Any]) -> bool:
        """Sends the start or the end of a span. Never raises.

        @returns False if the span is dropped
        """
        if self._channel.is_local:
            self._call([span])
            return True
        if self._process != os.getpid():
            # In a forked child, discards the parent's unsent spans, and a lock that might never be released.
            self._reset()
        with self._lock:
            if span["ended_at"] is None and self._known >= _MAX_SPANS:
                # The platform would also drop the span.
                is_dropped, must_start = True, False
            else:
                self._known += span["ended_at"] is None
                self._pending[span["id"]] = span
                is_dropped, must_start = False, not self._is_sending
                self._is_sending = True
        if is_dropped:
            self._warn(_TOO_MANY)
        if must_start:
            self._start()
        return not is_dropped

    def _start(self) -> None:
        try:
            # Not a daemon thread: the interpreter waits for the thread at exit, so that no span is lost.
            threading.Thread(target=self._work, name="orchestrator-spans").start()
        except RuntimeError:
            # No thread can be started, because there are too many or the interpreter is exiting.
            self._work()

    def _work(self) -> None:
        while True:
            with self._lock:
                ids = list(self._pending)[:_SPANS_PER_CALL]
                spans = [self._pending.pop(one) for one in ids]
                if not spans:
                    self._is_sending = False
                    return
            self._call(spans)

    def _call(self, spans: List[Dict[str, Any]]) -> None:
        try:
            answer = self._channel.call("spans", {"spans": spans})
        except Exception as error:  # A span failure must not break the script.
            self._warn(f"spans could not be sent: {error}")
            return
        if answer and answer["dropped"]:
            self._warn(_TOO_MANY)

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            print(f"[orchestrator] {text}", file=sys.stderr, flush=True)


def _plain(key: str, value: Any) -> Value:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidRequest(f"the attribute {key!r} is not a finite number")
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int) and abs(value) <= _MAX_EXACT_INTEGER:
        return int(value)
    try:
        return str(value)
    except Exception:  # Spans must not break the script.
        return f"<{type(value).__qualname__}>"
