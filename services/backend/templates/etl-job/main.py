"""Reads orders from a CSV file, adds them up by country and writes the result as CSV and JSON."""
import csv
import json
import os
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Iterable, Iterator, NamedTuple

HERE = Path(__file__).parent


class Order(NamedTuple):
    country: str
    amount: Decimal


def extract(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def transform(rows: Iterable[dict[str, str]]) -> tuple[list[Order], int]:
    """Returns the valid orders, cleaned, and the number of invalid rows."""
    orders, rejected = [], 0
    for row in rows:
        try:
            country = row["country"].strip().upper()
            order = Order(country, Decimal(row["quantity"]) * Decimal(row["price"]))
        except (KeyError, AttributeError, TypeError, InvalidOperation):
            rejected += 1
            continue
        orders.append(order)
    return orders, rejected


def totals(orders: Iterable[Order]) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for order in orders:
        sums[order.country] += order.amount
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def load(result: dict[str, Decimal], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / "totals.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["country", "total"])
        writer.writerows(result.items())
    text = json.dumps({country: str(total) for country, total in result.items()}, indent=2)
    (folder / "totals.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    params = json.loads(os.environ.get("ORCH_PARAMS") or "{}") or {}
    source = HERE / params.get("source", "orders.csv")
    orders, rejected = transform(extract(source))
    result = totals(orders)
    load(result, HERE / "out")
    print(f"{len(orders)} orders, {rejected} rows rejected")
    for country, total in result.items():
        print(f"{country:<3}{total:>10.2f}")


if __name__ == "__main__":
    main()
