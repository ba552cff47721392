"""The Python SDK of the Script Orchestration Service.

    from orchestrator import Platform

    platform = Platform()
    token = platform.secrets.get("API_TOKEN")

Uses the standard library only. Outside the platform, for example on a laptop, it works in local mode.
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

# Makes tracebacks and recorded errors name the public module.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
