# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.solve on a real JVM with Spark, through Py4J."""

import pathlib
import tempfile
import types
import unittest

import sparqr
from sparqr import _jvm
from tests.jvm import Gateway

LINE = "1 1:1\n3 1:1 2:1\n4 1:1 2:2\n8 1:1 2:3\n9 1:1 2:4\n"


class GatewayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.java = Gateway()
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.java.close()
        cls.folder.cleanup()

    def frame(self, text, change=lambda jdf, functions: jdf):
        """What sparqr.solve uses of a PySpark DataFrame."""
        path = pathlib.Path(self.folder.name) / f"{self.id()}.svm"
        path.write_text(text)
        jdf = change(self.java.libsvm(path), self.java.jvm.org.apache.spark.sql.functions)
        session = types.SimpleNamespace(_jvm=self.java.jvm)
        return types.SimpleNamespace(_jdf=jdf, sparkSession=session)

    def test_a_line_through_five_points(self):
        result = sparqr.solve(self.frame(LINE), check=True)
        self.assertAlmostEqual(result.x[0], 0.8, places=13)
        self.assertAlmostEqual(result.x[1], 2.1, places=13)
        self.assertEqual(result.rank, 2)
        self.assertEqual(result.dead_columns, [])
        squares = sum((y - 0.8 - 2.1 * t) ** 2 for t, y in enumerate([1, 3, 4, 8, 9]))
        self.assertAlmostEqual(result.residual_norm, squares**0.5, places=13)
        self.assertLess(result.report["normalResidual"], 1e-14)
        self.assertIn("rank=2", repr(result))

    def test_options_reach_the_solver(self):
        frame = self.frame("2 1:1\n2 1:1\n")
        result = sparqr.solve(frame, ridge=2, ordering="nd", backend="cpu", executors=1)
        self.assertAlmostEqual(result.x[0], 1, places=14)
        self.assertIn("cpu", result.report["backend"])

        twice = "1 1:1 2:1\n2 1:1 2:1\n"
        basic = sparqr.solve(self.frame(twice))
        self.assertEqual((basic.rank, len(basic.dead_columns)), (1, 1))
        least = sparqr.solve(self.frame(twice), minimum_norm=True)
        self.assertAlmostEqual(least.x[0], 0.75, places=13)
        self.assertAlmostEqual(least.x[1], 0.75, places=13)
        self.assertEqual(sparqr.solve(self.frame(twice), rank_tolerance=10).rank, 0)
        with self.assertRaises(sparqr.SparqrError) as told:
            sparqr.solve(self.frame(twice), rank_policy="fail")
        self.assertEqual(told.exception.kind, "RankDeficientException")
        again = self.frame("2 1:1\n2 1:1\n")
        more = sparqr.solve(again, ridge=2, refinement=2, partitions=2, columns=1, check=True)
        self.assertAlmostEqual(more.x[0], 1, places=14)
        self.assertLess(more.report["normalResidual"], 1e-14)

    def test_several_labels_and_weights(self):
        def change(jdf, functions):
            double = functions.col("label").multiply(2)
            weight = functions.when(functions.col("label").gt(8), 0.0).otherwise(4.0)
            return jdf.withColumn("b2", double).withColumn("w", weight)

        frame = self.frame(LINE, change)
        result = sparqr.solve(frame, label_col=["label", "b2"], weight_col="w")
        # Without the last point, which has weight 0: 0.7 + 2.2 t.
        for i, x in enumerate([0.7, 2.2]):
            self.assertAlmostEqual(result.x[i][0], x, places=13)
            self.assertAlmostEqual(result.x[i][1], 2 * x, places=13)
        self.assertAlmostEqual(2 * result.residual_norm[0], result.residual_norm[1], places=12)
        self.assertEqual(result.report["rows"], 4)
        only = sparqr.solve(frame, label_col=["b2"])
        self.assertEqual(len(only.residual_norm), 1)
        self.assertEqual(len(only.x[0]), 1)

    def test_errors_are_told_in_one_line(self):
        def change(jdf, functions):
            return jdf.withColumn("w", functions.lit(-1.0))

        with self.assertRaisesRegex(sparqr.SparqrError, "negative weight") as told:
            sparqr.solve(self.frame("1 1:1\n", change), weight_col="w")
        self.assertEqual(told.exception.kind, "MatrixFormatException")
        with self.assertRaises(sparqr.SparqrError) as told:
            sparqr.solve(self.frame("NaN 1:1\n"))
        self.assertEqual(told.exception.kind, "NonFiniteValueException")

    def test_an_input_that_changes_between_its_readings_is_refused(self):
        def change(jdf, functions):
            # another number at every evaluation; rand() would keep the seed of the plan
            label = functions.expr("double(reflect('java.lang.Math', 'random'))")
            return jdf.withColumn("label", label)

        with self.assertRaises(sparqr.SparqrError) as told:
            sparqr.solve(self.frame(LINE, change))
        self.assertEqual(told.exception.kind, "InputChangedException")
        self.assertEqual(
            str(told.exception),
            "partition 0 had 5 rows, then as many with other labels: "
            "the input changed between its two readings; persist it",
        )
        persisted = self.frame(LINE, lambda jdf, functions: change(jdf, functions).persist())
        self.assertEqual(len(sparqr.solve(persisted).x), 2)

    def test_what_is_not_there_is_told(self):
        with self.assertRaisesRegex(RuntimeError, "Sparqr's jar"):
            _jvm.java_class(self.java.jvm, "io.sparqr.spark.NoSuchClass")

    def test_many_values_come_in_one_message(self):
        values = self.java.gateway.new_array(self.java.jvm.double, 100_000)
        values[99_999] = 0.1
        fetched = _jvm.doubles(self.java.jvm, values)
        self.assertEqual((len(fetched), fetched[99_999], fetched[0]), (100_000, 0.1, 0.0))


if __name__ == "__main__":
    unittest.main()
