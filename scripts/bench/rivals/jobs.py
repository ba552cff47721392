"""The benchmark's script as a function for RQ."""

import time


def job():
    return time.time()
