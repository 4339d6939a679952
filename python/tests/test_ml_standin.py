# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.ml against the real JVM classes, where PySpark is not at hand (see standin.py)."""

import importlib.util
import math
import pathlib
import tempfile
import types
import unittest

from sparqr import SparqrError
from tests import standin
from tests.jvm import Gateway

LINE = "1 1:1\n3 1:2\n4 1:3\n8 1:4\n9 1:5\n"


@unittest.skipIf(importlib.util.find_spec("pyspark"), "PySpark is here: test_pyspark.py")
class MlStandinTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.java = Gateway()
        standin.install(cls.java)
        cls.folder = tempfile.TemporaryDirectory()
        import sparqr.ml

        cls.ml = sparqr.ml

    @classmethod
    def tearDownClass(cls):
        standin.remove()
        cls.java.close()
        cls.folder.cleanup()

    def frame(self, text):
        path = pathlib.Path(self.folder.name) / f"{self.id()}.svm"
        path.write_text(text)
        return types.SimpleNamespace(_jdf=self.java.libsvm(path))

    def test_a_line_with_all_its_statistics(self):
        data = self.frame(LINE)
        model = self.ml.SparseQRRegression(regParam=0.0, ordering="amd").fit(data)
        self.assertAlmostEqual(model.coefficients[0], 2.1, places=13)
        self.assertAlmostEqual(model.intercept, -1.3, places=13)
        self.assertEqual(model.numFeatures, 1)
        self.assertEqual(model.getOrdering(), "amd")
        s = model.summary
        # R: summary(lm(c(1, 3, 4, 8, 9) ~ c(1:5)))
        sigma = math.sqrt((0.2**2 + 0.1**2 + 1.0**2 + 0.9**2 + 0.2**2) / 3)
        self.assertAlmostEqual(s.coefficientStandardErrors[0], sigma / math.sqrt(10), places=12)
        self.assertAlmostEqual(s.tValues[0], 2.1 * math.sqrt(10) / sigma, places=10)
        self.assertEqual((len(s.pValues), s.rank, s.numInstances, s.degreesOfFreedom), (2, 2, 5, 3))
        self.assertEqual((s.deadColumns, s.report["columns"]), ([], 2))
        for name in (
            "meanSquaredError",
            "rootMeanSquaredError",
            "meanAbsoluteError",
            "explainedVariance",
            "r2",
            "r2adj",
        ):
            self.assertGreater(getattr(s, name), 0, name)
        self.assertEqual(len(s.devianceResiduals), 2)
        self.assertEqual((s.featuresCol, s.labelCol), ("features", "label"))
        self.assertEqual(s.residuals._jdf.count(), 5)
        self.assertEqual(s.predictions._jdf.count(), 5)
        transformed = model.transform(data)._jdf
        at = list(transformed.columns()).index("prediction")
        self.assertAlmostEqual(transformed.first().getDouble(at), 0.8, places=13)

    def test_every_param_is_one_of_the_jvms(self):
        stage = self.ml.SparseQRRegression()
        names = {p.name for p in stage.params}
        java = {p.name() for p in stage._java_obj.params()}
        self.assertEqual(names, java)
        for name in names:
            setter = getattr(stage, "set" + name[0].upper() + name[1:])
            value = {"fitIntercept": False, "computeStandardErrors": False}.get(name)
            value = 0.5 if name in ("regParam", "rankTolerance") else value
            setter(("cpu" if name == "backend" else "nd") if value is None else value)
        stage._transfer_params_to_java()
        self.assertEqual(stage._java_obj.getOrdering(), "nd")
        self.assertEqual(stage._java_obj.getRankTolerance(), 0.5)
        self.assertFalse(stage._java_obj.getFitIntercept())
        self.assertEqual(stage.getBackend(), "cpu")
        self.assertFalse(stage.getComputeStandardErrors())

    def test_saved_and_loaded(self):
        folder = pathlib.Path(self.folder.name)
        stage = self.ml.SparseQRRegression(regParam=0.25, weightCol="label")
        stage.save(str(folder / "stage"))
        again = self.ml.SparseQRRegression.load(str(folder / "stage"))
        self.assertIsInstance(again, self.ml.SparseQRRegression)
        self.assertEqual((again.uid, again.getRegParam()), (stage.uid, 0.25))
        model = self.ml.SparseQRRegression(fitIntercept=False).fit(self.frame(LINE))
        model.save(str(folder / "model"))
        back = self.ml.SparseQRRegressionModel.load(str(folder / "model"))
        self.assertIsInstance(back, self.ml.SparseQRRegressionModel)
        self.assertEqual(back.coefficients, model.coefficients)
        self.assertFalse(back.hasSummary)
        with self.assertRaisesRegex(RuntimeError, "loaded, not fitted"):
            back.summary

    def test_an_input_that_changes_between_its_readings_is_refused(self):
        data = self.frame(LINE)
        functions = self.java.jvm.org.apache.spark.sql.functions
        label = functions.expr("double(reflect('java.lang.Math', 'random'))")
        data._jdf = data._jdf.withColumn("label", label)
        model = self.ml.SparseQRRegression().fit(data)  # reads it once: it persists its rows
        with self.assertRaisesRegex(SparqrError, "the input changed .*; persist it$") as told:
            model.summary.r2
        self.assertEqual(told.exception.kind, "InputChangedException")

    def test_errors_are_told(self):
        with self.assertRaises(SparqrError) as told:
            self.ml.SparseQRRegression().fit(self.frame("NaN 1:1\n"))
        self.assertEqual(told.exception.kind, "NonFiniteValueException")


if __name__ == "__main__":
    unittest.main()
