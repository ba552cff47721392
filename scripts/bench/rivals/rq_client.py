"""Enqueues one job per line of standard input. When the job has finished, prints the line and the job's result."""

import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

from redis import Redis
from rq import Queue

queue = Queue(connection=Redis(port=int(sys.argv[1])))


def run(line):
    try:
        job = queue.enqueue("jobs.job")
        result = job.latest_result(timeout=60)
        # Prints in one write, so that lines of several threads do not mix.
        print(f"{line} {result.return_value}\n", end="", flush=True)
    except Exception:
        traceback.print_exc()
        os._exit(1)


with ThreadPoolExecutor(max_workers=64) as threads:
    for line in sys.stdin:
        threads.submit(run, line.strip())
