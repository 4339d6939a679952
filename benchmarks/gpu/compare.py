#!/usr/bin/env python3
"""Two solves of one problem by bin/sparqr: compare.py PROBLEM X1 REPORT1 X2 REPORT2; exits with 1 if they differ.

Equal: the rank, the residual norm to 1e-10, and, where the rank is full (x is unique then), x to 1e-8 of its norm.
"""
import json
import math
import sys


def vector(name):
    with open(name, encoding="ascii") as f:
        lines = [line for line in f if not line.startswith("%")]
    return [float(line) for line in lines[1:]]


def norm(v):
    return math.sqrt(math.fsum(e * e for e in v))


problem, *files = sys.argv[1:]
x, y = vector(files[0]), vector(files[2])
with open(files[1], encoding="utf-8") as f:
    r = json.load(f)
with open(files[3], encoding="utf-8") as f:
    s = json.load(f)
difference = norm([a - b for a, b in zip(x, y)]) / (norm(x) or 1)
full = r["rank"] == r["columns"]
same = (
    len(x) == len(y)
    and r["rank"] == s["rank"]
    and abs(r["residualNorm"] - s["residualNorm"]) <= 1e-10 * (1 + r["residualNorm"])
    and (difference <= 1e-8 or not full)
)
for report in (r, s):
    seconds = report["seconds"]
    print(
        f"{problem} | {report['backend']} | rank {report['rank']} of {report['columns']} | residual norm"
        f" {report['residualNorm']:.12e} | check {report['normalResidual']:.1e} | factorize {seconds['factorize']:.3f} s,"
        f" total {seconds['total']:.2f} s | {', '.join(report['devices'])}"
    )
print(f"{problem} | x differs by {difference:.1e}{'' if full else ' (not unique)'}: {'same' if same else 'DIFFERENT'}")
sys.exit(0 if same else 1)
