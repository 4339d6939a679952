/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.ProgressListener.Progress;
import io.sparqr.spark.metrics.WorkDone;
import io.sparqr.spark.resource.Engine;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Turns phases into progress, by Spark's ended tasks or, where there are some, by the flops that
 * tasks have done; silent and free without a listener.
 */
final class ProgressTracker implements AutoCloseable {

  /** Between two looks at the flops done in this JVM. */
  private static final long LOOK_MILLIS = 200;

  /** What is left is told when so much of the flops is done. */
  private static final double TELLING = 0.02;

  private final Engine engine;
  private final ProgressListener listener;
  private final String group;
  private final long begin;
  private final boolean heard;

  /** Null without Spark, and where nobody hears. */
  private final TaskListener tasks;

  private final Optional<Profiler> profiler;
  private final Optional<Profiler.Sampling> sampling;

  private volatile String phase = "";
  private volatile String detail = "";

  /** The flops that are being done; null: tasks are counted. */
  private volatile Working working;

  /** Part of the phase that was told of last. */
  private double told;

  /**
   * Of a call.
   *
   * @param profiler hears of the phases, too
   * @param before seconds that the solve has taken until then
   */
  ProgressTracker(
      Engine engine,
      ProgressListener listener,
      String group,
      Optional<Profiler> profiler,
      double before) {
    this.begin = System.nanoTime() - (long) (before * 1e9);
    this.profiler = profiler;
    this.sampling = profiler.map(Profiler::sampling);
    this.engine = engine;
    this.listener = listener;
    this.group = group;
    this.heard = ToldOnce.hears(listener);
    this.tasks = heard && engine.spark() ? new TaskListener() : null;
    if (tasks != null) {
      engine.context().sc().addSparkListener(tasks);
    }
  }

  /** A phase begins, or another part of the one that is going on. */
  void phase(String name, String what) {
    begin(name, what);
    tell(0);
  }

  private void begin(String name, String what) {
    profiler.ifPresent(p -> p.phase(name, what));
    if (tasks != null) {
      tasks.reset();
    }
    synchronized (this) {
      told = name.equals(phase) ? told : 0;
      phase = name;
      detail = what;
    }
  }

  /** The phase that is going on; empty before the first. */
  String current() {
    return phase;
  }

  /** Seconds since the beginning. */
  double seconds() {
    return (System.nanoTime() - begin) * 1e-9;
  }

  /** Tells that so much of the phase is done, if not more was told of before. */
  private synchronized void tell(double fraction) {
    told = Math.max(told, Math.min(1, fraction));
    Working w = working;
    listener.update(
        w == null
            ? new Progress(phase, detail, told, seconds())
            : new Progress(
                phase, detail, told, seconds(), told * w.flops, w.flops, w.remaining(told)));
  }

  /** Says that all is done. */
  void done(String what) {
    begin("done", what);
    tell(1);
  }

  /** From now on progress goes by flops, until that is closed. */
  Working working(WorkDone work, double flops) {
    return new Working(work, flops);
  }

  @Override
  public void close() {
    sampling.ifPresent(Profiler.Sampling::close);
    if (tasks != null) {
      engine.context().sc().removeSparkListener(tasks);
    }
  }

  /**
   * A phase whose flops are known. Of tasks in this JVM a thread looks at what they have done, some
   * times a second; of others the listener hears by heartbeats and ends of tasks.
   */
  final class Working implements AutoCloseable {

    private final WorkDone work;
    private final double flops;
    private final double from = seconds();
    private Thread looking;

    private Working(WorkDone work, double flops) {
      this.work = work;
      this.flops = flops;
    }

    /** A part of the phase begins. */
    void phase(String name, String what) {
      working = this;
      ProgressTracker.this.phase(name, what);
      if (heard && looking == null) {
        looking = new Thread(this::look, "sparqr-progress");
        looking.setDaemon(true);
        looking.start();
      }
    }

    private void look() {
      double last = 0;
      try {
        while (working == this) {
          Thread.sleep(LOOK_MILLIS);
          double now = Math.max(work.here(), tasks == null ? 0 : tasks.flops());
          if (now > last && working == this) {
            last = now;
            tell(now / flops);
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /** Seconds until the end of the phase, at its pace so far; NaN at its beginning. */
    private double remaining(double part) {
      return part < TELLING ? Double.NaN : (seconds() - from) * (1 - part) / part;
    }

    /** All flops are done. */
    void complete() {
      if (working == this) {
        tell(1);
      }
    }

    @Override
    public void close() {
      if (tasks != null) {
        // their ends, heard of late, are no progress of the phase that counts tasks
        tasks.reset();
      }
      working = null;
      if (looking != null) {
        looking.interrupt();
      }
      work.close();
    }
  }

  private final class TaskListener extends SparkListener {
    private final Set<Integer> stages = ConcurrentHashMap.newKeySet();

    /** Flops that a task's accumulator had when it was heard of last, by Spark's task number. */
    private final ConcurrentHashMap<Long, Double> done = new ConcurrentHashMap<>();

    private int expected;
    private int ended;

    synchronized void reset() {
      stages.clear();
      expected = 0;
      ended = 0;
    }

    double flops() {
      return done.values().stream().mapToDouble(d -> d).sum();
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart job) {
      if (group.equals(job.properties().getProperty("spark.jobGroup.id"))) {
        job.stageInfos()
            .foreach(
                s -> {
                  stages.add(s.stageId());
                  expected += s.numTasks();
                  return null;
                });
      }
    }

    @Override
    public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate heartbeat) {
      heartbeat
          .accumUpdates()
          .foreach(
              u -> {
                hear((Long) u._1(), u._4());
                return null;
              });
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd task) {
      if (task.taskInfo().failed() || task.taskInfo().killed()) {
        done.remove(task.taskInfo().taskId());
      } else {
        hear(task.taskInfo().taskId(), task.taskInfo().accumulables());
      }
      synchronized (this) {
        if (working == null && stages.contains(task.stageId())) {
          ended++;
          tell(ended / (double) Math.max(1, expected));
        }
      }
    }

    private void hear(long task, scala.collection.Iterable<AccumulableInfo> accumulators) {
      Working w = working;
      if (w == null) {
        return;
      }
      accumulators.foreach(
          a -> {
            if (a.id() == w.work.id() && a.update().isDefined()) {
              done.put(task, (Double) a.update().get());
            }
            return null;
          });
    }
  }
}
