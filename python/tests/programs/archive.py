# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Writes Spark's classes, as a small session loads them, for JVMs to come: they start in half the time."""

import sys
import tempfile

from tests.spark import builder, line


def main(path):
    from pyspark.ml.regression import LinearRegression, LinearRegressionModel

    spark = builder(with_jar=False, java=f"-XX:ArchiveClassesAtExit={path}").getOrCreate()
    model = LinearRegression().fit(line(spark).repartition(2))
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        LinearRegressionModel.load(f"{folder}/model").transform(line(spark)).collect()
    process = spark.sparkContext._gateway.proc
    spark.stop()
    # the JVM ends, and writes, when its standard input does
    process.stdin.close()
    process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
