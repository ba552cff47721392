"""Greets the caller. One process serves many runs and imports this file once."""

import time

# Load large packages, models and data here: the process keeps them between runs.
started = time.monotonic()
greeted = 0


def handler(event, context):
    """Called for each run. The return value is the output of the run."""
    global greeted
    greeted += 1
    name = event["params"].get("name", "world")
    print(f"Hello, {name}!")
    return {"greeted": greeted, "age_seconds": round(time.monotonic() - started)}


if __name__ == "__main__":
    handler({"params": {}, "payload": None}, None)
