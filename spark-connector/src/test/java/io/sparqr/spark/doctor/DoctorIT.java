/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.spark.LocalCluster;
import io.sparqr.spark.doctor.Finding.Level;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A doctor on executors in JVMs of their own. */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DoctorIT {

  /** Executors that are asked for pure Java are found out, and the driver is not blamed. */
  @Sampled(oneIn = 3)
  @Test
  void everyExecutorIsLookedAt() throws Exception {
    var conf = LocalCluster.conf("sparqr doctor tests", 2, 1);
    String options = conf.get("spark.executor.extraJavaOptions", "");
    conf.set("spark.executor.extraJavaOptions", (options + " -Dsparqr.blas=java").strip());
    try (JavaSparkContext context = LocalCluster.start(conf, 2)) {
      Diagnosis d = Doctor.of(context, Optional.of("100000x200000x400000"));
      for (String id : List.of("0", "1")) {
        List<Finding> of =
            d.findings().stream()
                .filter(f -> f.where().startsWith("executor " + id + " on "))
                .toList();
        assertThat(of)
            .extracting(Finding::check)
            .as(d.toText())
            .contains("versions", "folders", "blas", "memory", "disk", "python", "settings");
        assertThat(of)
            .filteredOn(f -> f.check().equals("blas"))
            .allMatch(f -> f.level() == Level.WARNING && f.message().contains("sparqr.blas=java"));
        // the application's settings are the driver's to tell
        assertThat(of).noneMatch(f -> f.message().contains("check itself failed"));
      }
      assertThat(d.findings())
          .filteredOn(f -> f.where().equals("driver") && f.check().equals("blas"))
          .allMatch(f -> !f.message().contains("asked for"));
      assertThat(d.findings())
          .filteredOn(f -> f.check().equals("problem"))
          .extracting(Finding::level)
          .containsExactly(Level.WARNING);
      assertThat(d.findings())
          .filteredOn(f -> f.check().equals("cluster"))
          .extracting(Finding::message)
          .contains("2 executor(s) with the same BLAS and processors");
    }
  }
}
