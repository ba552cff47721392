"""Enqueues one job per line of standard input, and prints the line and the job's result when the job has finished."""

import sys
from concurrent.futures import ThreadPoolExecutor

from redis import Redis
from rq import Queue

queue = Queue(connection=Redis(port=int(sys.argv[1])))


def run(line):
    job = queue.enqueue("jobs.job")
    result = job.latest_result(timeout=60)
    print(line, result.return_value, flush=True)


with ThreadPoolExecutor(max_workers=64) as threads:
    for line in sys.stdin:
        threads.submit(run, line.strip())
