/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.WorkListener;
import io.sparqr.spark.internals.SparkProcess;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;

/**
 * Time and place of a subtree task, and the memory of its JVM meanwhile. Every finished attempt
 * sends one to the driver through an accumulator if a profile is requested.
 *
 * @param task id in the cut of the tree
 * @param beganMillis begin, in milliseconds since 1970
 * @param endedMillis end, in milliseconds since 1970
 * @param fronts number of its fronts
 * @param flopsDone flops executed
 * @param hostBytes peak heap of its data
 * @param deviceBytes peak device memory
 * @param measured what was measured meanwhile
 */
public record TaskProfile(
    int task,
    SolveProfile.Run run,
    long beganMillis,
    long endedMillis,
    int fronts,
    double flopsDone,
    long hostBytes,
    long deviceBytes,
    Measured measured)
    implements Serializable {

  /**
   * What was measured while the task ran.
   *
   * @param memory {@link MemorySampler#readings()}; none if the driver samples this JVM itself
   * @param timelines by memory stage: of each device
   */
  record Measured(long[][] memory, DeviceTimeline[][] timelines) implements Serializable {}

  /** {@link MemorySampler#readings()}; none if the driver samples this JVM itself. */
  public long[][] memory() {
    return measured.memory;
  }

  /** What devices did, by memory stage. */
  public DeviceTimeline[][] timelines() {
    return measured.timelines;
  }

  /** Spark's name for the driver and, in local mode, for its only executor. */
  public static final String DRIVER = "driver";

  /** The watch on a task; without a profile it costs nothing. */
  public static final class Watch {

    /** Null: no profile was requested. */
    private final @Nullable CollectionAccumulator<byte[]> told;

    private final int task;
    private final int threads;
    private final long began;

    /** What devices did, by stage. */
    private final List<DeviceTimeline[]> stages = new ArrayList<>();

    /** Null: the driver samples this JVM itself, or no profile was requested. */
    private final @Nullable MemorySampler memory;

    /** Starts within the task. */
    Watch(@Nullable CollectionAccumulator<byte[]> told, int task, int threads) {
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

    /** A listener that tells another of progress, and keeps what devices did for the profile. */
    public WorkListener heardBy(WorkListener work) {
      if (told == null) {
        return work;
      }
      return new WorkListener() {
        @Override
        public void done(double flops) {
          work.done(flops);
        }

        @Override
        public boolean wantsTimelines() {
          return true;
        }

        @Override
        public void ran(List<DeviceTimeline> devices) {
          synchronized (stages) {
            stages.add(devices.toArray(DeviceTimeline[]::new));
          }
        }
      };
    }

    private DeviceTimeline[][] timelines() {
      synchronized (stages) {
        return stages.toArray(DeviceTimeline[][]::new);
      }
    }

    private static String executor() {
      return SparkProcess.executor().orElse(DRIVER);
    }

    /** Ends the watch with the finished task. */
    public void done(FactorSummary s) {
      if (told == null) {
        return;
      }
      String place = executor();
      if (!place.equals(DRIVER)) {
        place = "executor %s on %s".formatted(place, SparkProcess.host().orElse("?"));
      }
      var seen = new long[3][0];
      if (memory != null) {
        memory.close();
        seen = memory.readings();
      }
      TaskContext context = TaskContext.get();
      int attempt = context == null ? 0 : context.attemptNumber();
      var profile =
          new TaskProfile(
              task,
              new SolveProfile.Run(attempt, place, s.device(), threads),
              began,
              System.currentTimeMillis(),
              Math.toIntExact(s.fronts()),
              s.flopsDone(),
              s.peakHostBytes(),
              s.peakDeviceBytes(),
              new Measured(seen, timelines()));
      // As bytes, because Spark's driver deserializes accumulators without the classes of a
      // session's artifacts.
      byte[] encoded = ObjectCodec.encode(profile);
      // Without Spark the tasks share the accumulator.
      synchronized (told) {
        told.add(encoded);
      }
    }
  }
}
