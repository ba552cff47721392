"""The one class that scripts use."""

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


class Platform:
    """The platform, as the run sees it. Made without arguments; as often as one likes."""

    def __init__(self) -> None:
        self._channel: AnyChannel = open_channel() or LocalChannel()
        self.secrets = Secrets(self._channel)
        self.storage = Storage(self._channel)
        self.state = State(self._channel)
        self.db = Database(self._channel)
        self.mqtt = Mqtt(self._channel)
        self._http: Any = None

    @property
    def is_local(self) -> bool:
        """Whether this is the local mode: the script does not run on the platform."""
        return isinstance(self._channel, LocalChannel)

    @property
    def run_id(self) -> Optional[str]:
        """Id of the run."""
        return os.environ.get("ORCH_RUN_ID")

    @property
    def script_id(self) -> Optional[str]:
        """Id of the script."""
        return os.environ.get("ORCH_SCRIPT_ID")

    @property
    def trigger_type(self) -> Optional[str]:
        """What started the run, such as `manual` or `schedule`."""
        return os.environ.get("ORCH_TRIGGER_TYPE")

    @property
    def attempt(self) -> int:
        """1, and one more for every retry."""
        return int(os.environ.get("ORCH_ATTEMPT", "1"))

    @property
    def params(self) -> Dict[str, Any]:
        """What the run was given."""
        params = json.loads(os.environ.get("ORCH_PARAMS") or "{}")
        if not isinstance(params, dict):
            raise InvalidRequest("ORCH_PARAMS is no JSON object")
        return params

    @property
    def http(self) -> Http:
        """Requests over HTTP."""
        if self._http is None:
            from ._http import Http

            self._http = Http()
        return self._http

    def output(self, value: Any) -> None:
        """What the run is to be shown with as its result: whatever JSON holds, at most 64 KiB.
        The last one counts."""
        self._channel.call("output", {"value": value})

    def progress(self, fraction: float, text: str = "") -> None:
        """How far the run is, from 0 to 1, and what it does."""
        self._channel.call("progress", {"fraction": float(fraction), "text": text})

    def notify(self, message: str, level: str = "info") -> None:
        """Tells the people of the script's group.

        @param level `info`, `warning` or `error`
        @raises LimitReached when this run has said 100 things already
        """
        self._channel.call("notify", {"message": message, "level": level})

    def run(
        self,
        script_id: str,
        params: Optional[Dict[str, Any]] = None,
        when_busy: str = "refuse",
    ) -> str:
        """Starts a run of a script of the same group. It is not waited for.

        @param when_busy `refuse` or `queue`: what is to be done when the script has no free slot
        @returns the id of the run
        @raises NotFound where the group has no such script
        @raises Refused when the script is disabled or busy, or runs have asked for runs too often
        """
        args = {"script_id": script_id, "params": params, "when_busy": when_busy}
        return str(self._channel.call("run", args)["run_id"])
