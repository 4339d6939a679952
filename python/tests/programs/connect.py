# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A Spark Connect client. Prints lines of JSON, each with a name and a result."""

import json
import os
import pathlib
import sys
import threading
import time

import pyspark
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import RegressionEvaluator
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession

import sparqr
from sparqr._pyspark import is_client_only
from sparqr.ml import SparseQRRegression, SparseQRRegressionModel
from tests.spark import jar, line

GROUPS = [(1.0, 1.0, "a"), (3.0, 2.0, "b"), (4.0, 3.0, "a"), (8.0, 4.0, "c"), (9.0, 5.0, "b")]
SLOW = (
    "label + coalesce(length(java_method("
    "'java.util.concurrent.locks.LockSupport', 'parkNanos', 60000000000L)), 0)"
)
VALUES = (
    "coefficientStandardErrors tValues pValues numInstances degreesOfFreedom rank deadColumns featuresCol "
    "labelCol predictionCol meanSquaredError rootMeanSquaredError meanAbsoluteError explainedVariance r2 "
    "r2adj devianceResiduals"
).split()


def tell(name, found):
    print(json.dumps({"name": name, "found": found}), flush=True)


def tell_error(name, call):
    try:
        call()
        tell(name, None)
    except BaseException as e:
        tell(name, [type(e).__name__, getattr(e, "kind", None), str(e)])


def rows(frame):
    return [list(row) for row in frame.collect()]


def statistics(model):
    """All information that a fitted model gives, here and in a classic session."""
    s = model.summary
    return {
        "coefficients": model.coefficients.toArray().tolist(),
        "intercept": model.intercept,
        "numFeatures": model.numFeatures,
        "hasSummary": model.hasSummary,
        "repr": repr(model).split("uid=")[0],
        **{name: getattr(s, name) for name in VALUES},
        "text": str(s),
        "report": [s.report["rows"], s.report["columns"], s.report["rank"]],
        "table": rows(s.toDataFrame()),
        "dependencies": rows(s.dependencies()),
        "effects": rows(s.absorbedEffects()),
        "residuals": rows(s.residuals),
        "predictions": [row.prediction for row in s.predictions.collect()],
    }


def all_statistics(spark):
    """Statistics of several kinds of designs, one with a dependent column."""
    data = line(spark)
    groups = spark.createDataFrame(GROUPS, "y double, x double, g string")
    twice = spark.createDataFrame([(y, Vectors.dense(t, 2 * t)) for y, t, _ in GROUPS], ["label", "features"])
    stages = {
        "line": (SparseQRRegression(), data),
        "twice": (SparseQRRegression(), twice),
        "factors": (SparseQRRegression(formula="y ~ x + g", referenceLevels=["g=b"]), groups),
        "absorbed": (SparseQRRegression(formula="y ~ x | g"), groups),
        "clusters": (SparseQRRegression(formula="y ~ x", clusterCols=["g"]), groups),
    }
    return {name: statistics(stage.fit(df)) for name, (stage, df) in stages.items()}


def solved(result):
    return [result.x.tolist(), result.residual_norm, result.rank, result.dead_columns, result.report["columns"]]


def all_solved(spark):
    data = line(spark)
    return [
        solved(sparqr.solve(data)),
        solved(sparqr.solve(data, label_col=["label", "label"], weight_col="label", ordering="natural")),
        solved(
            sparqr.solve(
                data, ridge=0.5, backend="cpu", rank_policy="fail", columns=1, check=True, rank_tolerance=-1.0
            )
        ),
    ]


def panel():
    """Wages of workers in firms: one worker alone in a firm, another alone once rows with missing values are
    left out.
    """
    import pandas

    rows = [(f"w{i % 6}", f"f{(i * i + i // 6) % 3}", float(i % 7), (37 * i % 11) / 3) for i in range(30)]
    rows += [("w7", "alone", 1.0, 2.0), ("w1", "f1", None, 1.0)]
    rows += [("w8", "f1", None, 1.0), ("w8", "f2", 3.0, 4.0)]
    return pandas.DataFrame(rows, columns=["worker", "firm", "age", "wage"])


def regressions(spark):
    """All information that feols gives, for a local table and for a DataFrame."""
    here = panel()
    there = spark.createDataFrame(here)
    two = sparqr.feols("wage ~ age | worker + firm", here, {"CRV1": "worker"}, profile=True)
    dot = sparqr.feols("wage ~ . | worker", there, "HC3", reference_levels={"firm": "f1"})
    found = {}
    for name, fit in {"two": two, "dot": dot}.items():
        found[name] = {
            "tidy": fit.tidy(0.1).reset_index().to_numpy().tolist(),
            "columns": list(fit.tidy(0.1).columns),
            "vcov": fit.vcov().to_numpy().tolist(),
            "fixef": {effect: one.to_dict() for effect, one in fit.fixef().items()},
            "numbers": [fit.nobs, fit.rank, fit.df_residual, fit.df_t, fit.sigma, fit.rmse],
            "r2": [fit.r2, fit.r2_adj, fit.r2_within],
            "words": [str(fit), fit._repr_html_(), fit.vcov_type, fit.vcov_detail],
            "dropped": fit.dropped,
        }
    found["resid"] = two.resid().tolist()
    found["predicted"] = two.predict(here).tolist()
    found["there"] = [row.yhat for row in dot.predict(there, name="yhat").collect()]
    found["resid there"] = rows(dot.resid())
    found["page"] = two.to_html().startswith("<!DOCTYPE html>") and two.report["rows"] == 30
    return found


