#!/usr/bin/env python3
"""Two solves of one problem by bin/sparqr: compare.py "A [--rhs FILE] [--transpose]" X1 REPORT1 X2 REPORT2.

Equal: the rank, the residual norm and A x, both to 100 eps max(m, n) (||A||_F ||x|| + ||r||); for problems of the
gallery, which are not read here, x to 1e-8 of its norm, where the rank is full.  Exits with 1 if they differ.
"""
import gzip
import json
import math
import sys


def lines(name):
    with (gzip.open if name.endswith(".gz") else open)(name, "rt", encoding="ascii") as f:
        yield from f


def vector(name):
    values = [line for line in lines(name) if not line.startswith("%")]
    return [float(line) for line in values[1:]]


def entries(name):
    """(i, j, value) of a Matrix Market or libsvm file, from 0."""
    if ".svm" in name:
        for i, line in enumerate(lines(name)):
            for entry in line.split("#")[0].split()[1:]:
                j, value = entry.split(":")
                yield i, int(j) - 1, float(value)
        return
    file = lines(name)
    kind = next(file).lower().split()
    if kind[4] != "general" and (kind[2] == "array" or kind[4] != "symmetric"):
        sys.exit(f"{name}: not read here: {' '.join(kind)}")
    entry = (line.split() for line in file if line.strip() and not line.startswith("%"))
    size = [int(s) for s in next(entry)]
    if kind[2] == "array":
        for k, (value,) in enumerate(entry):
            yield k % size[0], k // size[0], float(value)
        return
    for e in entry:
        i, j, value = int(e[0]) - 1, int(e[1]) - 1, float(e[2]) if len(e) > 2 else 1.0
        yield i, j, value
        if kind[4] == "symmetric" and i != j:
            yield j, i, value


def norm(v):
    return math.sqrt(math.fsum(e * e for e in v))


problem, *files = sys.argv[1:]
x, y = vector(files[0]), vector(files[2])
with open(files[1], encoding="utf-8") as f:
    r = json.load(f)
with open(files[3], encoding="utf-8") as f:
    s = json.load(f)
d = [a - b for a, b in zip(x, y)]
residuals = abs(r["residualNorm"] - s["residualNorm"])
matrix, *options = problem.split()
if matrix.startswith("gen:"):
    difference, allowed, what = norm(d) / (norm(x) or 1.0), 1e-8, "x"
    close = residuals <= 1e-10 * (1 + r["residualNorm"]) and (difference <= allowed or r["rank"] < r["columns"])
else:
    product, square = [0.0] * r["rows"], 0.0
    for i, j, value in entries(matrix):
        if "--transpose" in options:
            i, j = j, i
        product[i] += value * d[j]
        square += value * value
    scale = (math.sqrt(square) * norm(x) + r["residualNorm"]) or 1.0
    difference, what = norm(product) / scale, "A x"
    allowed = 100 * sys.float_info.epsilon * max(r["rows"], r["columns"])
    close = difference <= allowed and residuals <= allowed * scale
same = len(x) == len(y) and r["rank"] == s["rank"] and close
for report in (r, s):
    seconds = report["seconds"]
    print(
        f"{problem} | {report['backend'].split(':')[0]} | {report['rank']} of {report['columns']} |"
        f" {report['residualNorm']:.12e} | {report['normalResidual']:.1e} | "
        + " ".join(f"{seconds[k]:.2f}" for k in ("read", "pattern", "order", "analyze", "plan", "assemble"))
        + f" {seconds['factorize']:.3f} {seconds['solve']:.2f} {seconds['total']:.2f} | {report['peakDeviceBytes'] >> 20}"
        f" | {', '.join(report['devices'])}"
    )
print(f"{problem} | {what} differs by {difference:.1e} of {allowed:.1e}: {'same' if same else 'DIFFERENT'}")
sys.exit(0 if same else 1)
