# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Everything on a real PySpark; skipped where there is none."""

import importlib.util
import pathlib
import tempfile
import unittest

import sparqr
from tests.jvm import class_path


@unittest.skipUnless(importlib.util.find_spec("pyspark"), "PySpark is not installed")
class PySparkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = class_path()
        if path is None:
            raise unittest.SkipTest("Sparqr is not built (run bin/sparqr once)")
        from pyspark.sql import SparkSession

        # PySpark brings Spark itself; of the class path it needs what is not Spark.
        ours = [p for p in path.split(":") if "sparqr" in p or "openblas" in p or "javacpp" in p]
        ours += [p for p in path.split(":") if "jcuda" in p or p.endswith("/classes")]
        cls.spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.extraClassPath", ":".join(dict.fromkeys(ours)))
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        from pyspark.ml.linalg import Vectors

        rows = [(float(y), Vectors.dense(t)) for t, y in enumerate([1, 3, 4, 8, 9], 1)]
        cls.data = cls.spark.createDataFrame(rows, ["label", "features"])
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        cls.folder.cleanup()

    def test_solve(self):
        result = sparqr.solve(self.data)
        self.assertAlmostEqual(result.x[0], 96 / 55, places=13)
        self.assertEqual(result.rank, 1)
        both = sparqr.solve(self.data.selectExpr("features", "label a", "2 * label b"),
                            label_col=["a", "b"])
        self.assertAlmostEqual(2 * both.x[0][0], both.x[0][1], places=13)

    def test_estimator(self):
        from sparqr.ml import SparseQRRegression

        model = SparseQRRegression().fit(self.data)
        self.assertAlmostEqual(model.coefficients[0], 2.1, places=13)
        self.assertAlmostEqual(model.intercept, -1.3, places=13)
        self.assertEqual(len(model.summary.pValues), 2)
        self.assertAlmostEqual(model.transform(self.data).first().prediction, 0.8, places=13)
        self.assertEqual(model.summary.residuals.count(), 5)

    def test_pipeline_is_saved_and_loaded(self):
        from pyspark.ml import Pipeline, PipelineModel

        from sparqr.ml import SparseQRRegression, SparseQRRegressionModel

        path = str(pathlib.Path(self.folder.name) / "pipeline")
        model = Pipeline(stages=[SparseQRRegression(regParam=0.1)]).fit(self.data)
        model.save(path)
        back = PipelineModel.load(path).stages[0]
        self.assertIsInstance(back, SparseQRRegressionModel)
        self.assertEqual(back.coefficients, model.stages[0].coefficients)

    def test_cross_validator(self):
        from pyspark.ml.evaluation import RegressionEvaluator
        from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

        from sparqr.ml import SparseQRRegression

        stage = SparseQRRegression(computeStandardErrors=False)
        grid = ParamGridBuilder().addGrid(stage.regParam, [0.0, 100.0]).build()
        best = CrossValidator(
            estimator=stage,
            estimatorParamMaps=grid,
            evaluator=RegressionEvaluator(),
            numFolds=2,
            seed=1,
        ).fit(self.data.union(self.data).union(self.data))
        self.assertLess(best.avgMetrics[0], best.avgMetrics[1])

    def test_an_input_that_changes_between_its_readings_is_refused(self):
        import random

        from pyspark.sql import functions

        from sparqr.ml import SparseQRRegression

        noise = functions.udf(lambda: random.SystemRandom().random(), "double")
        changing = self.data.withColumn("label", noise.asNondeterministic()())
        with self.assertRaises(sparqr.SparqrError) as told:
            sparqr.solve(changing)
        self.assertRegex(
            str(told.exception),
            r"^partition \d had \d rows, then as many with other labels: "
            r"the input changed between its two readings; persist it$",
        )
        model = SparseQRRegression().fit(changing)  # reads it once: it persists its rows
        self.assertEqual(len(model.summary.pValues), 2)
        with self.assertRaisesRegex(sparqr.SparqrError, "the input changed .*; persist it$"):
            model.summary.r2
        cached = changing.cache()
        self.assertEqual(len(sparqr.solve(cached).x), 1)
        self.assertLess(SparseQRRegression().fit(cached).summary.r2, 1)
        cached.unpersist()

    def test_errors_are_told(self):
        from sparqr.ml import SparseQRRegression

        with self.assertRaises(sparqr.SparqrError):
            sparqr.solve(self.data.selectExpr("features", "double('NaN') label"))
        with self.assertRaises(sparqr.SparqrError):
            SparseQRRegression().fit(self.data.selectExpr("features", "double('NaN') label"))


if __name__ == "__main__":
    unittest.main()
