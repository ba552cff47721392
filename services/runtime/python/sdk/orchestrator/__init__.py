"""What a script may ask of the platform that runs it.

    from orchestrator import Platform

    platform = Platform()
    token = platform.secrets.get("API_TOKEN")

Standard library only. Away from the platform, as on a laptop, it works in a local mode that says so.
"""

from ._errors import (
    HttpError,
    InvalidRequest,
    LimitReached,
    NotFound,
    NotOnPlatform,
    OrchestratorError,
    QueryFailed,
    Refused,
    Unavailable,
)
from ._platform import Platform

__all__ = [
    "HttpError",
    "InvalidRequest",
    "LimitReached",
    "NotFound",
    "NotOnPlatform",
    "OrchestratorError",
    "Platform",
    "QueryFailed",
    "Refused",
    "Unavailable",
]
