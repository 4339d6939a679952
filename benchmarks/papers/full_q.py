# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""R and the full Q of the paper's test matrices on this machine's cores, sparqr beside NumPy, with the paper's three criteria.

    full_q.py 512x256 1024x512 ...        needs the package sparqr (python/README.md) and NumPy
"""
import statistics
import sys
import time

import numpy
import sparqr

RUNS = 5


def matrix(m, n, rng):
    """Section 5: random below a unit diagonal, zeros above, hidden by random Givens rotations of rows."""
    a = numpy.tril(rng.uniform(-1, 1, (m, n)), -1)
    a[numpy.arange(n), numpy.arange(n)] = 1
    for _ in range(4 * m):
        i, k = rng.choice(m, 2, replace=False)
        angle = rng.uniform(0, 2 * numpy.pi)
        c, s = numpy.cos(angle), numpy.sin(angle)
        a[[i, k]] = numpy.array([[c, s], [-s, c]]) @ a[[i, k]]
    return a


def timed(factorize, a):
    """Median seconds after a first run, and Q and R."""
    q, r = factorize(a, "complete")
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        q, r = factorize(a, "complete")
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), q, r


def main(sizes):
    """A line a size and side; the criteria in units of m 2^-52."""
    rng = numpy.random.default_rng(1)
    print("| size | by | s | norm(QR - A) / norm(A) | norm(Q'Q - I) | below the diagonal of R |")
    print("|---|---|---|---|---|---|")
    for size in sizes:
        m, n = map(int, size.split("x"))
        a = matrix(m, n, rng)
        unit = m * 2.0**-52
        for name, factorize in (("sparqr", sparqr.qr), ("NumPy", numpy.linalg.qr)):
            seconds, q, r = timed(factorize, a)
            product = numpy.linalg.norm(q @ r - a) / numpy.linalg.norm(a) / unit
            orthogonal = numpy.linalg.norm(q.T @ q - numpy.eye(m)) / unit
            below = numpy.linalg.norm(numpy.tril(r, -1)) / unit
            print(f"| {size} | {name} | {seconds:.4f} | {product:.2g} | {orthogonal:.2g} | {below:.2g} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
