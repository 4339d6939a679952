#!/usr/bin/env python3
"""Two solves of one problem by bin/sparqr: compare.py "A [--rhs FILE] [--transpose]" X1 REPORT1 X2 REPORT2.

The same are two answers whose ranks are equal, whose residual norms agree to RESIDUAL (and to rounding errors of
b - Ax where it vanishes), and each of which is backward stable by itself, whatever the other says:

    |a_j'(b - Ax)| <= UNITS eps ||a_j|| s,   s = ||b - Ax|| + ||b|| + ||D x||,   D = diag(||a_k||), for every column j,

as it is for the exact solution with columns that differ by UNITS eps of their norm (Higham 2002, section 20.3).  A dead
column may have lost a remainder of the rank tolerance; then that is added.  The residual norm of the report is that of
b - Ax, too.  No bound grows with the size of the problem.  Problems of the gallery are not read here: of them the
normal equations' residual of both reports, and x to GALLERY_X of its norm where the rank is full.

Exits with 1 if they differ, or if an answer has a NaN.
"""
import gzip
import json
import math
import sys

EPS = sys.float_info.epsilon
UNITS = 2000  # as the tests' Tolerances: 4.4e-13
RESIDUAL = 1e-11
GALLERY_X = 1e-11  # gallery problems are well conditioned: two orders on one CPU differ by 1e-15 to 1e-13


def lines(name):
    with (gzip.open if str(name).endswith(".gz") else open)(name, "rt", encoding="ascii") as f:
        yield from f


def vector(name):
    values = [line for line in lines(name) if line.strip() and not line.startswith("%")]
    return [float(line) for line in values[1:]]


def entries(name):
    """(i, j, value) of a Matrix Market or libsvm file, from 0."""
    if ".svm" in name or ".libsvm" in name:
        rows = list(lines(name))
        pairs = [[e.split(":") for e in row.split("#")[0].split()[1:]] for row in rows]
        first = min((int(j) for row in pairs for j, _ in row), default=1)
        for i, row in enumerate(pairs):
            for j, value in row:
                yield i, int(j) - min(first, 1), float(value)
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
    """2-norm; NaN where there is one."""
    most = max(map(abs, v), default=0.0)
    if most == 0 or not math.isfinite(most):
        return math.fsum(v) if any(map(math.isnan, v)) else most
    return most * math.sqrt(math.fsum((e / most) ** 2 for e in v))


def mix(z):
    """64 bits of 64: the generator of the default right-hand side."""
    mask = (1 << 64) - 1
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return z ^ (z >> 31)


def default_rhs(rows):
    """b of a problem without one: A ones + in row i ||a_i|| times a number that i decides."""
    b = []
    for i, row in enumerate(rows):
        uniform = (mix(i + 1) >> 11) * 2.0**-53 - 0.5
        b.append(sum(v for _, v in row) + (norm([v for _, v in row]) if row else 1.0) * uniform)
    return b


def read(problem, rows_of_report):
    """The rows of A as lists of (column, value), and b."""
    matrix, *options = problem.split()
    rows = [{} for _ in range(rows_of_report)]
    for i, j, value in entries(matrix):
        if "--transpose" in options:
            i, j = j, i
        rows[i][j] = rows[i].get(j, 0.0) + value
    rows = [list(row.items()) for row in rows]
    if "--rhs" in options:
        b = [0.0] * len(rows)
        for i, k, value in entries(options[options.index("--rhs") + 1]):
            if k == 0:
                b[i] += value
    elif ".svm" in matrix or ".libsvm" in matrix:
        b = [float(line.split("#")[0].split()[0]) for line in lines(matrix) if line.split("#")[0].split()]
    else:
        b = default_rhs(rows)
    return rows, b


