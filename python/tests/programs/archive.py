# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Archives Spark's classes, as loaded by a small session, for later JVMs: these start in half the time."""

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
    # at the end of its standard input the JVM ends and writes the archive
    process.stdin.close()
    process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