def saved(spark, folder):
    data = line(spark)
    groups = spark.createDataFrame(GROUPS, "y double, x double, g string")
    stage = SparseQRRegression(formula="y ~ x + g", computeStandardErrors=False)
    model = stage.fit(groups)
    tell("transformed", rows(model.transform(groups).select("prediction")))
    model.save(f"{folder}/model")
    back = SparseQRRegressionModel.load(f"{folder}/model")
    tell("loaded", [back.coefficients == model.coefficients, back.hasSummary, back.getFormula()])
    tell("loaded transformed", rows(back.transform(groups).select("prediction")))
    tell_error("loaded summary", lambda: back.summary)
    tell_error("no errors", lambda: model.summary.pValues)
    plain = SparseQRRegression(regParam=0.25)
    plain.save(f"{folder}/stage")
    tell("stage", SparseQRRegression.load(f"{folder}/stage").getRegParam())
    fitted = Pipeline(stages=[plain]).fit(data)
    fitted.write().overwrite().save(f"{folder}/pipeline")
    again = PipelineModel.load(f"{folder}/pipeline").stages[0]
    tell("pipeline", [type(again).__name__, again.coefficients == fitted.stages[0].coefficients])
    tell("predict", fitted.stages[0].predict(Vectors.dense(3.0)))


def validated(spark):
    data = line(spark)
    stage = SparseQRRegression(computeStandardErrors=False)
    best = CrossValidator(
        estimator=stage,
        estimatorParamMaps=ParamGridBuilder().addGrid(stage.regParam, [0.0, 100.0]).build(),
        evaluator=RegressionEvaluator(),
        numFolds=2,
        parallelism=2,
        seed=1,
    ).fit(data.union(data).union(data))
    tell("validated", [float(v) for v in best.avgMetrics])


def errors(spark):
    data = line(spark)
    wrong = data.selectExpr("features", "double('NaN') label")
    tell_error("solve NaN", lambda: sparqr.solve(wrong))
    tell_error("fit NaN", lambda: SparseQRRegression().fit(wrong))
    tell_error("fit ordering", lambda: SparseQRRegression(ordering="metis").fit(data))
    tell_error("solve ridge", lambda: sparqr.solve(data, ridge=-1.0))
    tell_error("feols column", lambda: sparqr.feols("wage ~ salary", panel()))
    tell_error("feols formula", lambda: sparqr.feols("wage ~ age)", panel()))
    tell_error("feols level", lambda: sparqr.feols("wage ~ firm", panel(), reference_levels={"firm": "x"}))
    tell_error("solve column", lambda: sparqr.solve(data, label_col="salary"))


def alone():
    """Without a session, and with nothing to start one."""
    tell_error("alone session", sparqr.session)
    tell_error("alone lstsq", lambda: sparqr.lstsq([[1.0], [2.0]], [1.0, 2.0]))
    tell_error("alone feols", lambda: sparqr.feols("wage ~ age", panel()))
    tell_error("alone estimator", SparseQRRegression)
    tell_error("alone load", lambda: SparseQRRegressionModel.load("model"))


def interrupted(spark):
    data = line(spark)
    slow = data.repartition(2).selectExpr("features", f"{SLOW} label")
    begun = time.monotonic()
    threading.Timer(3, os.kill, (os.getpid(), 2)).start()
    tell_error("interrupted", lambda: sparqr.solve(slow))
    threading.Timer(3, spark.interruptAll).start()
    tell_error("interrupted all", lambda: SparseQRRegression().fit(slow))
    tell("far from over", time.monotonic() - begun < 55)
    tell("after", float(sparqr.solve(data).x[0]))


def main(url, folder, add):
    pathlib.Path(folder).mkdir(exist_ok=True)
    tell("client", [str(pathlib.Path(pyspark.__file__).parents[1]), is_client_only()])
    if is_client_only():
        alone()
    spark = SparkSession.builder.remote(url).getOrCreate()
    if add == "add":
        tell_error("no jar solve", lambda: sparqr.solve(line(spark)))
        tell_error("no jar fit", lambda: SparseQRRegression().fit(line(spark)))
        tell_error("no jar load", lambda: SparseQRRegressionModel.load("model"))
        spark.addArtifacts(str(jar()))
    tell("solved", all_solved(spark))
    if add == "add":
        tell("statistics", all_statistics(spark))
        tell("regressions", regressions(spark))
        tell("page", sparqr.solve(line(spark), profile=True).to_html()[:15])
        errors(spark)
    else:
        tell("line", statistics(SparseQRRegression().fit(line(spark))))
        saved(spark, folder)
        validated(spark)
        interrupted(spark)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
