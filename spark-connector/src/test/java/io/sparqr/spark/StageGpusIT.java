/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cluster whose executors have GPUs (by a discovery script): the factoring stages ask for them.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled(oneIn = 4)
class StageGpusIT {

  @TempDir private Path folder;

  @Test
  void onlyTheFactoringStagesAskForGpus() throws Exception {
    Path script = folder.resolve("gpus.sh");
    Files.writeString(script, "#!/bin/sh\necho '{\"name\":\"gpu\",\"addresses\":[\"0\"]}'\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    SparkConf conf =
        LocalCluster.conf("sparqr with GPUs", 1, 2)
            .set("spark.sparqr.cuda.minimumIntensity", "0")
            .set("spark.sparqr.cuda.minimumFlops", "0")
            .set("spark.worker.resource.gpu.amount", "1")
            .set("spark.worker.resource.gpu.discoveryScript", script.toString())
            .set("spark.executor.resource.gpu.amount", "1")
            .set("spark.executor.resource.gpu.discoveryScript", script.toString());
    Map<String, Integer> profiles = new ConcurrentHashMap<>();
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onStageSubmitted(SparkListenerStageSubmitted stage) {
                  String what = stage.properties().getProperty("spark.job.description", "");
                  profiles.merge(what, stage.stageInfo().resourceProfileId(), Math::max);
                }
              });
      CsrMatrix a = Problems.grid(30, 7);
      double[] b = Problems.rhs(a.rows(), 8);
      var qr =
          GpuSparseQR.builder()
              .backend(BackendChoice.AUTO)
              .partitionOptions(new PartitionOptions(2, 4, 2, 0))
              .build();
      LeastSquaresSolution s = qr.solve(context.parallelize(Problems.rows(a, b), 3));
      assertThat(Problems.normalResidual(a, s.x(), b)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      assertThat(context.sc().getPersistentRDDs().size()).isZero();
      assertThat(s.report().analysis().orderingReason())
          .as("an order is searched for at a GPU's rate, not at a processor's 33.3 Gflop/s")
          .containsPattern("auto: amd .* at [0-9.e+]+ Gflop/s")
          .doesNotContain("at 33.3 Gflop/s");
      // listeners hear of stages a little later
      context.sc().listenerBus().waitUntilEmpty();
    }
    assertThat(profiles.keySet()).anyMatch(d -> d.contains("level 1 of 2"));
    profiles.forEach(
        (what, profile) -> {
          if (what.contains("sparse QR: level")) {
            assertThat(profile).as(what).isPositive();
          } else if (what.contains("patterns")) {
            assertThat(profile).as(what).isZero();
          }
        });
  }
}
