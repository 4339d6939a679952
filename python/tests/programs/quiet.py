# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A newcomer's mistakes in a session by sparqr.session: prints each error, and what runs the tasks' Python."""

import sys

import sparqr
from tests.spark import line

spark = sparqr.session("local[2]", memory="1g", spark_ui_enabled=False)
print(spark.sparkContext.pythonExec == sys.executable, spark.conf.get("spark.sql.shuffle.partitions"))
data = line(spark)
for label in ("double('NaN')", "double(assert_true(label < 5))", "nosuch"):
    try:
        sparqr.solve(data.selectExpr("features", f"{label} label" if label != "nosuch" else "label"), label_col="label")
        sparqr.solve(data, label_col=label)
    except Exception as e:
        print(type(e).__name__, str(e).strip().splitlines()[0])
spark.stop()
for call in (lambda: sparqr.solve(data), lambda: data.count()):
    try:
        call()
    except Exception as e:
        print(type(e).__name__)
