"""HTTP GET requests, sent directly from the sandbox."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Mapping, NamedTuple, Optional

from ._errors import HttpError, InvalidRequest, LimitReached

_FIRST_PAUSE_SECONDS = 0.5
_AGAIN = (408, 425, 429, 500, 502, 503, 504)


class Response(NamedTuple):
    """A response whose status is below 400."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Returns the body as text, in the response's charset or UTF-8."""
        kind = self.headers.get("content-type", "")
        _, _, charset = kind.partition("charset=")
        try:
            return self.body.decode(charset.split(";")[0].strip(" \"'") or "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Parses the body as JSON. @raises ValueError if it is not valid JSON"""
        return json.loads(self.body)


class Http:
    """HTTP requests."""

    def get(
        self,
        url: str,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 30.0,
        retries: int = 2,
        max_bytes: int = 10 * 1024 * 1024,
    ) -> Response:
        """Sends a GET request. Temporary failures are retried with increasing delays.

        @param timeout seconds to wait for data from the server
        @param retries maximum number of retries
        @raises HttpError if there is no response or its status is 400 or higher
        @raises LimitReached if the body exceeds `max_bytes`
        """
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise InvalidRequest(f"not an HTTP or HTTPS URL: {url}")
        request = urllib.request.Request(url, headers=dict(headers or {}))
        request.add_header("User-agent", "orchestrator")
        for attempt in range(max(0, retries) + 1):
            try:
                return _get(request, timeout, max_bytes)
            except HttpError as error:
                last = attempt >= retries
                if last or not (error.status is None or error.status in _AGAIN):
                    raise
            time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
        raise AssertionError


def _get(request: urllib.request.Request, timeout: float, max_bytes: int) -> Response:
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            body = answer.read(max_bytes + 1)
            headers = {name.lower(): value for name, value in answer.headers.items()}
            status = answer.status
    except urllib.error.HTTPError as error:
        with error:
            raise HttpError(f"the server returned {error.code}", error.code) from error
    except (OSError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", error)
        raise HttpError(f"no response: {reason}") from error
    if len(body) > max_bytes:
        raise LimitReached(f"the body exceeds {max_bytes} bytes")
    return Response(status, headers, body)
