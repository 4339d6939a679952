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


def sparse(seed, m, n):
    """A sparse matrix with a full column rank, two right-hand sides, weights."""
    import numpy
    from scipy.sparse import csr_array, eye_array, vstack

    random = numpy.random.default_rng(seed)
    rows, columns = random.integers(0, m - n, 4 * (m - n)), random.integers(0, n, 4 * (m - n))
    top = csr_array((random.standard_normal(len(rows)), (rows, columns)), shape=(m - n, n))
    A = csr_array(vstack([top, eye_array(n)]))
    return A, random.standard_normal((m, 2)), random.uniform(0.5, 2, m)


def lstsq_told(result):
    """All numbers of a result of lstsq."""
    found = {
        "x": result.x.tolist(),
        "norm": numbers(result.residual_norm),
        "rank": [result.rank, result.dead_columns, result.names],
        "report": {name: result.report[name] for name in ("rows", "columns", "rank", "flops", "ordering")},
        "permutation": numbers(result.permutation),
        "errors": numbers(result.standard_errors),
        "multipliers": numbers(result.multipliers),
        "page": result._page[:15],
    }
    if result.r is not None:
        found["r"] = result.r.toarray().tolist()
    if result.predictions is not None:
        p = result.predictions
        found["predictions"] = [*map(numbers, [p.fit, p.standard_errors, p.observation_errors]), p.degrees_of_freedom]
    return found


def numbers(array):
    return None if array is None else getattr(array, "tolist", lambda: array)()


def matrices(spark):
    """lstsq, from_scipy and analyze, here and in a classic session. The large one goes in many pieces."""
    import pandas

    A, b, w = sparse(3, 60, 12)
    large, sides, _ = sparse(4, 30_000, 50)
    names = pandas.DataFrame(A.toarray()[:, :3], columns=["u", "v", "w"])
    found = {
        "plain": sparqr.lstsq(A, b[:, 0], session=spark),
        "all": sparqr.lstsq(
            A, b, weights=w, standard_errors=True, r=True, predict=A[:5], profile=True, partitions=3, check=True
        ),
        "one": sparqr.lstsq(A.toarray(), b[:, 1], predict=A[:2], ridge=0.5, method="auto", ordering="natural"),
        "constrained": sparqr.lstsq(A, b, constraints=(A[:2], b[:2]), standard_errors=True),
        "least": sparqr.lstsq(A[:8], b[:8, 0], minimum_norm=True),
        "least ridge": sparqr.lstsq(A[:8], b[:8, 0], minimum_norm=True, ridge=0.1),
        "table": sparqr.lstsq(names, b[:, :1]),
        "large": sparqr.lstsq(large, sides, partitions=7),
    }
    told = {name: lstsq_told(result) for name, result in found.items()}
    told["cost"] = vars(sparqr.analyze(large, executors=[1, 3], memory="2g", ordering="amd"))
    told["cost"]["cuts"] = [vars(cut) for cut in told["cost"]["cuts"]]
    told["gpu"] = repr(sparqr.analyze(A, gpu=True))
    return told


def frames(spark):
    """DataFrames of matrices: what they hold, and what solve makes of them."""
    A, b, w = sparse(3, 60, 12)
    large, sides, _ = sparse(4, 30_000, 50)
    one = sparqr.from_scipy(A, b[:, 0], weights=w)
    two = sparqr.from_scipy(large, sides, partitions=7)
    bare = sparqr.from_scipy(A, session=spark)
    found = {
        "columns": [one.columns, two.columns, bare.columns],
        "rows": [[row.features.toArray().tolist(), row.label, row.weight] for row in one.collect()],
        "bare": [row.features.toArray().tolist() for row in bare.collect()],
        "solved": solved(sparqr.solve(one, weight_col="weight")),
        "solved large": solved(sparqr.solve(two, label_col=["label_0", "label_1"])),
        "parts": two.selectExpr("spark_partition_id() as p").distinct().count(),
    }
    return found


