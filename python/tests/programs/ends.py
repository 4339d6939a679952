# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Calls that fail. Prints lines of JSON, each with the error's type, its kind and the text shown."""

import json
import os
import sys
import threading
import traceback

import sparqr
from tests.spark import builder, line

# Constant folding computes it on the driver; more than a billion bytes from one row in a task.
ON_THE_DRIVER = "double(length(repeat('x', 2000000000)))"
IN_A_TASK = "double(length(repeat(string(label), 500000000)))"
SLOW = (
    "label + coalesce(length(java_method("
    "'java.util.concurrent.locks.LockSupport', 'parkNanos', 60000000000L)), 0)"
)


def tell(name, call):
    try:
        said = {"answer": repr(call())}
    except Exception as e:
        said = {
            "type": type(e).__name__,
            "kind": getattr(e, "kind", None),
            "said": str(e),
            "shown": traceback.format_exc(),
        }
    print(json.dumps({"name": name, **said}), flush=True)


def tell_all(data, model):
    """All calls that a user may try next."""
    from sparqr.ml import SparseQRRegression, SparseQRRegressionModel

    tell("solve", lambda: sparqr.solve(data))
    tell("constructor", SparseQRRegression)
    tell("load", lambda: SparseQRRegressionModel.load("model"))
    if model is not None:
        tell("transform", lambda: model.transform(data))
        tell("coefficients", lambda: model.coefficients)
        tell("summary", lambda: model.summary.r2)
        tell("repr", lambda: repr(model))
        tell("save", lambda: model.save("model"))


def look_up():
    """What Py4J says of a member that it looks up while the connection is lost."""
    from py4j.protocol import Py4JError
    from sparqr._errors import telling_errors

    with telling_errors():
        raise Py4JError("py4j.reflection.TypeUtil.isInstanceOf does not exist in the JVM")


def memory(spark):
    from sparqr.ml import SparseQRRegression

    data = line(spark)
    much = data.selectExpr("features", f"{ON_THE_DRIVER} label")
    tell("driver", lambda: sparqr.solve(much))
    tell("driver", lambda: SparseQRRegression().fit(much))
    tell("alive", lambda: sparqr.solve(data).x[0])
    model = SparseQRRegression().fit(data)
    task = data.repartition(2).selectExpr("features", f"{IN_A_TASK} label")
    tell("task", lambda: SparseQRRegression().fit(task))
    spark.sparkContext._gateway.proc.wait()
    tell_all(data, model)


def stopped_and_killed(spark):
    from sparqr.ml import SparseQRRegression

    def slow(data):
        return data.repartition(2).selectExpr("features", f"{SLOW} label")

    data = line(spark)
    much = slow(data)
    stopping = threading.Timer(1, lambda: spark._jsparkSession.stop())
    stopping.start()
    tell("stopped", lambda: sparqr.solve(much))
    stopping.join()  # the thread outlives the failed call, and must not disturb the next session
    spark.stop()
    tell("stopped", lambda: sparqr.solve(data))
    tell("stopped", SparseQRRegression)

    spark = builder().getOrCreate()
    tell("passes", look_up)
    data = line(spark)
    much = slow(data)
    model = SparseQRRegression().fit(data)
    threading.Timer(1, os.kill, (spark.sparkContext._gateway.proc.pid, 9)).start()
    tell("killed", lambda: sparqr.solve(much))
    tell("lookup", look_up)
    tell_all(data, model)


def stopped(spark):
    """What was made before the session was stopped, and what it says to a local table."""
    import pandas

    table = pandas.DataFrame({"y": [1.0, 3.0, 4.0, 8.0], "x": [1.0, 2.0, 3.0, 4.0]})
    fit = sparqr.feols("y ~ x", table)
    f = sparqr.factorize(table[["x"]].to_numpy(), table["y"])
    tell("before", lambda: fit.predict(table).shape)
    spark.stop()
    tell("solve", f.solve)
    tell("close", f.close)
    tell("again", f.close)
    tell("predict", lambda: fit.predict(table))
    tell("predict rows", fit.predict)
    tell("session", lambda: type(spark).getActiveSession())


def no_jar(spark):
    tell_all(line(spark), None)
    tell("session", sparqr.session)
    spark.stop()


def main(case):
    ways = {f.__name__: f for f in (memory, stopped_and_killed, stopped, no_jar)}
    made = builder(with_jar=case != "no_jar", memory="600m")
    ways[case](made.getOrCreate())


if __name__ == "__main__":
    main(*sys.argv[1:])
