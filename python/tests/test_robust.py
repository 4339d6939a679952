# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.robust_pca on matrices whose low-rank and sparse parts are known."""

import os
import sys
from unittest import mock

import sparqr
from tests.spark import SparkTest, require

SEED = 20261128
EXACT = 1e-6
CERTIFIED = 1e-4


class RobustTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        require("numpy", "scipy")
        # workers that have NumPy
        workers = mock.patch.dict(os.environ, PYSPARK_PYTHON=sys.executable)
        workers.start()
        cls.addClassCleanup(workers.stop)
        super().setUpClass()
        import numpy as np

        cls.np = np
        rng = np.random.default_rng(SEED)
        m, n, rank = 150, 60, 2
        cls.L = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(m * n)
        cls.S = np.where(rng.random((m, n)) < 0.05, rng.choice([-1.0, 1.0], (m, n)), 0.0)
        cls.M = cls.L + cls.S

    def assert_recovered(self, found, L=None, S=None):
        np = self.np
        L, S = (self.L if L is None else L), (self.S if S is None else S)
        self.assertTrue(found.converged)
        self.assertEqual(found.warnings, [])
        self.assertEqual(found.rank, 2)
        self.assertEqual(found.S.shape, S.shape)
        self.assertLess(np.abs(found.L - L).max(), EXACT, f"seed {SEED}")
        self.assertLess(np.abs(found.S.toarray() - S).max(), EXACT, f"seed {SEED}")
        eps = np.finfo(float).eps
        self.assertLess(np.abs(found.U.T @ found.U - np.eye(2)).max(), 64 * eps)
        self.assertLess(np.abs(found.Vh @ found.Vh.T - np.eye(2)).max(), 64 * eps)

    def test_parts_are_recovered(self):
        found = sparqr.robust_pca(self.M, tol=1e-9, partitions=3)
        self.assert_recovered(found)
        self.assertEqual(found.history[-1]["rank"], 2)
        self.assertEqual(found.history[-1]["nonzeros"], found.S.nnz)
        self.assertLessEqual(found.history[-1]["residual"], 1e-9)
        self.assertLess(abs(found.optimality["gap"]), CERTIFIED)
        self.assertEqual(found.lam, 1 / self.np.sqrt(150))
        self.assert_recovered(sparqr.robust_pca(self.M.T, tol=1e-9), self.L.T, self.S.T)
        self.assert_recovered(sparqr.robust_pca(self.M, tol=1e-9, method="adm"))

    def test_rows_in_spark_are_taken(self):
        from pyspark.ml.linalg import Vectors

        rdd = self.spark.sparkContext.parallelize(self.M, 3)
        frame = rdd.map(lambda row: (Vectors.dense(row),)).toDF(["pixels"])
        self.assert_recovered(sparqr.robust_pca(frame, tol=1e-9, features_col="pixels"))
        self.assert_recovered(sparqr.robust_pca(rdd, tol=1e-9))

    def test_an_end_before_the_tolerance_is_told(self):
        found = sparqr.robust_pca(self.M, max_iter=2)
        self.assertFalse(found.converged)
        self.assertEqual(len(found.history), 2)
        self.assertRegex(found.warnings[0], "^not converged: after 2 iterations ")

    def test_bad_input_is_one_error(self):
        np = self.np
        for wrong, message in (
            ({"method": "svd"}, "one of 'ialm', 'adm'"),
            ({"lam": 0}, "^lam is 0: a finite number above 0"),
            ({"lam": float("nan")}, "^lam is nan"),
            ({"tol": 1}, "^tol is 1: between 0 and 1"),
            ({"max_iter": 0}, "^max_iter is 0"),
            ({"max_iter": 1.5}, "^max_iter is 1.5"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                sparqr.robust_pca(self.M, **wrong)
        bad = self.M.copy()
        bad[7, 2] = np.nan
        with self.assertRaisesRegex(sparqr.SparqrError, "row 7, column 2 of A is nan"):
            sparqr.robust_pca(bad)
        with self.assertRaisesRegex(sparqr.SparqrError, "all values are zero"):
            sparqr.robust_pca(np.zeros((5, 2)))
        with self.assertRaisesRegex(sparqr.SparqrError, "2 rows, 60 columns"):
            sparqr.robust_pca(self.spark.sparkContext.parallelize(self.M[:2]))
