"""Computes a year of due times with other programs, as the reference for the domain's tests:

    python3 -m pip install croniter==7.0.0 tzdata==2026.6
    python3 scripts/due-times.py > domain/testing/year-of-due-times.ts && make format

The script calls `croniter` twice. Without a zone, `croniter` returns local times, which `zoneinfo`
converts to points in time by the rules of the contract. A time in a gap moves forward by the gap's
length (PEP 495). A repeated time counts once, or twice for "every n". With the zone, `croniter`
returns the times that its own users get.
"""

import hashlib
import json
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import croniter

YEAR = 2028
ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # has no midnight on the day when daylight saving time starts
    "Australia/Lord_Howe",  # changes its clocks by half an hour
    "Asia/Kolkata",  # never changes its clocks; half an hour off UTC
]
# Cron expressions in the project's syntax, with croniter's syntax where it differs.
EXPRESSIONS = {
    "*/7 1-2 * * *": None,
    "30 2 * * *": None,
    "15 0 * * *": None,
    "0 */2 * * *": None,
    "45 * * * *": None,
    "10/15 3 * * *": "10-59/15 3 * * *",
    "5 4 * * SUN": None,
    "0 9-17 * * MON-FRI": None,
    "0 8 * * 1-5/2": None,
    "0 0 1,15 * 3": None,
    "0 0 L * *": None,
    "0 12 * * 5L": "0 12 * * L5",
    "0 12 * * FRI#2": None,
    "0 6 29 2 *": None,
    "30 1 * JAN,MAR-APR,OCT-NOV *": None,
    "20 10 2 * * *": None,
}
UTC = timezone.utc


def local_times(expression, start, end):
    """Returns the local times that match the expression, without a zone."""
    times = croniter(expression, start - timedelta(seconds=1), second_at_beginning=True)
    while (time := times.get_next(datetime)) < end:
        yield time


def by_the_rules(expression, zone, start, end):
    seconds_to_hours = expression.split()[: len(expression.split()) - 3]
    every_n = any(field.startswith("*") for field in seconds_to_hours)
    instants = set()
    for local in local_times(EXPRESSIONS[expression] or expression, start, end):
        instants.add(local.replace(tzinfo=zone, fold=0).astimezone(UTC))
        second = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
        if every_n and second.astimezone(zone).replace(tzinfo=None) == local:
            instants.add(second)
    return sorted(instants)


def by_croniter(expression, zone, start, end):
    first = start.replace(tzinfo=zone) - timedelta(seconds=1)
    times = croniter(EXPRESSIONS[expression] or expression, first, second_at_beginning=True)
    limit = end.replace(tzinfo=zone).astimezone(UTC)
    while (moment := times.get_next(datetime).astimezone(UTC)) < limit:
        yield moment


def changes(zone, start, end):
    """Returns the days on which the clocks change in a zone."""
    day = start
    while day < end:
        offsets = {
            (day + timedelta(minutes=15 * quarter)).replace(tzinfo=zone).utcoffset()
            for quarter in range(97)
        }
        if len(offsets) > 1:
            yield day.date()
        day += timedelta(days=1)


def text(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def row(expression, name):
    zone = ZoneInfo(name)
    start, end = datetime(YEAR, 1, 1), datetime(YEAR + 1, 1, 1)
    days = set(changes(zone, start, end))
    on_change = lambda moment: moment.astimezone(zone).date() in days
    ours = by_the_rules(expression, zone, start, end)
    theirs = list(by_croniter(expression, zone, start, end))
    usual = [text(moment) for moment in ours if not on_change(moment)]
    if usual != [text(moment) for moment in theirs if not on_change(moment)]:
        raise SystemExit(f"{expression} in {name} differs on a day without a clock change")
    return {
        "cron": expression,
        "timezone": name,
        "usualDays": len(usual),
        "sha256": hashlib.sha256("\n".join(usual).encode()).hexdigest(),
        "changeDays": " ".join(text(moment) for moment in ours if on_change(moment)),
        "croniter": " ".join(text(moment) for moment in theirs if on_change(moment)),
    }


print(f"""// Long because it is a table.
/** All due times of {YEAR} as other programs compute them, written by `scripts/due-times.py`. The programs agree on
 *  days without a clock change. On the other days, the contract and `croniter` have different rules. */

export interface YearOfDueTimes {{
  readonly cron: string;
  readonly timezone: string;
  /** Number of due times on days without a clock change. */
  readonly usualDays: number;
  /** SHA-256 of those due times, one per line. */
  readonly sha256: string;
  /** The due times on days with a clock change. */
  readonly changeDays: string;
  /** What `croniter` returns instead. */
  readonly croniter: string;
}}

export const year = {YEAR};

export const yearOfDueTimes: readonly YearOfDueTimes[] = [""")
for expression in EXPRESSIONS:
    for name in ZONES:
        print(f"  {json.dumps(row(expression, name))},")
print("];")
