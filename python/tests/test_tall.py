# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.qr and sparqr.svd beside numpy.linalg."""

import os
import sys
from unittest import mock

import sparqr
from tests.spark import SparkTest, require

SEED = 20261128


class TallTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        require("numpy", "scipy", "pandas")
        # workers that have NumPy
        workers = mock.patch.dict(os.environ, PYSPARK_PYTHON=sys.executable)
        workers.start()
        cls.addClassCleanup(workers.stop)
        super().setUpClass()
        import numpy as np

        cls.np = np
        cls.A = np.random.default_rng(SEED).standard_normal((70, 6))
        # rounding of sums of m products, in units of eps; A's norm is about 20
        cls.tight = 64 * np.finfo(float).eps

    def assert_close(self, found, expected, what=""):
        np = self.np
        self.assertEqual(np.shape(found), np.shape(expected), what)
        scale = max(np.linalg.norm(expected, "fro"), 1) if np.ndim(expected) == 2 else np.max(expected)
        error = np.abs(np.asarray(found) - expected).max()
        self.assertLessEqual(error, self.tight * scale, f"{what}, seed {SEED}")

    def assert_factors(self, A, Q, R, what=""):
        np = self.np
        self.assert_close(Q.T @ Q, np.eye(Q.shape[1]), what)
        self.assert_close(Q @ R, A, what)
        self.assertEqual(np.tril(R, -1).max(initial=0), 0, what)
        self.assertGreaterEqual(np.diag(R).min(), 0, what)

    def test_modes_have_numpys_shapes(self):
        np = self.np
        for A in (self.A, self.A[:6], self.A[:4], self.A[:1]):
            for mode in ("reduced", "complete", "r"):
                expected = np.linalg.qr(A, mode)
                found = sparqr.qr(A, mode)
                what = f"{A.shape} {mode}"
                r, q = (found, None) if mode == "r" else (found[1], found[0])
                other = expected if mode == "r" else expected[1]
                # NumPy's rows have either sign
                sign = np.where(np.diag(other) < 0, -1.0, 1.0)
                signed = other.copy()
                signed[: len(sign)] *= sign[:, None]
                self.assert_close(r, signed, what)
                if q is not None:
                    self.assertEqual(q.shape, expected[0].shape, what)
                    self.assert_factors(A, q, r, what)

    def test_every_form_gives_the_same(self):
        import pandas
        import scipy.sparse

        expected = sparqr.qr(self.A, "r").tolist()
        for A in (scipy.sparse.csc_array(self.A), pandas.DataFrame(self.A), self.A.tolist()):
            self.assertEqual(sparqr.qr(A, "r").tolist(), expected, type(A))
        Q, R = sparqr.qr(self.A, partitions=4)
        self.assert_factors(self.A, Q, R)

    def test_singular_values_are_numpys(self):
        np = self.np
        graded = self.A * np.logspace(0, -8, 6)
        for A in (self.A, graded, self.A.T):
            u, s, vh = np.linalg.svd(A, full_matrices=False)
            for k in (None, 6, 2):
                U, S, Vh = sparqr.svd(A, k)
                count = k or 6
                self.assert_close(S, s[:count])
                self.assertEqual((U.shape, Vh.shape), (u[:, :count].shape, vh[:count].shape))
                self.assert_close(U.T @ U, np.eye(count))
                self.assert_close(Vh @ Vh.T, np.eye(count))
                self.assert_close((U * S) @ Vh, (u[:, :count] * s[:count]) @ vh[:count])
            self.assert_close(sparqr.svd(A, 3, compute_uv=False), s[:3])

    def test_rows_in_spark_stay_there(self):
        np = self.np
        from pyspark.ml.linalg import Vectors

        rdd = self.spark.sparkContext.parallelize(self.A, 3)
        frame = rdd.map(lambda row: (Vectors.dense(row),)).toDF(["pixels"])
        Q, R = sparqr.qr(frame, features_col="pixels")
        self.assertEqual(Q.columns, ["q"])
        self.assert_factors(self.A, np.array([row.q.toArray() for row in Q.collect()]), R)
        self.assertEqual(sparqr.qr(frame, "r", features_col="pixels").tolist(), R.tolist())
        Q, other = sparqr.qr(rdd)
        self.assertEqual(other.tolist(), R.tolist())
        self.assert_factors(self.A, np.array(Q.collect()), R)
        s = np.linalg.svd(self.A, compute_uv=False)
        for A in (frame, rdd):
            U, S, Vh = sparqr.svd(A, 2, features_col="pixels")
            self.assert_close(S, s[:2])
            rows = np.array([row if A is rdd else row.u.toArray() for row in U.collect()])
            self.assert_close(rows.T @ rows, np.eye(2))
            self.assert_close(rows.T @ self.A, S[:, None] * Vh)
            self.assert_close(sparqr.svd(A, compute_uv=False, features_col="pixels"), s)

    def test_bad_input_is_one_error(self):
        np = self.np
        for mode in ("raw", "full", None, 1):
            with self.assertRaisesRegex(ValueError, "one of 'r', 'reduced', 'complete'"):
                sparqr.qr(self.A, mode)
        bad = self.A.copy()
        bad[7, 2] = np.nan
        with self.assertRaisesRegex(sparqr.SparqrError, "row 7, column 2 of A is nan"):
            sparqr.qr(bad)
        with self.assertRaisesRegex(ValueError, "two-dimensional"):
            sparqr.qr(self.A[0])
        with self.assertRaisesRegex(ValueError, "complex"):
            sparqr.svd(self.A * 1j)
        for k in (0, 7, -1, 1.5, True):
            with self.assertRaisesRegex(ValueError, "^k is "):
                sparqr.svd(self.A, k)
        # 80,000 x 80,000
        long = np.zeros((80_000, 1))
        long[0] = 1
        with self.assertRaisesRegex(sparqr.SparqrError, "Q of 80000 x 80000 takes 48"):
            sparqr.qr(long, "complete")
        context = self.spark.sparkContext
        frame = self.spark.createDataFrame([(1.0,)], ["x"])
        with self.assertRaisesRegex(ValueError, "no column 'features': it has x"):
            sparqr.qr(frame)
        with self.assertRaisesRegex(ValueError, "it is for arrays"):
            sparqr.qr(context.parallelize(self.A), "complete")
        with self.assertRaisesRegex(sparqr.SparqrError, "2 rows, 6 columns"):
            sparqr.qr(context.parallelize(self.A[:2]))
        with self.assertRaisesRegex(sparqr.SparqrError, "row 1 of partition 0 has NaN in column 0"):
            sparqr.qr(context.parallelize([[1.0], [float("nan")]], 1))
        with self.assertRaisesRegex(sparqr.SparqrError, "row 1 of partition 0 has 2 values, those before it 1"):
            sparqr.svd(context.parallelize([[1.0], [1.0, 2.0]], 1))
        with self.assertRaisesRegex(ValueError, "k is 7: from 1 to 6"):
            sparqr.svd(context.parallelize(self.A), 7)
