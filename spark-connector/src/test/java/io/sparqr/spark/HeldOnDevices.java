/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.reference.PlainDevice;
import io.sparqr.numeric.ResidentFactors;
import io.sparqr.numeric.storage.RowBudget;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * What an executor has whose device is the plain Java executor.
 *
 * @param device factors of R on its device
 * @param host bytes of R outside its heap
 * @param factorizations for which it has an R on its device
 */
record HeldOnDevices(long device, long host, long factorizations) implements Serializable {

  private static HeldOnDevices here() {
    return new HeldOnDevices(
        PlainDevice.kept(), RowBudget.ofJvm().memoryBytes(), ResidentFactors.ofJvm().size());
  }

  /** Of all executors, by process. */
  static Map<Long, HeldOnDevices> byProcess(JavaSparkContext context) {
    var all = new HashMap<Long, HeldOnDevices>();
    context
        .parallelize(IntStream.range(0, 16).boxed().toList(), 16)
        .map(
            i -> {
              // So that both executors get some of them.
              Thread.sleep(20);
              return new Tuple2<>(ProcessHandle.current().pid(), here());
            })
        .collect()
        .forEach(t -> all.put(t._1(), t._2()));
    return all;
  }

  /** Waits until no executor has anything. */
  static void requireNothing(JavaSparkContext context) throws InterruptedException {
    Map<Long, HeldOnDevices> left = byProcess(context);
    for (int k = 0; k < 100 && !left.values().stream().allMatch(HeldOnDevices::isEmpty); k++) {
      Thread.sleep(50);
      left = byProcess(context);
    }
    assertThat(left.values()).as("left: %s", left).allMatch(HeldOnDevices::isEmpty);
  }

  private boolean isEmpty() {
    return device == 0 && host == 0 && factorizations == 0;
  }
}
