/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.metrics.WorkDone;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.ProgressListener.Progress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.jspecify.annotations.Nullable;

/**
 * Turns phases into progress, measured by Spark's finished tasks or, if available, by the flops
 * that tasks have done; without a listener it does nothing and costs nothing.
 */
public final class ProgressTracker implements AutoCloseable {

  /** Interval between two readings of the flops done in this JVM. */
  private static final long LOOK_MILLIS = 200;

  /** The remaining time is reported once this fraction of the flops is done. */
  private static final double TELLING = 0.02;

  private final Engine engine;
  private final ProgressListener listener;
  private final String group;
  private final long begin;
  private final boolean heard;

  /** With Spark and a listener. */
  private final @Nullable TaskListener tasks;

  private final Optional<Profiler> profiler;
  private final Optional<Profiler.Sampling> sampling;

  private volatile String phase = "";
  private volatile String detail = "";

  /** The phase measured in flops; where there is none, progress counts tasks. */
  private volatile @Nullable Working working;

  /** The last reported fraction of the phase. */
  private double told;

  /**
   * @param profiler also receives the phases
   * @param before seconds spent on the solve so far
   */
  public ProgressTracker(
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
    this.tasks = heard ? new TaskListener() : null;
    if (tasks != null) {
      engine.tell(tasks);
    }
  }

  /** Starts a phase, or another part of the current one. */
  public void phase(String name, String what) {
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

  /** The current phase; empty before the first. */
  public String current() {
    return phase;
  }

  /** Seconds since the beginning. */
  double seconds() {
    return (System.nanoTime() - begin) * 1e-9;
  }

  /** Reports the fraction of the phase done; it never decreases. */
  private synchronized void tell(double fraction) {
    told = Math.max(told, Math.min(1, fraction));
    Working w = working;
    listener.update(
        w == null
            ? new Progress(phase, detail, told, seconds())
            : new Progress(
                phase, detail, told, seconds(), told * w.flops, w.flops, w.remaining(told)));
  }

  /** Reports the end of the solve. */
  public void done(String what) {
    begin("done", what);
    tell(1);
  }

  /** Measures progress in flops from now until the result is closed. */
  public Working working(WorkDone work, double flops) {
    return new Working(work, flops);
  }

  @Override
  public void close() {
    sampling.ifPresent(Profiler.Sampling::close);
    if (tasks != null) {
      engine.forget(tasks);
    }
  }

  /**
   * A phase with known flops. For tasks in this JVM, a thread reads their progress some times per
   * second; for others, the listener receives it with heartbeats and at the end of each task.
   */
  public final class Working implements AutoCloseable {

    private final WorkDone work;
    private final double flops;
    private final double from = seconds();
    private @Nullable Thread looking;

    private Working(WorkDone work, double flops) {
      this.work = work;
      this.flops = flops;
    }

    /** Starts a part of the phase. */
    public void phase(String name, String what) {
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

    /** Reports all flops as done. */
    public void complete() {
      if (working == this) {
        tell(1);
      }
    }

    @Override
    public void close() {
      if (tasks != null) {
        // Late task ends of this phase must not count in the next one, which counts tasks.
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

    /** Flops in a task's accumulator as last reported, by Spark's task number. */
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
