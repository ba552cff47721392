"""The main class of the SDK."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Optional

from ._channel import open_channel
from ._errors import InvalidRequest
from ._local import LocalChannel
from ._parts import AnyChannel, Database, Mqtt, Secrets, State, Storage

if TYPE_CHECKING:
    from ._http import Http
    from ._spans import Span, SpanSender


class Platform:
    """Access to the platform for the current run. Needs no arguments. Instances are independent."""

    def __init__(self) -> None:
        self._channel: AnyChannel = open_channel() or LocalChannel()
        self.secrets = Secrets(self._channel)
        self.storage = Storage(self._channel)
        self.state = State(self._channel)
        self.db = Database(self._channel)
        self.mqtt = Mqtt(self._channel)
        self._http: Any = None
        self._spans: Optional[SpanSender] = None

    @property
    def is_local(self) -> bool:
        """Whether the script runs in local mode, outside the platform."""
        return self._channel.is_local

    @property
    def run_id(self) -> Optional[str]:
        """The ID of the run."""
        return os.environ.get("ORCH_RUN_ID")

    @property
    def script_id(self) -> Optional[str]:
        """The ID of the script."""
        return os.environ.get("ORCH_SCRIPT_ID")

    @property
    def trigger_type(self) -> Optional[str]:
        """What started the run, such as `manual` or `schedule`."""
        return os.environ.get("ORCH_TRIGGER_TYPE")

    @property
    def attempt(self) -> int:
        """The number of the attempt, which is 1 for the first attempt and increases by 1 with each retry."""
        return int(os.environ.get("ORCH_ATTEMPT", "1"))

    @property
    def params(self) -> Dict[str, Any]:
        """The parameters of the run."""
        params = json.loads(os.environ.get("ORCH_PARAMS") or "{}")
        if not isinstance(params, dict):
            raise InvalidRequest("ORCH_PARAMS is not a JSON object")
        return params

    @property
    def http(self) -> Http:
        """HTTP requests."""
        if self._http is None:
            from ._http import Http

            self._http = Http()
        return self._http

    def output(self, value: Any) -> None:
        """Sets the output of the run: a JSON value of at most 64 KiB. Replaces an earlier output."""
        self._channel.call("output", {"value": value})

    def progress(self, fraction: float, text: str = "") -> None:
        """Reports the progress of the run, from 0 to 1, with an optional text. @raises InvalidRequest"""
        try:
            number = float(fraction)
        except (TypeError, ValueError) as error:
            raise InvalidRequest("platform.progress takes a number from 0 to 1") from error
        self._channel.call("progress", {"fraction": number, "text": text})

    def span(self, name: str, /, **attributes: Any) -> Span:
        """Shows the following block in the timeline of the run: `with platform.span("fetch", url=url):`.

        Spans nest. An exception that leaves the block marks the span as failed. Each thread starts without an
        active span, while asyncio tasks inherit the active span.

        @param attributes text, numbers, booleans or None, at most 32 attributes and 4 KiB in total
        @raises InvalidRequest if the name or an attribute is not valid
        """
        from ._spans import Span, SpanSender

        if self._spans is None:
            self._spans = SpanSender(self._channel)
        return Span(self._spans, name, attributes)

    def report(self, error: BaseException) -> None:
        """Records a handled exception, which becomes the error of the run if the run fails afterwards.

        Uncaught exceptions need no call. Only the last reported exception is used. A text of more than 32,768
        characters is replaced with its length.

        @raises InvalidRequest if `error` is not an exception
        """
        if not isinstance(error, BaseException):
            raise InvalidRequest("platform.report takes an exception")
        from ._report import describe

        self._channel.call("error", {"error": describe(error)})

    def notify(self, message: str, level: str = "info") -> None:
        """Sends a notification to the users of the script's group.

        @param level `info`, `warning` or `error`
        @raises LimitReached if the run has already sent 100 notifications
        """
        self._channel.call("notify", {"message": message, "level": level})

    def run(
        self,
        script_id: str,
        params: Optional[Dict[str, Any]] = None,
        when_busy: str = "refuse",
    ) -> str:
        """Starts a run of a script in the same group, without waiting for it.

        @param when_busy `refuse` or `queue`: what to do if the script has no free slot
        @returns the ID of the run
        @raises NotFound if the group has no such script
        @raises Refused if the script is disabled or busy, or the chain of runs is too long
        """
        args = {"script_id": script_id, "params": params, "when_busy": when_busy}
        return str(self._channel.call("run", args)["run_id"])
