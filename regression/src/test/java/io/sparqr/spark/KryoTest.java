/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.inference.ClusterCorrection;
import io.sparqr.spark.inference.HcType;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/**
 * Many clusters use Kryo, and some refuse unregistered classes: only rows need to be registered.
 */
class KryoTest {

  @Test
  void everythingWorksUnderKryoWithRegistrationRequired() {
    LocalSpark.session().stop();
    SparkConf conf =
        new SparkConf()
            .setMaster("local[2]")
            .setAppName("sparqr under Kryo")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.kryo.registrationRequired", "true")
            .set("spark.kryo.classesToRegister", SparseRow.class.getName());
    CsrMatrix a = Problems.grid(15, 20260109L);
    double[] b = Problems.rhs(a.rows(), 1);
    try (var context = new JavaSparkContext(conf)) {
      var rows =
          context
              .parallelize(Problems.rows(a, b), 2)
              .map(r -> r)
              .persist(StorageLevel.MEMORY_ONLY_SER());
      SparseQRSolver qr =
          GpuSparseQR.builder()
              .check(true)
              .storageLevel(StorageLevel.MEMORY_AND_DISK_SER())
              .partitionOptions(new PartitionOptions(2, 4, 2, 0))
              .build();
      try (QRFactorization f = qr.factorize(rows)) {
        assertThat(f.solve().report().residual().normalResidual())
            .isLessThan(Tolerances.NORMAL_RESIDUAL);
        assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(2);
        assertThat(f.solveRelabeled(rows).x()).hasSize(225);
        assertThat(f.standardErrors()[0]).isPositive();
        assertThat(f.collectR().matrix().rows()).isEqualTo(225);
      }
    }
  }

  /** Spark's version of Kryo cannot read records, so none may be sent. */
  @Test
  void regressionAndInferenceWorkUnderKryo() throws IOException {
    LocalSpark.session().stop();
    try (var session =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .getOrCreate()) {
      var random = new Random(3);
      List<Row> data = new ArrayList<>();
      List<SparseRow> rows = new ArrayList<>();
      List<Integer> keys = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        double x = random.nextGaussian();
        double y = 1 + 2 * x + i % 4 + random.nextGaussian();
        data.add(RowFactory.create(y, x, "firm " + i % 4));
        rows.add(new SparseRow(new int[] {0, 1}, new double[] {1, x}, y));
        keys.add(i % 7);
      }
      StructType schema =
          new StructType().add("y", "double").add("x", "double").add("firm", "string");
      Dataset<Row> table = session.createDataFrame(data, schema);
      for (double ridge : new double[] {0, 0.1}) {
        var summary =
            new SparseQRRegression()
                .setFormula("y ~ x + firm")
                .setRegParam(ridge)
                .fit(table)
                .summary();
        assertThat(summary.toDataFrame().collectAsList()).hasSize(5);
        assertThat(summary.toString()).contains("firmfirm 3");
      }
      var context = JavaSparkContext.fromSparkContext(session.sparkContext());
      JavaRDD<SparseRow> matrix = context.parallelize(rows, 3);
      try (QRFactorization f = GpuSparseQR.builder().factorize(matrix)) {
        Inference inference = Inference.of(f, matrix);
        assertThat(inference.influence().collect()).hasSize(60);
        assertThat(inference.robust(HcType.HC3, 0, 1).standardErrors()[1]).isPositive();
        var clusters = context.parallelize(keys, 3);
        assertThat(
                inference.clustered(ClusterCorrection.sandwich(), clusters, 0, 1)
                    .standardErrors()[1])
            .isPositive();
        assertThat(inference.predict(rows.subList(0, 2))).hasSize(2);
      }
    }
  }
}
