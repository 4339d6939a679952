# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.ml on PySpark."""

import math
import unittest

import sparqr
from tests.spark import SparkTest


class MlTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import sparqr.ml

        cls.ml = sparqr.ml

    def test_a_line_with_all_its_statistics(self):
        model = self.ml.SparseQRRegression(regParam=0.0, ordering="amd").fit(self.data)
        self.assertAlmostEqual(model.coefficients[0], 2.1, places=13)
        self.assertAlmostEqual(model.intercept, -1.3, places=13)
        self.assertEqual((model.numFeatures, model.getOrdering()), (1, "amd"))
        s = model.summary
        # R: summary(lm(c(1, 3, 4, 8, 9) ~ c(1:5)))
        sigma = math.sqrt((0.2**2 + 0.1**2 + 1.0**2 + 0.9**2 + 0.2**2) / 3)
        self.assertAlmostEqual(s.coefficientStandardErrors[0], sigma / math.sqrt(10), places=12)
        self.assertAlmostEqual(s.tValues[0], 2.1 * math.sqrt(10) / sigma, places=10)
        self.assertEqual((len(s.pValues), s.rank, s.numInstances, s.degreesOfFreedom), (2, 2, 5, 3))
        self.assertEqual((s.deadColumns, s.report["columns"]), ([], 2))
        squares = 3 * sigma**2
        self.assertAlmostEqual(s.r2, 1 - squares / 46, places=13)
        self.assertAlmostEqual(s.r2adj, 1 - squares / 3 / (46 / 4), places=13)
        self.assertAlmostEqual(s.meanSquaredError, squares / 5, places=13)
        self.assertAlmostEqual(s.rootMeanSquaredError, math.sqrt(squares / 5), places=13)
        self.assertAlmostEqual(s.meanAbsoluteError, 2.4 / 5, places=13)
        self.assertAlmostEqual(s.explainedVariance, (46 - squares) / 5, places=12)
        self.assertAlmostEqual(s.devianceResiduals[0], -1.0, places=12)
        self.assertAlmostEqual(s.devianceResiduals[1], 0.9, places=12)
        self.assertEqual((s.featuresCol, s.labelCol, s.predictionCol), ("features", "label", "prediction"))
        self.assertEqual((s.residuals.count(), s.predictions.count()), (5, 5))
        self.assertAlmostEqual(model.transform(self.data).first().prediction, 0.8, places=13)
        self.assertAlmostEqual(model.predict(self.data.first().features), 0.8, places=13)
        self.assertIn("numFeatures=1", repr(model))

    def test_every_param_is_one_of_the_jvms(self):
        stage = self.ml.SparseQRRegression()
        names = {p.name for p in stage.params}
        self.assertEqual(names, {p.name() for p in stage._java_obj.params()})
        for name in names:
            setter = getattr(stage, "set" + name[0].upper() + name[1:])
            value = {"fitIntercept": False, "computeStandardErrors": False, "profile": True}.get(name)
            value = 0.5 if name in ("regParam", "rankTolerance") else value
            lists = ("categoricalCols", "referenceLevels", "clusterCols", "keepTerms", "dropTerms")
            value = ["nd=1"] if name in lists else value
            words = {"backend": "cpu", "method": "householder", "handleInvalid": "skip", "vcov": "HC1"}
            words["clusterCorrection"] = "sandwich"
            value = words.get(name, value)
            setter("nd" if value is None else value)
        stage._transfer_params_to_java()
        self.assertEqual(stage._java_obj.getOrdering(), "nd")
        self.assertEqual(stage._java_obj.getRankTolerance(), 0.5)
        self.assertFalse(stage._java_obj.getFitIntercept())
        self.assertEqual((stage.getBackend(), stage.getRankTolerance()), ("cpu", 0.5))
        self.assertEqual((stage.getWeightCol(), stage.getComputeStandardErrors()), ("nd", False))

    def test_a_formula_with_factors(self):
        rows = [(1.0, 1.0, "a"), (3.0, 2.0, "b"), (4.0, 3.0, "a"), (8.0, 4.0, "b"), (9.0, 5.0, "a")]
        data = self.spark.createDataFrame(rows, "y double, x double, g string")
        model = self.ml.SparseQRRegression(formula="y ~ x + g", referenceLevels=["g=b"]).fit(data)
        # R: coef(lm(y ~ x + relevel(factor(g), "b")))
        self.assertAlmostEqual(model.coefficients[0], 2.1, places=13)
        self.assertAlmostEqual(model.coefficients[1], -5 / 6, places=13)
        self.assertAlmostEqual(model.intercept, -0.8, places=13)
        self.assertEqual(model.transform(data).count(), 5)

    def test_clustered_errors_and_the_table(self):
        rows = [(1.0, 1.0, "a"), (3.0, 2.0, "b"), (4.0, 3.0, "a"), (8.0, 4.0, "c"), (9.0, 5.0, "b")]
        data = self.spark.createDataFrame(rows, "y double, x double, g string")
        stage = self.ml.SparseQRRegression(formula="y ~ x", clusterCols=["g"])
        summary = stage.fit(data).summary
        # the definition: (X'X)^-1 sum s s' (X'X)^-1 G/(G-1) (n-1)/(n-k)
        mean, slope = 3.0, 2.1
        residual = {}
        for y, x, g in rows:
            score = residual.setdefault(g, [0.0, 0.0])
            e = y - (5.0 + slope * (x - mean))
            score[1] += e * (x - mean)
        variance = sum(s[1] ** 2 for s in residual.values()) / 100 * (3 / 2) * (4 / 3)
        table = {r.term: r for r in summary.toDataFrame().collect()}
        self.assertAlmostEqual(table["x"].estimate, slope, places=12)
        self.assertAlmostEqual(table["x"].std_error, variance**0.5, places=12)
        self.assertIn("clustered by g (3)", str(summary))
        self.assertEqual(summary.dependencies().count(), 0)
        self.assertEqual(summary.absorbedEffects().count(), 0)

    def test_every_getter_works_where_nothing_is_set(self):
        stage = self.ml.SparseQRRegression()
        model = stage.fit(self.data)
        model.save(self.path("unset"))
        loaded = self.ml.SparseQRRegressionModel.load(self.path("unset"))
        expected = {
            "featuresCol": "features",
            "labelCol": "label",
            "predictionCol": "prediction",
            "weightCol": None,
            "fitIntercept": True,
            "regParam": 0.0,
            "ordering": "auto",
            "backend": "auto",
            "method": "auto",
            "rankTolerance": None,
            "computeStandardErrors": True,
            "idCol": None,
            "formula": None,
            "categoricalCols": None,
            "referenceLevels": None,
            "offsetCol": None,
            "handleInvalid": "error",
            "keepTerms": None,
            "dropTerms": None,
            "vcov": None,
            "clusterCols": None,
            "clusterCorrection": "fixest",
            "profile": False,
        }
        for it in (stage, model, loaded, stage.copy(), model.copy()):
            getters = [n for n in dir(it) if n.startswith("get") and n not in OTHERS]
            found = {n[3].lower() + n[4:]: getattr(it, n)() for n in getters}
            fitted = isinstance(it, self.ml.SparseQRRegressionModel)
            own = {**expected, "output": "prediction", "level": 0.95} if fitted else expected
            self.assertEqual(found, own, it)
            self.assertEqual({p.name for p in it.params}, set(own))
            unset = {p.name for p in it.params if not it.isDefined(p)}
            self.assertEqual(unset, {n for n, value in expected.items() if value is None})
            self.assertIn("rankTolerance", it.explainParams())

    def test_saved_and_loaded(self):
        stage = self.ml.SparseQRRegression(regParam=0.25, weightCol="label")
        stage.save(self.path("stage"))
        again = self.ml.SparseQRRegression.load(self.path("stage"))
        self.assertIsInstance(again, self.ml.SparseQRRegression)
        self.assertEqual((again.uid, again.getRegParam()), (stage.uid, 0.25))
        model = self.ml.SparseQRRegression(fitIntercept=False).fit(self.data)
        model.save(self.path("model"))
        back = self.ml.SparseQRRegressionModel.load(self.path("model"))
        self.assertIsInstance(back, self.ml.SparseQRRegressionModel)
        self.assertEqual(back.coefficients, model.coefficients)
        self.assertFalse(back.hasSummary)
        with self.assertRaisesRegex(RuntimeError, "loaded, not fitted"):
            back.summary
        with self.assertRaisesRegex(Exception, "already exists"):
            model.save(self.path("model"))
        model.write().overwrite().save(self.path("model"))

    def test_a_pipeline_is_saved_and_loaded(self):
        from pyspark.ml import Pipeline, PipelineModel

        model = Pipeline(stages=[self.ml.SparseQRRegression(regParam=0.1)]).fit(self.data)
        model.save(self.path("pipeline"))
        back = PipelineModel.load(self.path("pipeline")).stages[0]
        self.assertIsInstance(back, self.ml.SparseQRRegressionModel)
        self.assertEqual(back.coefficients, model.stages[0].coefficients)
        # only through the JVM, as PySpark copies pipelines; an unsaved estimator, too
        for it in (model, Pipeline(stages=[self.ml.SparseQRRegression(regParam=0.1)])):
            copy = type(it)._from_java(it._to_java())
            stage = (copy.stages if it is model else copy.getStages())[0]
            self.assertEqual(type(stage).__module__, "sparqr.ml")
            self.assertEqual(stage.getRegParam(), 0.1)

    def test_cross_validator(self):
        from pyspark.ml.evaluation import RegressionEvaluator
        from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

        stage = self.ml.SparseQRRegression(computeStandardErrors=False)
        best = CrossValidator(
            estimator=stage,
            estimatorParamMaps=ParamGridBuilder().addGrid(stage.regParam, [0.0, 100.0]).build(),
            evaluator=RegressionEvaluator(),
            numFolds=2,
            parallelism=2,
            seed=1,
        ).fit(self.data.union(self.data).union(self.data).cache())
        self.assertLess(best.avgMetrics[0], best.avgMetrics[1])

    def test_an_input_that_changes_between_its_readings_is_refused(self):
        label = "double(java_method('java.lang.Math', 'random')) label"
        changing = self.data.selectExpr("features", label)
        # each fit reads once: the rows are persisted, and the statistics refer to that reading
        full = self.ml.SparseQRRegression().fit(changing)
        self.assertLess(full.summary.r2, 1)
        late = self.ml.SparseQRRegression(computeStandardErrors=False).fit(changing)
        with self.assertRaisesRegex(sparqr.SparqrError, "the input changed .*; persist it$") as told:
            late.summary.r2
        self.assertEqual(told.exception.kind, "InputChangedException")

    def test_errors_are_told(self):
        wrong = self.data.selectExpr("features", "double('NaN') label")
        with self.assertRaises(sparqr.SparqrError) as told:
            self.ml.SparseQRRegression().fit(wrong)
        self.assertEqual(told.exception.kind, "NonFiniteValueException")
        model = self.ml.SparseQRRegression(computeStandardErrors=False).fit(self.data)
        with self.assertRaisesRegex(Exception, "computeStandardErrors was false"):
            model.summary.pValues


# Getters of Params itself, not of one param.
OTHERS = ("getOrDefault", "getParam")


if __name__ == "__main__":
    unittest.main()
