# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Stages loaded in a new process without importing sparqr."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys
import zipfile

import sparqr
from sparqr._version import JAR
from tests import spark as with_spark
from tests.spark import HOME, SparkTest


class LoadTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.saved = pathlib.Path(cls.folder.name) / "saved"
        cls.saved.mkdir()
        cls.save()

    @classmethod
    def save(cls):
        from pyspark.ml import Pipeline
        from pyspark.ml.evaluation import RegressionEvaluator
        from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

        from sparqr.ml import SparseQRRegression

        stage = SparseQRRegression(regParam=0.5, computeStandardErrors=False)
        pipeline = Pipeline(stages=[stage])
        tuned = CrossValidator(
            estimator=pipeline,
            estimatorParamMaps=ParamGridBuilder().addGrid(stage.regParam, [0.5]).build(),
            evaluator=RegressionEvaluator(),
            numFolds=2,
            seed=1,
        )
        java = cls.spark._jvm.io.sparqr.spark.ml.SparseQRRegression("java")
        java.setRegParam(0.5).setComputeStandardErrors(False)
        stages = cls.spark.sparkContext._gateway.new_array(
            cls.spark._jvm.org.apache.spark.ml.PipelineStage, 1
        )
        stages[0] = java
        java_pipeline = cls.spark._jvm.org.apache.spark.ml.Pipeline().setStages(stages)
        cls.model = stage.fit(cls.data)
        # cases where the caller must import sparqr come last
        what = {
            "fitted": (pipeline.fit(cls.data), "pyspark.ml.PipelineModel", "it.stages[0]"),
            "best": (
                tuned.fit(cls.data.union(cls.data)),
                "pyspark.ml.tuning.CrossValidatorModel",
                "it.bestModel.stages[0]",
            ),
            "java": (java_pipeline, "pyspark.ml.Pipeline", "it.getStages()[0]"),
            "java-fitted": (
                java_pipeline.fit(cls.data._jdf),
                "pyspark.ml.PipelineModel",
                "it.stages[0]",
            ),
            "model": (cls.model, "sparqr.ml.SparseQRRegressionModel", "it"),
            "stage": (stage, "sparqr.ml.SparseQRRegression", "it"),
        }
        for name, (saved, _, _) in what.items():
            saved.save(str(cls.saved / name))
        cls.what = {n: {"class": c, "stage": s} for n, (_, c, s) in what.items()}

    def test_by_the_installed_package_without_an_import(self):
        target = self.installed()
        (self.saved / "what.json").write_text(json.dumps(self.what))
        said = json.loads(with_spark.run("load", self.saved, path=target).splitlines()[-1])
        self.assertFalse(said["before"])
        self.assertTrue(said["file"].startswith(str(target)), said["file"])
        self.assertEqual(set(said["found"]), set(self.what))
        expected = self.model.transform(self.data).first().prediction
        for name, (cls, ridge, *prediction) in said["found"].items():
            fitted = name in ("model", "fitted", "best", "java-fitted")
            self.assertEqual(cls, f"sparqr.ml.SparseQRRegression{'Model' if fitted else ''}", name)
            self.assertEqual(ridge, 0.5, name)
            self.assertEqual(len(prediction), fitted, name)
            for p in prediction:
                self.assertAlmostEqual(p, expected, places=12, msg=name)

    def installed(self):
        """The folder into which pip installed the package."""
        target = pathlib.Path(sparqr.__file__).parents[1]
        if target == HOME / "python":
            target = pathlib.Path(self.path("installed"))
            command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
            subprocess.run([*command, "--target", target, HOME / "python"], check=True, capture_output=True)
        found = list(importlib.metadata.distributions(name="sparqr", path=[str(target)]))
        self.assertEqual([d.version for d in found], [sparqr.__version__])
        return target

    def test_the_version_is_that_of_the_project(self):
        pom = (HOME / "pom.xml").read_text()
        version = pom.split("<version>", 1)[1].split("<", 1)[0]
        self.assertEqual(sparqr.__version__, version.replace("-SNAPSHOT", ".dev0"))
        self.assertEqual(JAR, f"sparqr-spark-{version}-all.jar")
        with zipfile.ZipFile(with_spark.jar()) as jar:
            said = jar.read("io/sparqr/spark/report/version.properties").decode()
        self.assertIn(f"version={version}\n", said + "\n")
