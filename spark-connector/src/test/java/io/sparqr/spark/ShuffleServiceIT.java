/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The worker's external shuffle service: the shuffle files of a dead executor are still available.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled
class ShuffleServiceIT {

  private static final long SEED = Long.getLong("test.seed", 20261403L);
  private static final CsrMatrix A = Problems.grid(60, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  private static int freePort() throws Exception {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .minimumExecutors(2)
        .partitions(2)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  @Test
  void shufflesSurviveAKilledExecutor(@TempDir Path folder) throws Exception {
    SparkConf conf =
        StandaloneCluster.conf("shuffle service")
            .set("spark.shuffle.service.enabled", "true")
            .set("spark.shuffle.service.port", Integer.toString(freePort()))
            .set("spark.executor.cores", "1");
    // one worker with two executors: a service serves all executors of its host
    try (var cluster = new StandaloneCluster(1, 2, folder, conf);
        var context = new JavaSparkContext(conf.setMaster(cluster.url()))) {
      List<Integer> rowStages = new CopyOnWriteArrayList<>();
      var removed = new AtomicBoolean();
      context
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onStageSubmitted(SparkListenerStageSubmitted stage) {
                  if (stage.stageInfo().name().contains("rows to the tasks")) {
                    rowStages.add(stage.stageInfo().numTasks());
                  }
                }

                @Override
                public void onExecutorRemoved(SparkListenerExecutorRemoved executor) {
                  removed.set(true);
                }
              });
      JavaRDD<SparseRow> rows = context.parallelize(Problems.rows(A, B), 4);
      RFactor undisturbed;
      try (QRFactorization f = solver().factorize(rows)) {
        assertThat(f.summary().cluster().executors()).isEqualTo(2);
        undisturbed = f.collectR();
      }
      long victim =
          context
              .parallelize(List.of(1, 2, 3, 4), 4)
              .map(i -> ProcessHandle.current().pid())
              .collect()
              .get(0);
      var killed = new AtomicBoolean();
      ProgressListener killer =
          p -> {
            boolean middle = p.phase().equals("factorize") && p.detail().startsWith("level 1");
            if (middle && killed.compareAndSet(false, true)) {
              ProcessHandle.of(victim).orElseThrow().destroyForcibly();
            }
          };
      try (QRFactorization f = solver().listener(killer).factorize(rows)) {
        assertThat(killed).isTrue();
        RFactor r = f.collectR();
        assertThat(r.matrix().values())
            .as("seed %d", SEED)
            .isEqualTo(undisturbed.matrix().values());
        assertThat(r.rhs()).isEqualTo(undisturbed.rhs());
      }
      context.sc().listenerBus().waitUntilEmpty();
      assertThat(removed).isTrue();
      assertThat(rowStages)
          .as("once a factorization: after the kill the rows were read from the service")
          .containsExactly(4, 4);
    }
  }
}