def factorizations(spark, folder):
    """All calls of a factorization, here and in a classic session; one is saved in a folder."""
    import numpy

    A, b, w = sparse(3, 60, 12)
    large, sides, _ = sparse(4, 30_000, 50)
    w[[3, 20]] = 0
    # two columns that depend on others
    deficient = numpy.column_stack([A.toarray(), A[:, [0]].toarray(), A[:, [1]].toarray()])
    with sparqr.factorize(A, b[:, 0], weights=w, profile=True) as f:
        found = {
            "shape": [list(f.shape), f.rank, f.dead_columns, numbers(f.permutation), repr(f)],
            "r": f.r.toarray().tolist(),
            "solve": lstsq_told(f.solve(standard_errors=True)),
            "further": lstsq_told(f.solve(b, standard_errors=True)),
            "relabeled": lstsq_told(f.solve_relabeled(A, b[:, 1], weights=w)),
            "unscaled": numbers(f.standard_errors_unscaled()),
            "leverages": numbers(f.leverages()),
            "predict": numbers(f.predict(A[4:8], weights=w[4:8]).observation_errors),
            "q": [f.q(0, 5).tolist(), f.apply_q(numpy.ones((12, 2))).tolist(), f.apply_q(numpy.ones(12)).tolist()],
            "q'": [numbers(f.apply_q_transposed(b).values), numbers(f.apply_q_transposed(b[:, 0]).rest)],
            "criteria": f.criteria(3)["met"],
            "page": f.to_html()[:15],
            "report": [f.report["rows"], f.report["columns"]],
        }
        f.save(f"{folder}/factored")
        f.refit(2 * A)
        found["refit"] = lstsq_told(f.solve(b))
        f.refit(A.data)
        found["values"] = numbers(f.solve(b[:, 1]).x)
    with sparqr.factorize(deficient, b, keep_q=False, ordering="natural") as f:
        found["deficient"] = [lstsq_told(f.solve(b[:, 0])), f.rank, f.dead_columns, lstsq_told(f.solve())]
    with sparqr.factorize(A[:40], b[:40]) as f, f.append(A[40:], b[40:]) as g:
        found["append"] = extended(g, A, b)
        with g.append(A[:2], b[:2], weights=[2, 3]) as h:
            found["append twice"] = [lstsq_told(h.solve()), list(h.shape)]
        g.save(f"{folder}/appended")
        f.refit(3 * A[:40])
        found["append refit"] = [lstsq_told(f.solve(b[:40])), lstsq_told(g.solve())]
    with sparqr.load(f"{folder}/appended", session=spark) as f, f.append(A[:2], b[:2]) as g:
        found["load"] = [extended(f, A, b), lstsq_told(g.solve())]
    with sparqr.factorize(large, partitions=7, session=spark) as f:
        found["large"] = [lstsq_told(f.solve(sides)), f.rank]
    return found


def extended(f, A, b):
    """What a factorization without rows gives."""
    return [
        [list(f.shape), f.rank, repr(f)],
        lstsq_told(f.solve(standard_errors=True)),
        lstsq_told(f.solve_relabeled(A, b[:, 0])),
        numbers(f.predict(A[4:8]).observation_errors),
        f.r.toarray().tolist(),
    ]


def factorization_errors(spark, folder):
    import numpy

    A, b, _ = sparse(3, 60, 12)
    f = sparqr.factorize(A, keep_q=False)
    for name, call in {
        "solve none": f.solve,
        "solve rows": lambda: f.solve(b[:59]),
        "solve NaN": lambda: f.solve(numpy.full(60, numpy.inf)),
        "no Q": lambda: f.q(0),
        "append": lambda: f.append(A, b),
        "append file": lambda: f.append(__file__),
        "append columns": lambda: f.append(A[:, :3]),
        "refit": lambda: f.refit(A[:50]),
        "predict": lambda: f.predict(A[:2]),
        "there": lambda: f.save(f"{folder}/factored"),
        "relabeled": lambda: f.solve_relabeled(2 * A, b),
        "load": lambda: sparqr.load(f"{folder}/nowhere"),
        "damaged": lambda: sparqr.load(damaged(folder)),
        "pickle": f.__reduce__,
    }.items():
        tell_error(f"factored {name}", call)
    tell("factored after", float(f.solve(b).x[0, 0]))
    more = f.append(A)
    for name, call in {
        "solve": lambda: more.solve(b),
        "leverages": more.leverages,
        "refit": lambda: more.refit(A),
        "no Q": lambda: more.q(0),
    }.items():
        tell_error(f"appended {name}", call)
    f.close()
    f.close()
    # it goes with the last one
    tell("appended orphan", [more.rank, list(more.shape)])
    model = more._held
    more.close()
    tell_error("appended closed", more.solve)
    tell_error("appended gone", lambda: more._call("", lambda: model.ask("state")))
    tell_error("factored closed", lambda: f.solve(b))
    tell_error("factored closed rank", lambda: f.rank)
    lost = sparqr.factorize(A)
    # as a server does that is short of memory, or after a time
    if hasattr(spark.client, "_cleanup_ml_cache"):
        spark.client._delete_ml_cache([lost._held.factorization], evict_only=True)
        tell_error("factored evicted", lambda: lost.solve(b))
    spark.client._delete_ml_cache([lost._held.factorization])
    tell_error("factored lost", lambda: lost.solve(b))
    tell_error("factored lost close", lost.close)
    tell_error("factorize NaN", lambda: sparqr.factorize(A, numpy.full(60, numpy.nan)))
    tell_error("factorize ridge", lambda: sparqr.factorize(A, ridge=-1.0))
    tell_error("factorize file", lambda: sparqr.factorize(__file__))