class Measured:
    """What an answer leaves of the problem."""

    def __init__(self, rows, b, x, dead=()):
        columns = [[] for _ in x]
        r = []
        for row, label in zip(rows, b):
            r.append(math.fsum([label] + [-v * x[j] for j, v in row]))
            for j, v in row:
                columns[j].append((v, r[-1]))
        norms = [norm([v for v, _ in column]) for column in columns]
        self.residual = norm(r)
        self.size = norm(b) + norm([n * e for n, e in zip(norms, x)])
        self.live = self.dead = 0.0  # largest |a_j'r| / (||a_j|| s)
        dead = set(dead)
        scale = self.residual + self.size
        for j, (column, n) in enumerate(zip(columns, norms)):
            product = abs(math.fsum(v * e for v, e in column)) if n else 0.0
            error = product / n / scale if product else product
            if j in dead:
                self.dead = worse(self.dead, error)
            else:
                self.live = worse(self.live, error)


def worse(a, b):
    """The larger; NaN if either is."""
    return a if a > b or math.isnan(a) else b


def complaints(x, r, y, s, problem=None):
    """What keeps two answers (x, report r) and (y, s) from being the same: lines; none if nothing does.

    problem: rows and b; None where they are not read
    """
    found = []
    if len(x) != len(y) or r["rank"] != s["rank"]:
        found.append(f"ranks {r['rank']} and {s['rank']} of {len(x)} and {len(y)}")
        return found
    if not all(map(math.isfinite, [*x, *y])):
        return ["x is not finite"]
    bound = UNITS * EPS
    full = r["rank"] == r["columns"]
    size, drop = 0.0, 0.0
    for what, z, report in (("first", x, r), ("second", y, s)):
        if problem is None:
            normal = report["normalResidual"]
            if normal is not None and not normal <= bound and full:
                found.append(f"{what}: ||A'r|| / (||A|| ||r||) = {normal:.1e} of {bound:.1e}")
            continue
        m = Measured(*problem, z, report["deadColumns"])
        tolerance = 0.0 if full else max(0.0, report["tolerance"])
        if not m.live <= bound:
            found.append(f"{what}: |a_j'r| / (||a_j|| s) = {m.live:.1e} of {bound:.1e}")
        if not m.dead <= bound + tolerance:
            found.append(f"{what}: of a dead column {m.dead:.1e} of {bound + tolerance:.1e}")
        allowed = RESIDUAL * m.residual + bound * m.size
        if not abs(report["residualNorm"] - m.residual) <= allowed:
            found.append(f"{what}: ||b - Ax|| is {m.residual:.12e}, not {report['residualNorm']:.12e}")
        size, drop = max(size, m.size), max(drop, tolerance)
    allowed = RESIDUAL * r["residualNorm"] + (bound + drop) * size
    if not abs(r["residualNorm"] - s["residualNorm"]) <= allowed:
        found.append(f"residual norms {r['residualNorm']:.12e} and {s['residualNorm']:.12e}, {allowed:.1e} allowed")
    if problem is None and full:
        difference = norm([a - b for a, b in zip(x, y)])
        if not difference <= GALLERY_X * norm(x):
            found.append(f"x differs by {difference / (norm(x) or 1.0):.1e} of {GALLERY_X:.1e}")
    return found


def main(problem, *files):
    x, y = vector(files[0]), vector(files[2])
    with open(files[1], encoding="utf-8") as f:
        r = json.load(f)
    with open(files[3], encoding="utf-8") as f:
        s = json.load(f)
    found = complaints(x, r, y, s, None if problem.startswith("gen:") else read(problem, r["rows"]))
    for report in (r, s):
        seconds = report["seconds"]
        normal = report["normalResidual"]
        print(
            f"{problem} | {report['backend'].split(':')[0]} | {report['rank']} of {report['columns']} |"
            f" {report['residualNorm']:.12e} | {'-' if normal is None else f'{normal:.1e}'} | "
            + " ".join(f"{seconds[k]:.2f}" for k in ("read", "pattern", "order", "analyze", "plan", "assemble"))
            + f" {seconds['factorize']:.3f} {seconds['solve']:.2f} {seconds['total']:.2f} |"
            f" {report['peakDeviceBytes'] >> 20} | {', '.join(report['devices'])}"
        )
    print(f"{problem} | {'same' if not found else 'DIFFERENT: ' + '; '.join(found)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
