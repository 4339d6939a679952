/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.ProgressListener.Progress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Turns phases and Spark's ended tasks into progress; silent and free without a listener. */
final class ProgressTracker implements AutoCloseable {

  private final JavaSparkContext context;
  private final ProgressListener listener;
  private final String group;
  private final long begin = System.nanoTime();
  private final TaskListener tasks;
  private final Optional<Profiler> profiler;
  private final Optional<Profiler.Sampling> sampling;

  private volatile String phase = "";
  private volatile String detail = "";
  private volatile double from;
  private volatile double share = 1;

  ProgressTracker(
      JavaSparkContext context,
      ProgressListener listener,
      String group,
      Optional<Profiler> profiler) {
    this.profiler = profiler;
    this.sampling = profiler.map(Profiler::sampling);
    this.context = context;
    this.listener = listener;
    this.group = group;
    this.tasks = ToldOnce.hears(listener) ? new TaskListener() : null;
    if (tasks != null) {
      context.sc().addSparkListener(tasks);
    }
  }

  /** A phase begins, its tasks making up all of it. */
  void phase(String name, String what) {
    phase(name, what, 0, 1);
  }

  /** A part of a phase begins: [from, from + share) of it. */
  void phase(String name, String what, double partFrom, double partShare) {
    phase = name;
    detail = what;
    from = partFrom;
    share = partShare;
    profiler.ifPresent(p -> p.phase(name, what));
    if (tasks != null) {
      tasks.reset();
    }
    tell(partFrom);
  }

  /** The phase that is going on; empty before the first. */
  String current() {
    return phase;
  }

  /** Seconds since the beginning. */
  double seconds() {
    return (System.nanoTime() - begin) * 1e-9;
  }

  private void tell(double fraction) {
    listener.update(new Progress(phase, detail, fraction, seconds()));
  }

  /** Says that all is done. */
  void done(String what) {
    phase("done", what, 1, 0);
  }

  @Override
  public void close() {
    sampling.ifPresent(Profiler.Sampling::close);
    if (tasks != null) {
      context.sc().removeSparkListener(tasks);
    }
  }

  private final class TaskListener extends SparkListener {
    private final Set<Integer> stages = ConcurrentHashMap.newKeySet();
    private int expected;
    private int ended;

    synchronized void reset() {
      stages.clear();
      expected = 0;
      ended = 0;
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
    public synchronized void onTaskEnd(SparkListenerTaskEnd task) {
      if (stages.contains(task.stageId())) {
        ended++;
        tell(from + share * Math.min(1.0, ended / (double) Math.max(1, expected)));
      }
    }
  }
}
