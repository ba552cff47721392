"""The exceptions of the package."""

from __future__ import annotations

from typing import Dict, Type


class OrchestratorError(Exception):
    """The base class of all exceptions of this package."""


class InvalidRequest(OrchestratorError):
    """The call is invalid. The message gives the reason."""


class LimitReached(OrchestratorError):
    """The data exceeds a limit of the platform."""


class NotFound(OrchestratorError, LookupError):
    """The requested item does not exist."""


class Refused(OrchestratorError):
    """The platform rejected the call, for example to start a disabled script."""


class QueryFailed(OrchestratorError):
    """The query failed. The message gives the reason."""


class Unavailable(OrchestratorError):
    """The platform is temporarily unavailable. Try again later."""


class NotOnPlatform(OrchestratorError):
    """The call is not available in local mode."""


class HttpError(OrchestratorError):
    """The request failed, or its response has status 400 or higher.

    `status` is None if there was no response.
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