def damaged(folder):
    """A saved factorization, one of whose files is cut."""
    import shutil

    copy = pathlib.Path(folder) / "damaged"
    shutil.copytree(pathlib.Path(folder) / "factored", copy)
    whole = max((p for p in copy.rglob("*") if p.is_file() and p.suffix != ".crc"), key=lambda p: p.stat().st_size)
    whole.write_bytes(whole.read_bytes()[:-9])
    for crc in copy.rglob("*.crc"):
        crc.unlink()
    return copy


def evicted(spark):
    """A model that the server has written to its disk and taken out of memory; from Spark 4.1 on."""
    data = line(spark)
    model = SparseQRRegression().fit(data)
    before = model.transform(data).collect()
    if hasattr(spark.client, "_cleanup_ml_cache"):
        spark.client._delete_ml_cache([str(model._java_obj)], evict_only=True)
    tell("evicted", model.transform(data).collect() == before)
    tell("evicted coefficients", model.coefficients.toArray().tolist())


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
    tell_error("load nowhere", lambda: SparseQRRegressionModel.load(f"{folder}/nowhere"))
    tell_error("load other", lambda: SparseQRRegression.load(f"{folder}/model"))
    tell_error("predict size", lambda: SparseQRRegression().fit(data).predict(Vectors.dense(1.0, 2.0)))
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


def matrix_errors(folder):
    import numpy

    A, b, _ = sparse(3, 60, 12)
    twice = numpy.hstack([A.toarray(), A.toarray()])
    file = pathlib.Path(folder) / "A.mtx"
    file.write_text("%%MatrixMarket matrix array real general\n1 1\n1\n")
    tell_error("lstsq NaN", lambda: sparqr.lstsq(A, numpy.full(60, numpy.nan)))
    tell_error("lstsq rank", lambda: sparqr.lstsq(twice, b, rank_policy="fail"))
    tell_error("lstsq ridge", lambda: sparqr.lstsq(A, b, ridge=-1.0))
    tell_error("lstsq file", lambda: sparqr.lstsq(str(file), b))
    tell_error("analyze file", lambda: sparqr.analyze(str(file)))
    tell_error("lstsq columns", lambda: sparqr.lstsq(A, b, predict=[[1.0]]))
    tell_error("qr", lambda: sparqr.qr(A.toarray()))
    from sparqr import _connect_arrays

    limit, _connect_arrays._LIMIT = _connect_arrays._LIMIT, 1000
    tell_error("lstsq large", lambda: sparqr.lstsq(A, b))
    _connect_arrays._LIMIT = limit


def lost_pieces(spark):
    """Pieces that a faulty client leaves out or exchanges."""
    from sparqr import _connect, _connect_arrays

    A, b, _ = sparse(4, 30_000, 50)
    problem = _connect_arrays.Problem(sparqr._arrays.matrix_of(A), b, True, None)
    table = _connect_arrays.pieces({"A": problem})
    tell("pieces", table.num_rows)
    for name, some in {
        "last": table.slice(0, table.num_rows - 1),
        "middle": table.take([0, *range(2, table.num_rows)]),
    }.items():
        for work in ("solve", "table"):
            params = _connect_arrays._params(work, {}, {"partitions": 0})
            made = _connect.table(_connect_arrays._STAGE, params, spark.createDataFrame(some), spark)
            tell_error(f"lost {name} {work}", lambda: _connect.call(spark, lambda: told(made.collect)))


def told(call):
    from sparqr._errors import telling_errors

    with telling_errors():
        return call()


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
    tell("matrices", matrices(spark))
    tell("frames", frames(spark))
    tell("factorizations", factorizations(spark, folder))
    matrix_errors(folder)
    factorization_errors(spark, folder)
    evicted(spark)
    lost_pieces(spark)
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
