"""GET over HTTP, from the sandbox itself."""

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
    """An answer with a status below 400."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, in the encoding that the answer names; else UTF-8."""
        kind = self.headers.get("content-type", "")
        _, _, charset = kind.partition("charset=")
        try:
            return self.body.decode(charset.split(";")[0].strip(" \"'") or "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON. @raises ValueError when it is none."""
        return json.loads(self.body)


class Http:
    """Requests over HTTP."""

    def get(
        self,
        url: str,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 30.0,
        retries: int = 2,
        max_bytes: int = 10 * 1024 * 1024,
    ) -> Response:
        """Gets `url`. What may go well the next time is tried again, after a growing pause.

        @param timeout seconds without anything from the server
        @param retries attempts after the first
        @raises HttpError when no answer came or its status is 400 and above
        @raises LimitReached when the body has more than `max_bytes`
        """
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise InvalidRequest(f"not an address of http or https: {url}")
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
            raise HttpError(f"the server answered {error.code}", error.code) from error
    except (OSError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", error)
        raise HttpError(f"no answer: {reason}") from error
    if len(body) > max_bytes:
        raise LimitReached(f"the body has more than {max_bytes} bytes")
    return Response(status, headers, body)
