/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Spark's authentication and encryption, on the network and on disk, with two executor JVMs: Spark
 * does all of it, and our byte arrays go through it.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled
class SecureClusterIT {

  private static final long SEED = Long.getLong("test.seed", 20260123L);
  private static final CsrMatrix A = Problems.grid(40, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  private static final Map<String, String> SECURE =
      Map.of(
          "spark.authenticate", "true",
          "spark.authenticate.secret", "a secret of this test",
          "spark.network.crypto.enabled", "true",
          "spark.io.encryption.enabled", "true");

  /** The results of a solve, and what the executors reported of themselves. */
  private record Outcome(double[] x, double[] again, double residual, List<String> executors) {}

  private static Outcome solve(Map<String, String> settings) throws Exception {
    SparkConf conf = LocalCluster.conf("sparqr security tests", 2, 1);
    settings.forEach(conf::set);
    try (JavaSparkContext context = LocalCluster.start(conf, 2)) {
      JavaRDD<SparseRow> rows = context.parallelize(Problems.rows(A, B), 4);
      GpuSparseQR.Builder solver =
          GpuSparseQR.builder()
              .backend(BackendChoice.CPU)
              .ordering(OrderingMethod.NESTED_DISSECTION)
              .keepQ(true)
              // R on disk, where it is encrypted
              .storageLevel(org.apache.spark.storage.StorageLevel.DISK_ONLY())
              .partitionOptions(new PartitionOptions(2, 4, 3, 0));
      try (QRFactorization f = solver.factorize(rows)) {
        assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(3);
        JavaRDD<double[]> labels =
            context.parallelize(
                java.util.Arrays.stream(B).mapToObj(b -> new double[] {b}).toList(), 4);
        return new Outcome(
            f.solve().x(), f.solve(labels).x(), f.solve().residualNorm(), executors(context));
      }
    }
  }

  /** Of each executor: who it is, and whether its environment is a secure one. */
  private static List<String> executors(JavaSparkContext context) {
    return context
        .parallelize(List.of(1, 2, 3, 4, 5, 6, 7, 8), 8)
        .map(
            i -> {
              SparkEnv env = SparkEnv.get();
              boolean secret = env.securityManager().getSecretKey() != null;
              boolean key = env.securityManager().getIOEncryptionKey().isDefined();
              return "%s %s %s %s"
                  .formatted(
                      env.executorId().equals("driver") ? "driver" : "executor",
                      env.securityManager().isAuthenticationEnabled() && secret,
                      env.conf().get("spark.network.crypto.enabled", "false"),
                      key);
            })
        .distinct()
        .collect();
  }

  @Test
  void theSameBitsWithAuthenticationAndEncryption() throws Exception {
    Outcome plain = solve(Map.of());
    Outcome secure = solve(SECURE);
    assertThat(plain.executors).containsExactly("executor false false false");
    assertThat(secure.executors).containsExactly("executor true true true");
    assertThat(secure.x).as("seed %d", SEED).isEqualTo(plain.x);
    assertThat(secure.again).as("seed %d", SEED).isEqualTo(plain.again);
    assertThat(secure.residual).isEqualTo(plain.residual);
    assertThat(Problems.normalResidual(A, secure.x, B)).isLessThan(Tolerances.NORMAL_RESIDUAL);
  }
}
