/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.partition.PartitionOptions;
import io.sparqr.sparse.CsrMatrix;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/** Many clusters are set to Kryo, some to refuse what is not registered: only rows need to be. */
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
        assertThat(f.solve().report().residual().normalResidual()).isLessThan(1e-14);
        assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(2);
        assertThat(f.solveRelabeled(rows).x()).hasSize(225);
        assertThat(f.standardErrors()[0]).isPositive();
        assertThat(f.collectR().matrix().rows()).isEqualTo(225);
      }
    }
  }
}
