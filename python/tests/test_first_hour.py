# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What a newcomer meets: tables of every kind, results as tables, what can be pickled; constraints, ridge paths, leverages."""

import math
import pathlib
import pickle
import unittest

import sparqr
from sparqr._hypotheses import fisher, student, student_quantile
from tests.spark import SparkTest, require

SEED = 20261128
EPS = 2.0**-52


class DistributionsTest(unittest.TestCase):
    def test_tails(self):
        """Closed forms: t with 1 and 2 degrees of freedom, F with 2 in the numerator, the normal limit."""
        for t in (0.01, 0.5, 1.0, 3.0, 40.0):
            for found, wanted in (
                (student(t, 1), 2 / math.pi * math.atan(1 / t)),
                (student(t, 2), 2 / (2 + t * t + t * math.sqrt(2 + t * t))),
                (fisher(t, 2, 7), (1 + 2 * t / 7) ** -3.5),
                (fisher(t, 2, 98269), math.exp(-98269 / 2 * math.log1p(2 * t / 98269))),
                (fisher(t * t, 1, 31), student(t, 31)),
            ):
                self.assertLessEqual(abs(found - wanted), 1e7 * EPS * wanted, (t, found, wanted))
        self.assertAlmostEqual(student(1.959963984540054, 1e8), 0.05, places=7)
        self.assertTrue(math.isnan(student(math.nan, 3)) and math.isnan(fisher(1.0, 2, 0)))
        for freedom in (1, 2.5, 31, 1e6):
            for level in (0.05, 0.5, 0.95, 0.999):
                t = student_quantile(level, freedom)
                self.assertLessEqual(abs(student(t, freedom) - (1 - level)), 1e4 * EPS, (level, freedom))
        self.assertAlmostEqual(student_quantile(0.95, 1), math.tan(math.pi * 0.475), delta=1e5 * EPS * 13)
        self.assertTrue(math.isnan(student_quantile(0.95, 0)))
        self.assertEqual((student(math.inf, 3), student(0.0, 3), fisher(0.0, 3, 4)), (0, 1, 1))


class TablesTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        require("numpy", "pandas", "pyarrow")
        super().setUpClass()
        import numpy as np
        import pandas as pd

        rng = np.random.default_rng(SEED)
        m = 40
        cls.table = pd.DataFrame({"age": rng.normal(size=m), "firm": rng.choice(["acme", "bolt", "crown"], m)})
        cls.table["wage"] = 1.0 + 0.5 * cls.table.age + (cls.table.firm == "bolt") + 0.1 * rng.normal(size=m)
        cls.formula = "wage ~ age + firm"

    def same(self, fit, wanted, what):
        self.assertEqual(list(fit.coef().index), list(wanted.index), what)
        scale = wanted.abs().max()
        # the orders of summation may differ: some tens of roundings on a matrix with a condition below 10
        self.assertLessEqual((fit.coef() - wanted).abs().max(), 1000 * EPS * scale, (what, SEED))

    def test_whatever_hands_out_its_columns(self):
        import pandas as pd
        import pyarrow as pa

        whole = pa.Table.from_pandas(self.table)

        class Stream:
            def __arrow_c_stream__(self, requested_schema=None):
                return whole.__arrow_c_stream__(requested_schema)

        class Relation:  # of an older DuckDB
            def fetch_arrow_table(self):
                return whole

        class Expression:  # of Ibis
            def to_pyarrow(self):
                return whole

        class Frame(pd.DataFrame):
            pass

        wanted = sparqr.feols(self.formula, self.table).coef()
        for data in (Stream(), Relation(), Expression(), Frame(self.table)):
            fit = sparqr.feols(self.formula, data)
            self.same(fit, wanted, type(data))
            self.assertEqual(fit.predict(data).shape, (len(self.table),))
        for wrong in (self.table["age"], whole.column("age"), self.table[["age"]].to_numpy(), {"age": [1.0]}, 3):
            with self.assertRaisesRegex(TypeError, "^data is an? .*, not a table: feols takes one of pandas, Polars"):
                sparqr.feols(self.formula, wrong)

    def test_files(self):
        wanted = sparqr.feols(self.formula, self.table).coef()
        folder = pathlib.Path(self.path("tables"))
        folder.mkdir()
        self.table.to_csv(folder / "wages of all.csv", index=False)
        self.table.to_parquet(folder / "wages.parquet", index=False)
        for file in (folder / "wages of all.csv", folder / "wages.parquet", str(folder / "wages.parquet")):
            self.same(sparqr.feols(self.formula, file), wanted, file)
        with self.assertRaisesRegex(FileNotFoundError, "^data: there is no file .*nosuch.csv$"):
            sparqr.feols(self.formula, folder / "nosuch.csv")
        (folder / "bad.csv").write_text("wage,age,firm\n1,2\n")
        with self.assertRaisesRegex(sparqr.SparqrError, "bad.csv"):
            sparqr.feols(self.formula, folder / "bad.csv")

    def test_functions_of_texts_are_refused_in_a_line(self):
        with self.assertRaisesRegex(ValueError, r"^log\(firm\): firm is no column of numbers but of type \w*string$"):
            sparqr.feols("wage ~ age + log(firm)", self.table)

    def test_a_large_table_goes_by_a_file_and_stays_in_order(self):
        """Its partitions are read by the tasks; batches would travel in the tasks of each pass over the rows."""
        import numpy as np
        import pandas as pd

        from sparqr._tables import crossing, to_spark

        m = 300_000
        large = pd.DataFrame({"at": np.arange(m), "x": np.random.default_rng(SEED).normal(size=m), "t": "a", "yes": True})
        large.loc[7, ["x", "t"]] = None
        sent = to_spark(self.spark, crossing(large, list(large.columns)).table)
        frame = sent.frame
        self.assertIn("FileScan parquet", frame._jdf.queryExecution().toString())
        back = frame.toArrow().to_pandas()
        self.assertEqual(back["at"].tolist(), list(range(m)))
        pd.testing.assert_frame_equal(back, large, check_dtype=False)
        folder = pathlib.Path(sent.folder.path)
        self.assertTrue((folder / "table.parquet").exists())
        sent.close()
        self.assertFalse(folder.exists())
        small = to_spark(self.spark, crossing(large.head(100), ["at"]).table).frame
        self.assertNotIn("FileScan", small._jdf.queryExecution().toString())
        both = to_spark(self.spark, crossing(large.rename(columns={"x": "AT"}), ["at", "AT"]).table).frame
        self.assertEqual(both.columns, ["at", "AT"])
        self.assertNotIn("FileScan", both._jdf.queryExecution().toString())

    def test_a_table_on_a_cluster_is_no_part_of_its_tasks(self):
        """A task has its partition's number; the batch is in a broadcast, which an executor fetches once."""
        import numpy as np
        import pandas as pd

        from sparqr._tables import _by_broadcasts, crossing

        m = 300_000
        large = pd.DataFrame({"at": np.arange(m), "x": np.random.default_rng(SEED).normal(size=m), "t": "a", "yes": True})
        large.loc[7, ["x", "t"]] = None
        table = crossing(large, list(large.columns)).table
        frame = _by_broadcasts(self.spark, table, 100_000)
        pd.testing.assert_frame_equal(frame.toArrow().to_pandas(), large, check_dtype=False)
        self.assertEqual(self.sizes_of_partitions(frame), [100_000] * 3)
        bytes_of_tasks = self.bytes_of_partitions(frame)
        self.assertEqual(len(bytes_of_tasks), 3)
        self.assertLess(max(bytes_of_tasks), 10_000)
        with self.subTest("Spark's own, for comparison: if it no longer sends the table in its tasks, ours can go"):
            self.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100000")
            self.spark.conf.set("spark.sql.execution.arrow.localRelationThreshold", "0")
            try:
                theirs = self.bytes_of_partitions(self.spark.createDataFrame(table))
            finally:
                self.spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
                self.spark.conf.unset("spark.sql.execution.arrow.localRelationThreshold")
            self.assertGreater(sum(theirs), 0.5 * table.nbytes)

    def sizes_of_partitions(self, frame):
        return frame.rdd.mapPartitions(lambda rows: [sum(1 for _ in rows)]).collect()

    def bytes_of_partitions(self, frame):
        """What Java's serializer, which Spark takes for tasks, makes of each partition."""
        jvm = self.spark._jvm
        sizes = []
        for part in frame._jdf.queryExecution().toRdd().partitions():
            out = jvm.java.io.ByteArrayOutputStream()
            stream = jvm.java.io.ObjectOutputStream(out)
            stream.writeObject(part)
            stream.close()
            sizes.append(out.size())
        return sizes

    def test_the_file_of_a_table_goes_with_the_result(self):
        import gc

        import numpy as np
        import pandas as pd

        m = 60_000
        rng = np.random.default_rng(SEED)
        large = pd.DataFrame({"x": rng.normal(size=m), "z": rng.normal(size=m)})
        large["y"] = 1 + large.x - large.z + rng.normal(size=m)
        kept = set(self.folders())
        fit = sparqr.feols("y ~ x + z", large)
        added = set(self.folders()) - kept
        self.assertEqual(len(added), 1)
        self.assertEqual(len(fit.resid()), m)
        fit.predict(large)
        self.assertEqual(set(self.folders()) - kept, added)
        del fit
        gc.collect()
        self.assertEqual(set(self.folders()) - kept, set())

    def folders(self):
        return pathlib.Path(self.spark.sparkContext._temp_dir).glob("sparqr-*")

    def test_predictions_with_intervals(self):
        """Against the normal equations; robust errors, a factor, weights, rows without a prediction."""
        import numpy as np
        import pandas as pd

        table = self.table.assign(w=np.linspace(0.5, 2, len(self.table)))
        new = pd.DataFrame({"age": [0.5, -1.0, 2.0, None, 1.0], "firm": ["acme", "crown", "bolt", "bolt", "nobody"]})
        A = np.column_stack([np.ones(5), new.age, new.firm == "bolt", new.firm == "crown"]).astype(float)[:3]
        for vcov, weights in (("iid", None), ("HC1", "w")):
            fit = sparqr.feols(self.formula, table, vcov, weights)
            names = ["(Intercept)", "age", "firmbolt", "firmcrown"]
            v = fit.vcov().loc[names, names].to_numpy()
            mean = np.sqrt(np.einsum("ij,jk,ik->i", A, v, A))
            for interval, error in (("confidence", mean), ("prediction", np.sqrt(mean**2 + fit.sigma**2))):
                found = fit.predict(new, interval=interval, alpha=0.1)
                self.assertEqual(list(found.columns), ["fit", "se_fit", "ci_low", "ci_high"])
                self.assertTrue(found.iloc[3:].isna().all(axis=None))
                critical = student_quantile(0.9, fit.df_t)
                fitted = A @ fit.coef()[names].to_numpy()
                for name, wanted in (
                    ("fit", fitted),
                    ("se_fit", mean),
                    ("ci_low", fitted - critical * error),
                    ("ci_high", fitted + critical * error),
                ):
                    off = np.abs(found[name].to_numpy()[:3] - wanted).max()
                    self.assertLessEqual(off, 1e5 * EPS * np.abs(wanted).max(), (name, interval, vcov))
        whole = fit.predict(interval="prediction")
        self.assertEqual(len(whole), len(table))
        there = fit.predict(self.spark.createDataFrame(new.head(3)), "yhat", interval="prediction", alpha=0.1)
        self.assertEqual(there.columns, ["age", "firm", "yhat", "yhat_se", "yhat_low", "yhat_high"])
        self.assertEqual([row["yhat_low"] for row in there.collect()], list(found["ci_low"][:3]))
        one = sparqr.feols("wage ~ 1", table).predict(new, interval="confidence")
        self.assertEqual(len(one), 5)
        self.assertEqual(len(set(one["se_fit"])), 1)
        absorbed = sparqr.feols("wage ~ age | firm", table)
        for wrong, said in (
            (lambda: absorbed.predict(new, interval="prediction"), "not there with absorbed effects"),
            (lambda: fit.predict(new, interval="both"), "interval 'both' is none of confidence, prediction"),
            (lambda: fit.predict(new, interval="prediction", alpha=1.0), "alpha 1.0 is not within"),
            (lambda: fit.predict(there.drop("yhat"), "yhat", interval="prediction"), "there is a column yhat_se already"),
        ):
            with self.assertRaisesRegex(ValueError, said):
                wrong()

    def test_solutions_with_names_and_errors(self):
        A = self.table[["age"]].assign(one=1.0)
        result = sparqr.lstsq(A, self.table["wage"], standard_errors=True)
        shown = result.to_pandas()
        self.assertEqual((list(shown.index), list(shown.columns)), (["age", "one"], ["x", "std_error"]))
        self.assertEqual(list(shown["std_error"]), list(result.standard_errors))
        html = result._repr_html_()
        for part in (">age<", ">one<", ">std_error<", f"{result.standard_errors[1]:.7g}"):
            self.assertIn(part, html)
        both = sparqr.lstsq(A, self.table[["wage", "age"]], standard_errors=True).to_pandas()
        self.assertEqual(list(both.columns), ["x0", "std_error0", "x1", "std_error1"])

    def test_hypotheses_by_name(self):
        import numpy as np

        fit = sparqr.feols(self.formula, self.table, "HC1")
        table = fit.contrasts("age", {"firmbolt": 1, "firmcrown": -2})
        self.assertEqual(list(table.index), ["age", "firmbolt - 2 firmcrown"])
        columns = list(table.columns)
        for found, wanted in zip(table.loc["age"], fit.tidy().loc["age", columns]):
            self.assertLessEqual(abs(found - wanted), 1000 * EPS * abs(wanted))
        b, v = fit.coef(), fit.vcov()
        difference = table.loc["firmbolt - 2 firmcrown"]
        variance = v.loc["firmbolt", "firmbolt"] + 4 * v.loc["firmcrown", "firmcrown"] - 4 * v.loc["firmbolt", "firmcrown"]
        self.assertAlmostEqual(difference["Estimate"], b["firmbolt"] - 2 * b["firmcrown"], delta=100 * EPS)
        self.assertAlmostEqual(difference["Std. Error"], np.sqrt(variance), delta=100 * EPS)
        # all but the intercept at once: the fit's own F, by the JVM
        whole = fit.wald("age", "firmbolt", "firmcrown")
        for found, wanted in ((whole["F"], fit.f_statistic), (whole["p_value"], fit.f_pvalue)):
            self.assertLessEqual(abs(found - wanted), 1e5 * EPS * wanted)
        self.assertEqual((whole["df1"], whole["df2"]), (3, fit.df_t))
        self.assertAlmostEqual(fit.wald("age")["F"], fit.tidy().loc["age", "t value"] ** 2, delta=1e-9)
        self.assertEqual(fit.wald("age", values=[b["age"]])["F"], 0)
        for wrong, said in (
            (["nobody"], "no coefficient nobody; there are"),
            ([], "no hypothesis"),
            ([{"age": 0}], "no nonzero factor"),
            (["age", {"age": 2}], "depends on the others"),
        ):
            with self.assertRaisesRegex(ValueError, said):
                fit.wald(*wrong)
        with self.assertRaisesRegex(ValueError, "values of shape"):
            fit.wald("age", values=[1, 2])
        with self.assertRaisesRegex(TypeError, "neither a coefficient's name"):
            fit.wald(3)

    def test_what_can_be_pickled(self):
        A = self.table[["age"]].assign(one=1.0)
        result = sparqr.lstsq(A, self.table["wage"], r=True)
        again = pickle.loads(pickle.dumps(result))
        self.assertEqual((list(again.x), again.report, again.names), (list(result.x), result.report, result.names))
        self.assertEqual(pickle.loads(pickle.dumps(sparqr.analyze(A))).columns, 2)
        with self.assertRaisesRegex(TypeError, r"^a fit cannot be pickled: .* Save its tables: fit\.tidy\(\)"):
            pickle.dumps(sparqr.feols(self.formula, self.table))
        with sparqr.factorize(A) as f, self.assertRaisesRegex(TypeError, "^a factorization cannot be pickled: "):
            pickle.dumps(f)


