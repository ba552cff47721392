"""The benchmark's script as a Prefect flow. Writes the time of each run to the file named by the first argument."""

import sys
import time

from prefect import flow


@flow
def job(file: str):
    with open(file, "a") as lines:
        print(time.time(), file=lines)


if __name__ == "__main__":
    job.serve(name="bench", limit=8, parameters={"file": sys.argv[1]}, print_starting_message=False)
