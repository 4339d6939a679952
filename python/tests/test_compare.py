# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""benchmarks/gpu/compare.py accepts a right answer and rejects errors of 1e-10. Needs neither Spark nor a
JVM.
"""

import contextlib
import importlib.util
import io
import json
import math
import pathlib
import random
import tempfile
import unittest

_FILE = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "gpu" / "compare.py"
_SPEC = importlib.util.spec_from_file_location("compare", _FILE)
compare = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(compare)

SEED = 20261205
PLANTED = 1e-10


def solved(rows, b, n):
    """Least squares by Householder reflections of the dense matrix."""
    a = [[dict(row).get(j, 0.0) for j in range(n)] + [label] for row, label in zip(rows, b)]
    for j in range(n):
        v = [a[i][j] for i in range(j, len(a))]
        v[0] += math.copysign(compare.norm(v), v[0])
        square = math.fsum(e * e for e in v)
        for k in range(j, n + 1):
            factor = 2 * math.fsum(e * a[j + i][k] for i, e in enumerate(v)) / square
            for i, e in enumerate(v):
                a[j + i][k] -= factor * e
    x = [0.0] * n
    for j in reversed(range(n)):
        x[j] = (a[j][n] - math.fsum(a[j][k] * x[k] for k in range(j + 1, n))) / a[j][j]
    return x, compare.norm([a[i][n] for i in range(n, len(a))])


def report(n, norm, **changes):
    times = ("read", "pattern", "order", "analyze", "plan", "assemble", "factorize", "solve", "total")
    made = {
        "rows": 60,
        "rank": n,
        "columns": n,
        "residualNorm": norm,
        "normalResidual": 1e-16,
        "deadColumns": [],
        "tolerance": 1e-13,
        "backend": "cpu: x",
        "peakDeviceBytes": 0,
        "devices": [],
        "seconds": dict.fromkeys(times, 0.0),
    }
    return {**made, **changes}


class CompareTest(unittest.TestCase):
    def setUp(self):
        random.seed(SEED)
        self.n = 12
        self.rows = [
            [(j, random.uniform(-1, 1)) for j in sorted(random.sample(range(self.n), 4))] for _ in range(60)
        ]
        self.b = compare.default_rhs(self.rows)
        planted = [random.uniform(-1, 1) for _ in range(self.n)]
        self.consistent = [math.fsum(v * planted[j] for j, v in row) for row in self.rows]

    def problems(self):
        for b in (self.b, self.consistent):
            x, norm = solved(self.rows, b, self.n)
            yield b, x, report(self.n, norm)

    def complaints(self, x, r, y, s, b):
        return compare.complaints(x, r, y, s, (self.rows, b))

    def test_right_answers_are_the_same(self):
        for b, x, r in self.problems():
            self.assertEqual(self.complaints(x, r, x, r, b), [])
            rounded = [e * (1 + 1e-15 * random.uniform(-1, 1)) for e in x]
            self.assertEqual(self.complaints(x, r, rounded, dict(r), b), [])
            self.assertLess(compare.Measured(self.rows, b, x).live, compare.UNITS * compare.EPS / 20)

    def test_an_error_in_x_is_seen_in_either_answer(self):
        for b, x, r in self.problems():
            for j in range(self.n):
                wrong = list(x)
                wrong[j] += PLANTED * compare.norm(x)
                for found in (self.complaints(wrong, r, x, r, b), self.complaints(x, r, wrong, r, b)):
                    self.assertTrue(any("|a_j'r|" in c for c in found), (SEED, j, found))
            # both answers with the same error: a comparison of the two alone would miss it
            self.assertTrue(self.complaints(wrong, r, wrong, r, b))

    def test_an_error_in_a_residual_norm_is_seen(self):
        b, x, r = next(self.problems())
        wrong = dict(r, residualNorm=r["residualNorm"] * (1 + PLANTED))
        self.assertTrue(any("residual norms" in c for c in self.complaints(x, r, x, wrong, b)))
        self.assertTrue(any("||b - Ax|| is" in c for c in self.complaints(x, wrong, x, wrong, b)))

    def test_an_error_in_the_gallerys_answers_is_seen(self):
        b, x, r = next(self.problems())
        self.assertEqual(compare.complaints(x, r, x, r), [])
        wrong = list(x)
        wrong[3] += PLANTED * compare.norm(x)
        self.assertTrue(compare.complaints(x, r, wrong, r))
        self.assertTrue(compare.complaints(x, r, x, dict(r, residualNorm=r["residualNorm"] * (1 + PLANTED))))
        self.assertTrue(compare.complaints(x, r, x, dict(r, normalResidual=PLANTED)))
        self.assertTrue(compare.complaints(x, r, x, dict(r, normalResidual=math.nan)))

    def test_ranks_lengths_and_nan_are_seen(self):
        b, x, r = next(self.problems())
        self.assertTrue(self.complaints(x, r, x, dict(r, rank=11), b))
        self.assertTrue(self.complaints(x, r, x[1:], r, b))
        for value in (math.nan, math.inf):
            wrong = [value] + x[1:]
            self.assertTrue(self.complaints(wrong, r, wrong, r, b))
            self.assertTrue(compare.complaints(wrong, r, wrong, r))
            self.assertTrue(self.complaints(x, r, x, dict(r, residualNorm=value), b))

    def test_a_dead_column_may_lose_the_tolerance_and_a_live_one_may_not(self):
        # column 12 is column 0 plus a remainder of 1e-9 of its norm
        rows = [row + [(12, v * (1 + 1e-9 * random.uniform(-1, 1)))] if row[0][0] == 0 else row
                for row in self.rows for v in [row[0][1]]]
        x, norm = solved(self.rows, self.b, self.n)
        x = x + [0.0]
        r = report(13, norm, rank=12, deadColumns=[12], tolerance=1e-8)
        self.assertEqual(compare.complaints(x, r, x, r, (rows, self.b)), [])
        strict = dict(r, tolerance=1e-14)
        self.assertTrue(compare.complaints(x, strict, x, strict, (rows, self.b)))
        x[5] += PLANTED * compare.norm(x)
        self.assertTrue(compare.complaints(x, r, x, r, (rows, self.b)))

    def test_no_bound_grows_with_the_rows(self):
        self.assertLess(compare.UNITS * compare.EPS, PLANTED / 100)
        self.assertLess(compare.RESIDUAL, PLANTED / 9)
        self.assertLess(compare.GALLERY_X, PLANTED / 9)

    def test_files_are_read_and_the_verdict_is_the_exit_code(self):
        x, norm = solved(self.rows, self.b, self.n)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            triplets = [(i + 1, j + 1, v) for i, row in enumerate(self.rows) for j, v in row]
            head = f"%%MatrixMarket matrix coordinate real general\n60 12 {len(triplets)}\n"
            (folder / "a.mtx").write_text(head + "".join(f"{i} {j} {v!r}\n" for i, j, v in triplets))
            head = "%%MatrixMarket matrix array real general\n60 1\n"
            (folder / "b.mtx").write_text(head + "".join(f"{v!r}\n" for v in self.b))
            svm = (" ".join([repr(b)] + [f"{j + 1}:{v!r}" for j, v in row]) for row, b in zip(self.rows, self.b))
            (folder / "a.svm").write_text("\n".join(svm) + "\n")
            (folder / "r").write_text(json.dumps(report(12, norm)))
            self.write(folder / "x", x)
            for problem in (f"{folder}/a.mtx", f"{folder}/a.mtx --rhs {folder}/b.mtx", f"{folder}/a.svm"):
                self.assertEqual(self.verdict(problem, folder, "x"), (0, "same"))
            x[7] *= 1 + 100 * PLANTED
            self.write(folder / "y", x)
            code, said = self.verdict(f"{folder}/a.mtx", folder, "y")
            self.assertEqual(code, 1)
            self.assertIn("DIFFERENT: second: |a_j'r|", said)

    @staticmethod
    def write(file, x):
        file.write_text("%%MatrixMarket matrix array real general\n12 1\n" + "".join(f"{v!r}\n" for v in x))

    @staticmethod
    def verdict(problem, folder, other):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = compare.main(problem, folder / "x", folder / "r", folder / other, folder / "r")
        return code, said.getvalue().strip().splitlines()[-1].split(" | ")[-1]


if __name__ == "__main__":
    unittest.main()
