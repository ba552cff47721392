"""Everything that the package raises on purpose."""

from __future__ import annotations

from typing import Dict, Type


class OrchestratorError(Exception):
    """The base of all of them."""


class InvalidRequest(OrchestratorError):
    """The call cannot be carried out as it was made; its message says why."""


class LimitReached(OrchestratorError):
    """What was to be stored or sent is more than is taken."""


class NotFound(OrchestratorError, LookupError):
    """There is nothing of this name."""


class Refused(OrchestratorError):
    """The platform does not do this now, such as to start a script that is disabled."""


class QueryFailed(OrchestratorError):
    """The database did not carry out the query; its message says why."""


class Unavailable(OrchestratorError):
    """The platform cannot do this at the moment; it may later."""


class NotOnPlatform(OrchestratorError):
    """Only the platform can do this, and the script does not run there."""


class HttpError(OrchestratorError):
    """No answer came, or one with a status of 400 and above.

    `status` is None where none came.
    """

    def __init__(self, message: str, status: "int | None" = None) -> None:
        super().__init__(message)
        self.status = status


BY_CODE: Dict[str, Type[OrchestratorError]] = {
    "invalid_request": InvalidRequest,
    "limit_reached": LimitReached,
    "not_found": NotFound,
    "query_failed": QueryFailed,
    "refused": Refused,
    "unavailable": Unavailable,
}
