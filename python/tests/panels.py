# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Data of the regression tests: real data if available, and a simulated panel."""

import csv
import gzip
import os
import pathlib
import random

from tests.spark import HOME

SEED = 20261123

# Data sets kept outside the repository; missing ones are left out.
_SHARED = pathlib.Path(os.environ.get("SPARQR_DATA", HOME.parent / "shared" / "data"))
_FILES = {"trade": "regression/trade.csv.gz", "publications": "regression/base_pub.csv.gz"}


def columns(name):
    """A data set as lists by column; None if it is missing."""
    if name == "panel":
        return panel(3000, 400, 40)
    file = HOME / "docs" / "guide" / "wages.csv" if name == "wages" else _SHARED / _FILES[name]
    if not file.exists():
        return None
    opened = gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else open(file, encoding="utf-8")
    with opened as lines:
        header, *rows = list(csv.reader(lines))
    return {name: typed(values) for name, *values in zip(header, *rows)}


def typed(values):
    """Integers, floats or strings, whichever fits all values."""
    for kind in (int, float):
        try:
            return [kind(v) for v in values]
        except ValueError:
            continue
    return values


def panel(rows, workers, firms):
    """Workers with spells at firms, effects of both, and errors shared by a worker's rows. No library's
    random generator.
    """
    draw = random.Random(SEED)
    ability = [draw.gauss(0, 1) for _ in range(workers)]
    premium = [draw.gauss(0, 0.5) for _ in range(firms)]
    shock = [draw.gauss(0, 0.3) for _ in range(workers)]
    made = {name: [] for name in ("worker", "firm", "x1", "x2", "w", "y")}
    at = [draw.randrange(firms) for _ in range(workers)]
    for _ in range(rows):
        # uneven: some workers occur only once
        i = min(draw.randrange(workers), draw.randrange(workers))
        if draw.random() < 0.15:
            at[i] = draw.randrange(firms)
        x1 = draw.gauss(ability[i], 1)
        x2 = draw.random() * 1000 + 1900
        y = 0.7 * x1 - 0.002 * x2 + ability[i] + premium[at[i]] + x1 * shock[i] + draw.gauss(0, 1 + abs(x1) / 2)
        values = (f"w{i}", at[i], x1, x2, draw.choice([0.5, 1.0, 2.0, 3.5]), y)
        for name, value in zip(made, values):
            made[name].append(value)
    return made
