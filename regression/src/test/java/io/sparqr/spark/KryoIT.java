/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The same as {@link KryoTest} on executors of their own, to which more is sent. */
@Sampled
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KryoIT {

  @Test
  void everyCallOnACluster(@TempDir Path folder) throws Exception {
    LocalSpark.session().stop();
    var conf =
        KryoCalls.strict(LocalCluster.conf("sparqr under Kryo", 2, 1))
            .set("spark.sql.shuffle.partitions", "2");
    Map<String, String> failed = new TreeMap<>();
    try (JavaSparkContext context = LocalCluster.start(conf, 2)) {
      var session = SparkSession.builder().sparkContext(context.sc()).getOrCreate();
      for (var call : new KryoCalls(session, folder).all().entrySet()) {
        try {
          call.getValue().run();
        } catch (Exception e) {
          failed.put(call.getKey(), e.toString());
        }
      }
    }
    assertThat(failed).isEmpty();
  }
}
