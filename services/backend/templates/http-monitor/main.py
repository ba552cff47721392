"""Checks that web addresses answer, and how fast; fails where one does not."""
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIMEOUT_SECONDS = 10.0
SLOW_SECONDS = 2.0


def check(url: str) -> tuple[bool, str]:
    """Whether the address answers well, and what to say about it."""
    started = time.perf_counter()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            response.read()
            status = response.status
    except urllib.error.HTTPError as error:
        return False, f"answered {error.code}"
    except OSError as error:
        return False, f"did not answer: {error}"
    seconds = time.perf_counter() - started
    remark = ", slow" if seconds > SLOW_SECONDS else ""
    return True, f"{status} in {seconds * 1000:.0f} ms{remark}"


class Demo(BaseHTTPRequestHandler):
    """A web page to check while no addresses are given."""

    def do_GET(self) -> None:
        body = b"all is well\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def demo_target():
    """Serves the demo page on this machine alone; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Demo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


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
    print("No addresses are given, so a page of this run's own is checked.")
    with demo_target() as url:
        return monitor([url])


if __name__ == "__main__":
    sys.exit(main())
