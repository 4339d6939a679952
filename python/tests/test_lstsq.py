# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.lstsq, factorize and from_scipy compared with NumPy, SciPy and, if installed, SuiteSparse."""

import importlib.util
import os
import sys
import types
from unittest import mock

import sparqr
from sparqr import _arrays
from tests.spark import SparkTest, require

SEED = 20261123

# Relative to the larger value, for well-conditioned problems.
TIGHT = 1e-12


class LstsqTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        require("numpy", "scipy", "pandas", "pyarrow")
        super().setUpClass()
        import numpy as np
        import scipy.sparse as sp

        cls.np, cls.sp = np, sp
        rng = np.random.default_rng(SEED)
        # full rank and well conditioned thanks to the diagonal in the first 20 rows
        a = sp.random(60, 20, density=0.2, random_state=rng, format="csr") + 3 * sp.eye(60, 20)
        cls.A = sp.csr_array(a)
        cls.dense = cls.A.toarray()
        cls.b = rng.standard_normal(60)
        cls.B = rng.standard_normal((60, 3))
        cls.w = rng.uniform(0.5, 2, 60)
        cls.x = np.linalg.lstsq(cls.dense, cls.b, rcond=None)[0]

    def assert_close(self, found, expected, tolerance=TIGHT, what=""):
        np = self.np
        found, expected = np.asarray(found), np.asarray(expected)
        self.assertEqual(found.shape, expected.shape, what)
        scale = np.abs(expected).max()
        self.assertLessEqual(np.abs(found - expected).max(), tolerance * scale, f"{what}, seed {SEED}")

    def assert_same(self, found, expected, what):
        self.assertEqual(found.shape, expected.shape, what)
        for name in ("indptr", "indices", "data"):
            one, other = getattr(found, name), getattr(expected, name)
            self.assertEqual(one.dtype, other.dtype, what)
            self.assertEqual(one.tolist(), other.tolist(), what)

    def errors(self, A, b):
        """The same errors from dense algebra."""
        np = self.np
        gram = A.T @ A
        residual = b - A @ np.linalg.solve(gram, A.T @ b)
        sigma = np.linalg.norm(residual) / np.sqrt(A.shape[0] - A.shape[1])
        return sigma * np.sqrt(np.diag(np.linalg.inv(gram)))

    def test_every_format_gives_numpys_answer(self):
        np, sp, dense = self.np, self.sp, self.dense
        norm = np.linalg.norm(self.b - dense @ self.x)
        forms = {f: sp.csr_array(dense).asformat(f) for f in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")}
        forms["csr_matrix"] = sp.csr_matrix(dense)
        forms["numpy"] = dense
        forms["Fortran"] = np.asfortranarray(dense)
        forms["strided"] = np.repeat(dense, 2, axis=1)[:, ::2]
        forms["list"] = dense.tolist()
        wide = sp.csr_array(dense)
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        forms["int64"] = wide
        plain = _arrays.matrix_of(self.A)
        for name, A in forms.items():
            self.assert_same(_arrays.matrix_of(A), plain, name)
        for name in ("coo", "Fortran", "int64"):
            result = sparqr.lstsq(forms[name], self.b)
            self.assert_close(result.x, self.x, what=name)
            self.assertAlmostEqual(result.residual_norm / norm, 1, places=13, msg=name)
            self.assertEqual((result.rank, result.dead_columns, result.names), (20, [], None), name)
        self.assertIsInstance(result.x, np.ndarray)
        self.assertIn("rank=20", repr(result))

    def test_every_type_of_number(self):
        np, sp = self.np, self.sp
        rng = np.random.default_rng(SEED)
        whole = rng.integers(-3, 4, (40, 6)) + 5 * np.eye(40, 6, dtype=int)
        kinds = ("float32", "float16", "int8", "uint16", "int64", "bool")
        sparse = [sp.csc_array(whole.astype(t)) for t in kinds if t != "float16"]
        for A in [whole.astype(t) for t in kinds] + sparse:
            exact = (A.toarray() if sp.issparse(A) else A).astype(float)
            self.assert_same(_arrays.matrix_of(A), _arrays.matrix_of(exact), str(A.dtype))
        for A in (whole.astype("bool"), sp.csc_array(whole.astype("int8"))):
            exact = (A.toarray() if sp.issparse(A) else A).astype(float)
            expected = np.linalg.lstsq(exact, self.b[:40], rcond=None)[0]
            self.assert_close(sparqr.lstsq(A, self.b[:40].tolist()).x, expected, what=str(A.dtype))

    def test_tables_by_pandas_and_arrow(self):
        import pandas as pd
        import pyarrow as pa

        names = [f"c{j}" for j in range(20)]
        frame = pd.DataFrame(self.dense, columns=names)
        mixed = frame.assign(c0=pd.array(self.dense[:, 0], dtype="Float64"))
        sparse = pd.DataFrame.sparse.from_spmatrix(self.sp.csr_matrix(self.dense), columns=names)
        table = pa.table(frame)
        tables = [frame, mixed, sparse, table, _ToArrow(table)]
        if importlib.util.find_spec("polars"):
            import polars

            tables.append(polars.from_arrow(table))
        plain = _arrays.matrix_of(self.A)
        for A in tables:
            self.assert_same(_arrays.matrix_of(A), plain, str(type(A)))
            self.assertEqual(_arrays.matrix_of(A).names, names)
        result = sparqr.lstsq(tables[-1], pd.Series(self.b))
        self.assert_close(result.x, self.x)
        self.assertEqual(result.names, names)
        self.assert_close(sparqr.lstsq(self.A, pd.DataFrame({"y": self.b})).x[:, 0], self.x)
        sides, several = _arrays.right_hand_sides(pa.table({"y": self.b}), 60)
        self.assertEqual((sides[:, 0].tolist(), several), (self.b.tolist(), True))
        with self.assertRaisesRegex(ValueError, "column 's' of A is of object"):
            sparqr.lstsq(frame.assign(s="a"), self.b)
        with self.assertRaisesRegex(ValueError, "column 's' of A is of string"):
            sparqr.lstsq(pa.table({"s": ["a"]}), [1])
        with self.assertRaisesRegex(sparqr.SparqrError, r"row 1, column 's' of A is null"):
            sparqr.lstsq(pa.table({"s": [1, None]}), [1, 2])
        with self.assertRaisesRegex(sparqr.SparqrError, r"row 3, column 2 \(c2\) of A is nan"):
            bad = frame.copy()
            bad.iloc[3, 2] = None
            sparqr.lstsq(bad, self.b)

    def test_duplicates_are_summed_and_the_callers_arrays_stay(self):
        np, sp = self.np, self.sp
        coo = sp.coo_array(self.dense)
        twice = sp.coo_array(
            (np.r_[coo.data, coo.data], (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])), shape=coo.shape
        )
        self.assert_close(sparqr.lstsq(twice, 2 * self.b).x, self.x)
        raw = sp.csr_array(
            (np.array([1.0, 2.0, 5.0, 4.0]), np.array([1, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 2)
        )
        before = (raw.data.copy(), raw.indices.copy(), raw.indptr.copy())
        expected = np.linalg.lstsq(np.array([[0, 3.0], [5, 0], [4, 0]]), [3, 2, 1], rcond=None)[0]
        self.assert_close(sparqr.lstsq(raw, [3, 2, 1]).x, expected)
        for left, now in zip(before, (raw.data, raw.indices, raw.indptr)):
            self.assertEqual(left.tolist(), now.tolist())

    def test_many_right_hand_sides_weights_ridge_and_errors(self):
        np = self.np
        root = np.sqrt(self.w)[:, None]
        weighted = root * self.dense
        expected = np.linalg.lstsq(weighted, root * self.B, rcond=None)[0]
        result = sparqr.lstsq(self.A, np.asfortranarray(self.B), weights=self.w, standard_errors=True, r=True)
        self.assert_close(result.x, expected)
        self.assert_close(result.residual_norm, np.linalg.norm(root * (self.B - self.dense @ expected), axis=0))
        errors = np.column_stack([self.errors(weighted, (root * self.B)[:, k]) for k in range(3)])
        self.assert_close(result.standard_errors, errors)
        order = weighted[:, result.permutation]
        self.assert_close((result.r.T @ result.r).toarray(), order.T @ order)
        self.assertEqual(sorted(result.permutation), list(range(20)))
        self.assertEqual(self.sp.tril(result.r, -1).nnz, 0)
        one = sparqr.lstsq(self.A, self.B[:, :1])
        self.assertEqual((one.x.shape, one.residual_norm.shape), ((20, 1), (1,)))
        self.assertEqual((one.r, one.standard_errors), (None, None))

        below = np.vstack([self.dense, np.sqrt(2) * np.eye(20)])
        ridge = np.linalg.lstsq(below, np.r_[self.b, np.zeros(20)], rcond=None)[0]
        found = sparqr.lstsq(self.A, self.b, ridge=2, r=True, ordering="natural", partitions=3)
        self.assert_close(found.x, ridge)
        self.assert_close((found.r.T @ found.r).toarray(), below.T @ below)
        self.assertEqual(found.permutation.tolist(), list(range(20)))

    def test_rank_deficient_wide_and_empty_rows(self):
        np, sp = self.np, self.sp
        A = sp.csr_array(np.column_stack([self.dense[:, :5], self.dense[:, 0] + self.dense[:, 1]]))
        basic = sparqr.lstsq(A, self.b, r=True, standard_errors=True)
        self.assertEqual((basic.rank, len(basic.dead_columns), basic.r.shape), (5, 1, (5, 6)))
        self.assertEqual(basic.x[basic.dead_columns[0]], 0)
        self.assertTrue(np.isnan(basic.standard_errors[basic.dead_columns[0]]))
        least = np.linalg.lstsq(A.toarray(), self.b, rcond=None)[0]
        norm = np.linalg.norm(self.b - A @ least)
        self.assertAlmostEqual(basic.residual_norm / norm, 1, places=12)
        self.assert_close(sparqr.lstsq(A, self.b, minimum_norm=True).x, least)

        wide = self.A[:12]
        least = np.linalg.lstsq(wide.toarray(), self.b[:12], rcond=None)[0]
        result = sparqr.lstsq(wide, self.b[:12], minimum_norm=True)
        self.assert_close(result.x, least)
        self.assertIsNone(result.permutation)
        self.assertLess(sparqr.lstsq(wide, self.b[:12]).residual_norm, 1e-12)

        gaps = sp.csr_array(sp.vstack([sp.csr_array((7, 20)), self.A, sp.csr_array((1, 20))]))
        b = np.r_[np.ones(7), self.b, 2.0]
        result = sparqr.lstsq(gaps, b)
        self.assert_close(result.x, self.x)
        rest = np.linalg.norm(self.b - self.A @ self.x) ** 2 + 7 + 4
        self.assertAlmostEqual(result.residual_norm, rest**0.5, places=12)

    def test_what_does_not_fit_is_refused_with_its_place(self):
        np, sp = self.np, self.sp
        for A, b, message in [
            (self.A, self.b[:-1], "b has 59 rows, A has 60"),
            (self.A, np.ones((60, 0)), r"b has shape \(60, 0\)"),
            (self.A, None, "b is missing"),
            (self.A, self.b * 1j, "b is complex"),
            (self.A, ["x"] * 60, "b is"),
            (self.A * 1j, self.b, "A is complex"),
            (np.ones(5), np.ones(5), r"A has shape \(5,\)"),
            (np.ones((2, 2, 2)), np.ones(2), "A has shape"),
            (sp.csr_array((0, 3)), [], "A is 0 x 3"),
            (sp.csr_array((3, 0)), [1, 2, 3], "A is 3 x 0"),
            (sp.csr_array((3, 2**31 - 1)), [1, 2, 3], "A has 2,147,483,647 columns"),
            (np.array([["a"]]), [1], "A is of <U1"),
            (np.ma.masked_equal(self.dense, 0), self.b, "masked"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                sparqr.lstsq(A, b)
        bad = sp.csr_array(self.dense)
        bad.indices = bad.indices.copy()
        bad.indices[bad.indptr[4]] = 20
        with self.assertRaisesRegex(ValueError, r"row 4 of A has the column index 20, out of \[0, 20\)"):
            sparqr.lstsq(bad, self.b)
        dense = self.dense.copy()
        dense[7, 3] = np.inf
        for A in (dense, sp.csr_array(dense), sp.coo_array(dense)):
            with self.assertRaisesRegex(sparqr.SparqrError, "row 7, column 3 of A is inf") as told:
                sparqr.lstsq(A, self.b)
            self.assertEqual(told.exception.kind, "NonFiniteValueException")
        b = self.b.copy()
        b[9] = np.nan
        with self.assertRaisesRegex(sparqr.SparqrError, r"b\[9\] is nan"):
            sparqr.lstsq(self.A, b)
        with self.assertRaisesRegex(sparqr.SparqrError, r"row 9, column 1 of b is nan"):
            sparqr.lstsq(self.A, np.column_stack([self.b, b]))
        with self.assertRaisesRegex(sparqr.SparqrError, r"weights\[2\] is negative"):
            sparqr.lstsq(self.A, self.b, weights=[1, 1, -1] + [1] * 57)
        with self.assertRaisesRegex(ValueError, "weights has 2 rows"):
            sparqr.lstsq(self.A, self.b, weights=[1, 1])
        with self.assertRaisesRegex(ValueError, "basic solution"):
            sparqr.lstsq(self.A, self.b, minimum_norm=True, r=True)
        with self.assertRaisesRegex(TypeError, "color"):
            sparqr.lstsq(self.A, self.b, color="red")

    def test_files(self):
        np = self.np
        import scipy.io

        path = self.path("A.mtx")
        scipy.io.mmwrite(path, self.sp.coo_matrix(self.dense), precision=17)
        scipy.io.mmwrite(self.path("b.mtx"), self.B, precision=17)
        expected = np.linalg.lstsq(self.dense, self.B, rcond=None)[0]
        self.assert_close(sparqr.lstsq(path, self.path("b.mtx")).x, expected)
        self.assert_close(sparqr.lstsq(path, self.B, partitions=3).x, expected)
        root = np.sqrt(self.w)
        weighted = np.linalg.lstsq(root[:, None] * self.dense, root * self.b, rcond=None)[0]
        result = sparqr.lstsq(path, self.b, weights=self.w, standard_errors=True)
        self.assert_close(result.x, weighted)
        errors = self.errors(root[:, None] * self.dense, root * self.b)
        self.assert_close(result.standard_errors, errors)
        with sparqr.factorize(path, weights=self.w, partitions=2) as f:
            self.assert_close(f.solve(self.b).x, weighted)
            self.assertEqual(f.shape, (60, 20))
            with self.assertRaisesRegex(ValueError, "as a whole"):
                f.refit(self.A.data)
            self.assert_close(f.refit(self.A).solve(self.b).x, self.x)

        with open(self.path("A.svm"), "w") as lines:
            for y, row in zip(self.b.tolist(), self.dense.tolist()):
                entries = (f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)
                lines.write(f"{y!r} {' '.join(entries)}\n")
        self.assert_close(sparqr.lstsq(self.path("A.svm")).x, self.x)
        self.assertEqual(sparqr.lstsq("gen:grad3d3", np.ones(81)).rank, 27)

        with self.assertRaisesRegex(FileNotFoundError, "nosuch"):
            sparqr.lstsq(self.path("nosuch.mtx"), self.b)
        with self.assertRaisesRegex(ValueError, "gen:nosuch"):
            sparqr.lstsq("gen:nosuch", self.b)
        with self.assertRaisesRegex(ValueError, "b is missing"):
            sparqr.lstsq(path)
        with self.assertRaisesRegex(ValueError, "b is a file and A is none"):
            sparqr.lstsq(self.A, path)
        with self.assertRaisesRegex(sparqr.SparqrError, "59 rows"):
            sparqr.lstsq(path, self.b[1:])
        with self.assertRaisesRegex(ValueError, "b has 59 rows, weights have 60"):
            sparqr.lstsq(path, self.b[1:], weights=self.w)

    def test_a_factorization_solves_again(self):
        np = self.np
        with sparqr.factorize(self.A) as f:
            self.assertIn("rank=20", repr(f))
            self.assertEqual((f.shape, f.rank, f.dead_columns), ((60, 20), 20, []))
            self.assert_close(f.solve(self.b).x, self.x)
            several = f.solve(self.B, standard_errors=True)
            self.assert_close(several.x, np.linalg.lstsq(self.dense, self.B, rcond=None)[0])
            errors = np.column_stack([self.errors(self.dense, self.B[:, k]) for k in range(3)])
            self.assert_close(several.standard_errors, errors)
            self.assert_close(f.solve(self.b, standard_errors=True).standard_errors, self.errors(self.dense, self.b))
            order = self.dense[:, f.permutation]
            self.assert_close((f.r.T @ f.r).toarray(), order.T @ order)
            self.assertEqual(f.report["rows"], 60)
            with self.assertRaisesRegex(ValueError, "b has 5 rows, A has 60"):
                f.solve(np.ones(5))
            folder = f._kept.rows.folder.path
            self.assertTrue(os.path.isdir(folder))
        self.assertFalse(os.path.exists(folder))
        self.assertIn("closed", repr(f))
        with self.assertRaisesRegex(ValueError, "closed"):
            f.solve(self.b)
        f.close()
        with sparqr.factorize(self.A, keep_q=False, weights=self.w) as f:
            root = np.sqrt(self.w)
            x = np.linalg.lstsq(root[:, None] * self.dense, root * self.b, rcond=None)[0]
            self.assert_close(f.solve(self.b).x, x)
        with self.assertRaisesRegex(ValueError, "basic"):
            sparqr.factorize(self.A, minimum_norm=True)

    def test_new_values_on_the_same_pattern(self):
        np, sp = self.np, self.sp
        with sparqr.factorize(self.A, partitions=2) as f:
            order = f.permutation
            squares = self.A.data**2
            self.assertIs(f.refit(squares), f)
            x = np.linalg.lstsq(self.dense**2, self.b, rcond=None)[0]
            self.assert_close(f.solve(self.b).x, x)
            self.assertEqual(f.permutation.tolist(), order.tolist())
            self.assertIn("given analysis", f.report["orderingReason"])
            self.assertFalse([w for w in f.report["warnings"] if "pattern" in w])
            f.refit(self.A, weights=self.w)
            root = np.sqrt(self.w)
            x = np.linalg.lstsq(root[:, None] * self.dense, root * self.b, rcond=None)[0]
            self.assert_close(f.solve(self.b).x, x)
            for A, message in [
                (self.A[:50], "the new A is 50 x 20, this one 60 x 20"),
                (squares[1:], "values for"),
            ]:
                with self.assertRaisesRegex(ValueError, message):
                    f.refit(A)
            with self.assertRaisesRegex(sparqr.SparqrError, "is nan"):
                f.refit(np.full(len(squares), np.nan))
            self.assert_close(f.solve(self.b).x, x)
            other = sp.csr_array(self.dense[:, ::-1])
            f.refit(other)
            self.assertTrue([w for w in f.report["warnings"] if "pattern" in w])
            self.assert_close(f.solve(self.b).x, self.x[::-1])

    def test_a_data_frame_of_a_matrix(self):
        frame = sparqr.from_scipy(self.A, self.b, weights=self.w, partitions=3)
        self.assertEqual(frame.columns, ["features", "label", "weight"])
        self.assertEqual(frame.rdd.getNumPartitions(), 3)
        rows = frame.collect()
        for i, row in enumerate(rows):
            self.assertEqual(row.features.toArray().tolist(), self.dense[i].tolist())
        self.assertEqual([r.label for r in rows], self.b.tolist())
        self.assertEqual([r.weight for r in rows], self.w.tolist())
        root = self.np.sqrt(self.w)
        expected = self.np.linalg.lstsq(root[:, None] * self.dense, root * self.b, rcond=None)[0]
        self.assert_close(sparqr.solve(frame, weight_col="weight").x, expected)
        several = sparqr.from_scipy(self.A.tocsc(), self.B)
        self.assertEqual(several.columns, ["features", "label_0", "label_1", "label_2"])
        self.assertEqual(sparqr.from_scipy(self.dense).columns, ["features"])
        self.assertEqual(sparqr.from_scipy(self.dense).count(), 60)
        with self.assertRaisesRegex(ValueError, "path"):
            sparqr.from_scipy("A.mtx")

    def test_nothing_stays_behind(self):
        here = self.spark.sparkContext._temp_dir
        before = set(os.listdir(here))
        sparqr.lstsq(self.A, self.b, r=True)
        with self.assertRaises(sparqr.SparqrError):
            sparqr.lstsq(self.A[:, [0, 0]], self.b, rank_policy="fail")
        self.assertEqual(set(os.listdir(here)), before)
        self.assertEqual(self.spark.sparkContext._jsc.getPersistentRDDs().size(), 0)

    def test_arrays_do_not_go_unencrypted(self):
        context = self.spark.sparkContext
        context._encryption_enabled = True
        try:
            with self.assertRaisesRegex(sparqr.SparqrError, "encryption"):
                sparqr.lstsq(self.A, self.b)
        finally:
            context._encryption_enabled = False

    def test_without_an_active_session_one_is_started(self):
        started = types.ModuleType("sparqr._session")
        started.session = lambda: self.spark
        with mock.patch.dict(sys.modules, {"sparqr._session": started}):
            with mock.patch("pyspark.sql.SparkSession.getActiveSession", return_value=None):
                self.assertIs(_arrays.active_session(), self.spark)
        self.assertEqual(sparqr.lstsq([[2.0]], [6], session=self.spark).x.tolist(), [3.0])

    if importlib.util.find_spec("sparseqr"):

        def test_suitesparse_agrees(self):
            import sparseqr

            x = sparseqr.solve(self.sp.coo_matrix(self.dense), self.b, tolerance=0)
            self.assert_close(sparqr.lstsq(self.A, self.b).x, x)


class _ToArrow:
    """A table from a library with only a to_arrow() method."""

    def __init__(self, table):
        self._table = table
        self.columns = table.column_names

    def to_arrow(self):
        return self._table
