"""Checks whether web addresses respond, and how fast; fails if one does not."""
import json
import os
import sys
import time
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 10.0
SLOW_SECONDS = 2.0
# A data URL contains its page, so checking it needs no network.
DEMO = "data:text/plain,all%20is%20well"


def check(url: str) -> tuple[bool, str]:
    """Returns whether the address responds with success, and a message."""
    started = time.perf_counter()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            response.read()
            answer = str(response.status or "read")
    except urllib.error.HTTPError as error:
        return False, f"answered {error.code}"
    except OSError as error:
        return False, f"did not answer: {error}"
    seconds = time.perf_counter() - started
    remark = ", slow" if seconds > SLOW_SECONDS else ""
    return True, f"{answer} in {seconds * 1000:.0f} ms{remark}"


def monitor(urls: list[str]) -> int:
    results = {url: check(url) for url in urls}
    for url, (well, remark) in results.items():
        print(f"{'up  ' if well else 'DOWN'} {url} ({remark})")
    down = sum(not well for well, _ in results.values())
    print(f"{len(results) - down} of {len(results)} up")
    return 1 if down else 0


def main() -> int:
    params = json.loads(os.environ.get("ORCH_PARAMS") or "{}") or {}
    urls = params.get("urls") or os.environ.get("MONITOR_URLS", "").split()
    if urls:
        return monitor(urls)
    print("No addresses are given, so a page that needs no network is checked.")
    return monitor([DEMO])


if __name__ == "__main__":
    sys.exit(main())