class ProblemsTest(SparkTest):
    """What Java has, against dense algebra. The matrices have condition numbers below 10."""

    @classmethod
    def setUpClass(cls):
        require("numpy", "scipy")
        super().setUpClass()
        import numpy as np

        cls.np = np
        rng = np.random.default_rng(SEED)
        cls.A = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.6) + 3 * np.eye(50, 6)
        cls.b = rng.normal(size=50)
        cls.B = rng.normal(size=(50, 2))
        cls.w = rng.uniform(0.5, 2, 50)
        cls.C = np.array([[1.0, 1, 1, 1, 1, 1], [1, -1, 0, 0, 0, 0]])
        cls.d = np.array([1.0, 0.25])

    def close(self, found, wanted):
        np = self.np
        self.assertEqual(np.shape(found), np.shape(wanted))
        scale = np.abs(wanted).max()
        self.assertLessEqual(np.abs(np.asarray(found) - wanted).max(), 1000 * EPS * scale, SEED)

    def lagrange(self, A, b):
        """x and the multipliers by the equations of Lagrange."""
        np = self.np
        p, n = self.C.shape
        left = np.block([[A.T @ A, self.C.T], [self.C, np.zeros((p, p))]])
        found = np.linalg.solve(left, np.concatenate([A.T @ b, self.d]))
        return found[:n], found[n:], np.linalg.inv(left)[:n, :n]

    def test_constraints(self):
        np = self.np
        for w in (None, self.w):
            root = np.sqrt(np.ones(50) if w is None else w)
            A, b = self.A * root[:, None], self.b * root
            x, multipliers, covariance = self.lagrange(A, b)
            result = sparqr.lstsq(self.A, self.b, weights=w, constraints=(self.C, self.d), standard_errors=True)
            self.close(result.x, x)
            self.close(result.multipliers, multipliers)
            self.close(self.C @ result.x, self.d)
            sigma = np.linalg.norm(b - A @ x) / np.sqrt(50 - 6 + 2)
            self.close(result.standard_errors, sigma * np.sqrt(np.diag(covariance)))
        both = sparqr.lstsq(self.A, self.B, constraints=(self.C, np.column_stack([self.d, self.d])))
        for k in range(2):
            x, multipliers, _ = self.lagrange(self.A, self.B[:, k])
            self.close(both.x[:, k], x)
            self.close(both.multipliers[:, k], multipliers)

    def test_wrong_constraints(self):
        C, d = self.C, self.d
        for constraints, error, said in (
            (C, TypeError, "constraints have 6|no pair"),
            (3, TypeError, "no pair"),
            ((C[:, :5], d), ValueError, "constraints have 5 columns, A has 6"),
            ((C, self.np.eye(2)), ValueError, "d has 2 columns for 1 of b"),
            ((C, d[:1]), ValueError, "b"),
            ((C[[0, 0]], self.np.array([1.0, 2.0])), Exception, "contradict"),
        ):
            with self.subTest(said), self.assertRaisesRegex(error, said):
                sparqr.lstsq(self.A, self.b, constraints=constraints if constraints is not C else (C,))
        with self.assertRaisesRegex(ValueError, "constraints go neither with"):
            sparqr.lstsq(self.A, self.b, constraints=(C, d), r=True)

    def test_a_ridge_path(self):
        np = self.np
        lambdas = [10.0, 0.0, 0.1]
        for w, b in ((None, self.b), (self.w, self.B)):
            root = np.sqrt(np.ones(50) if w is None else w)[:, None]
            A, sides = self.A * root, b * (root if b.ndim == 2 else root[:, 0])
            found = sparqr.ridge_path(self.A, b, lambdas, weights=w)
            self.assertEqual(len(found), 3)
            for value, result in zip(lambdas, found):
                self.close(result.x, np.linalg.solve(A.T @ A + value * np.eye(6), A.T @ sides))
        for wrong, said in (([], "lambdas is empty"), ([1.0, -1.0], "lambda -1.0 is not"), ([float("nan")], "lambda nan is not")):
            with self.assertRaisesRegex(ValueError, said):
                sparqr.ridge_path(self.A, self.b, wrong)
        with self.assertRaisesRegex(ValueError, "b is missing"):
            sparqr.ridge_path(self.A, None, [1.0])

    def test_leverages(self):
        np = self.np
        w = self.w.copy()
        w[[3, 20]] = 0
        for weights in (None, w):
            A = self.A if weights is None else self.A * np.sqrt(weights)[:, None]
            q, _ = np.linalg.qr(A)
            with sparqr.factorize(self.A, weights=weights) as f:
                self.close(f.leverages(), (q**2).sum(axis=1))


if __name__ == "__main__":
    unittest.main()
