/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.TaskCompletionListener;

/**
 * When and where a subtree task ran, and the memory of its JVM meanwhile: what an attempt that came
 * to its end tells the driver by an accumulator, where a profile is asked for.
 *
 * @param task id in the cut of the tree
 * @param attempt Spark's
 * @param place "driver" in local mode, else executor and host
 * @param device as the summary has it
 * @param threads that it might use
 * @param beganMillis since 1970
 * @param endedMillis since 1970
 * @param fronts of it
 * @param flopsDone executed
 * @param hostBytes most heap held in its data
 * @param deviceBytes most device memory
 * @param memory {@link MemorySampler#readings()}; none where the driver looks at this JVM itself
 */
public record TaskProfile(
    int task,
    int attempt,
    String place,
    String device,
    int threads,
    long beganMillis,
    long endedMillis,
    int fronts,
    double flopsDone,
    long hostBytes,
    long deviceBytes,
    long[][] memory)
    implements Serializable {

  /** What Spark calls the driver, in local mode the one executor too. */
  public static final String DRIVER = "driver";

  /** A task that is being watched; one that is not costs nothing. */
  public static final class Watch {

    private final CollectionAccumulator<byte[]> told;
    private final int task;
    private final int threads;
    private final long began;
    private final MemorySampler memory;

    /** Begins, in the task; told is null where nobody asks. */
    Watch(CollectionAccumulator<byte[]> told, int task, int threads) {
      this.told = told;
      this.task = task;
      this.threads = threads;
      this.began = told == null ? 0 : System.currentTimeMillis();
      this.memory = told == null || executor().equals(DRIVER) ? null : new MemorySampler();
      if (memory != null) {
        TaskContext.get()
            .addTaskCompletionListener((TaskCompletionListener) context -> memory.close());
      }
    }

    private static String executor() {
      SparkEnv env = SparkEnv.get();
      return env == null ? DRIVER : env.executorId();
    }

    /** The task is done. */
    public void done(FactorSummary s) {
      if (told == null) {
        return;
      }
      String place = executor();
      if (!place.equals(DRIVER)) {
        place =
            "executor %s on %s"
                .formatted(place, SparkEnv.get().blockManager().blockManagerId().host());
      }
      var seen = new long[3][0];
      if (memory != null) {
        memory.close();
        seen = memory.readings();
      }
      TaskContext context = TaskContext.get();
      var profile =
          new TaskProfile(
              task,
              context == null ? 0 : context.attemptNumber(),
              place,
              s.device(),
              threads,
              began,
              System.currentTimeMillis(),
              Math.toIntExact(s.fronts()),
              s.flopsDone(),
              s.peakHostBytes(),
              s.peakDeviceBytes(),
              seen);
      // as bytes: Spark's driver reads accumulators without the classes of a session's artifacts
      byte[] encoded = ObjectCodec.encode(profile);
      // without Spark tasks share it
      synchronized (told) {
        told.add(encoded);
      }
    }
  }
}
