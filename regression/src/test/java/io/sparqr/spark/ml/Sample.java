/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.LocalSpark;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Small dense regressions as arrays and as Datasets (label, weight, features). */
record Sample(double[][] x, double[] y, double[] w) {

  /** y = x'(1, 2, ...) + 3 + noise; features with means far from 0; weights 0.5 to 2. */
  static Sample random(long seed, int m, int n) {
    var random = new Random(seed);
    var x = new double[m][n];
    var y = new double[m];
    var w = new double[m];
    for (int i = 0; i < m; i++) {
      y[i] = 3 + random.nextGaussian();
      for (int j = 0; j < n; j++) {
        x[i][j] = j + random.nextGaussian();
        y[i] += (j + 1) * x[i][j];
      }
      w[i] = 0.5 + 1.5 * random.nextDouble();
    }
    return new Sample(x, y, w);
  }

  Dataset<Row> data() {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < y.length; i++) {
      rows.add(RowFactory.create(y[i], w[i], Vectors.dense(x[i])));
    }
    return LocalSpark.session()
        .createDataFrame(
            rows,
            new StructType()
                .add("label", DataTypes.DoubleType)
                .add("weight", DataTypes.DoubleType)
                .add("features", SQLDataTypes.VectorType()));
  }
}
