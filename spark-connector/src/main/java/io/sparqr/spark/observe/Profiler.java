/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.metrics.MemorySampler;
import io.sparqr.spark.metrics.TaskProfile;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Records a {@link SolveProfile} during a solve: its phases, and the driver's memory in the course
 * of each.
 */
public final class Profiler {

  private final long began = System.currentTimeMillis();
  private final List<Begun> phases = new ArrayList<>();
  private final List<SolveProfile.Memory> memory = new ArrayList<>();
  private SolveProfile.Spy matrix = SolveProfile.Spy.none();
  private SolveProfile.Spy factor = SolveProfile.Spy.none();
  private List<SolveProfile.Task> tasks = List.of();
  private List<SolveProfile.Front> fronts = List.of();
  private List<SolveProfile.FrontSize> sizes = List.of();
  private double foretold;

  /** A phase, or a pause between two calls if the name is empty. */
  private record Begun(String name, String detail, double at) {}

  /** Samples the driver's memory during a call. */
  final class Sampling implements AutoCloseable {
    private final MemorySampler sampler = new MemorySampler();

    /** Stores the samples and ends the current phase. */
    @Override
    public void close() {
      sampler.close();
      remember(TaskProfile.DRIVER, sampler.readings());
      phase("", "");
    }
  }

  /** Starts sampling the driver's memory. */
  Sampling sampling() {
    return new Sampling();
  }

  /** Starts a phase, or records its progress. */
  synchronized void phase(String name, String detail) {
    String last = phases.isEmpty() ? "" : phases.get(phases.size() - 1).name;
    if (!name.equals(last)) {
      phases.add(new Begun(name, detail, seconds(System.currentTimeMillis())));
    }
  }

  private double seconds(long millis) {
    return (millis - began) * 1e-3;
  }

  private void remember(String place, long[][] readings) {
    for (int k = 0; k < readings[0].length; k++) {
      memory.add(
          new SolveProfile.Memory(place, seconds(readings[0][k]), readings[1][k], readings[2][k]));
    }
  }

  /**
   * Records the analysis, and the pattern if it is still available.
   *
   * @param pattern empty: not on the driver
   */
  public void analyzed(Optional<SparsityPattern> pattern, SymbolicAnalysis analysis) {
    matrix = pattern.map(p -> SpyGrid.ofMatrix(p, analysis)).orElse(SolveProfile.Spy.none());
    factor = SpyGrid.ofFactor(pattern, analysis);
  }

  /** Records the factorization. */
  public void factored(SolvePlan plan, ResourceModel model, List<TaskProfile> told) {
    fronts = FrontSample.tree(plan.analysis(), plan.partition());
    sizes = FrontSample.sizes(plan.analysis());
    foretold = plan.partition().estimatedSeconds();
    tasks =
        told.stream()
            .sorted(
                Comparator.comparingInt(TaskProfile::task).thenComparing(TaskProfile::beganMillis))
            .map(t -> task(t, plan, model))
            .toList();
    told.forEach(t -> remember(t.run().place(), t.memory()));
  }

  private SolveProfile.Task task(TaskProfile t, SolvePlan plan, ResourceModel model) {
    SubtreeTask planned = plan.partition().tasks().get(t.task());
    double rate = model.workers().get(planned.worker()).flopsPerSecond(plan.analysis().intensity());
    return new SolveProfile.Task(
        t.task(),
        planned.level(),
        t.run(),
        seconds(t.beganMillis()),
        seconds(t.endedMillis()),
        new SolveProfile.Work(
            t.fronts(), planned.flops(), t.flopsDone(), rate > 0 ? planned.flops() / rate : 0),
        new SolveProfile.Peak(t.hostBytes(), planned.hostBytes(), t.deviceBytes()),
        deviceTimes(t.timelines()));
  }

  /** The timelines of a task's stages, as the report has them. */
  static List<SolveProfile.DeviceTime> deviceTimes(DeviceTimeline[][] stages) {
    var all = new ArrayList<SolveProfile.DeviceTime>();
    for (int s = 0; s < stages.length; s++) {
      for (DeviceTimeline t : stages[s]) {
        var spent = new ArrayList<SolveProfile.Spent>();
        for (DeviceTimeline.Cause cause : DeviceTimeline.Cause.values()) {
          double[] bins = t.blockSeconds()[cause.ordinal()];
          spent.add(
              new SolveProfile.Spent(
                  cause.words(), t.share(cause), Arrays.stream(bins).boxed().toList()));
        }
        all.add(
            new SolveProfile.DeviceTime(
                s, t.device(), t.slots(), t.seconds(), t.tasks(), t.binSeconds(), spent));
      }
    }
    return all;
  }

  /** The profile so far. */
  public synchronized SolveProfile profile() {
    var spans = new ArrayList<SolveProfile.Phase>();
    for (int k = 0; k < phases.size(); k++) {
      Begun p = phases.get(k);
      if (!p.name.isEmpty() && !p.name.equals("done")) {
        double end =
            k + 1 < phases.size() ? phases.get(k + 1).at : seconds(System.currentTimeMillis());
        spans.add(new SolveProfile.Phase(p.name, p.detail, p.at, end));
      }
    }
    var seen = new ArrayList<>(memory);
    seen.sort(
        Comparator.comparing(SolveProfile.Memory::place)
            .thenComparingDouble(SolveProfile.Memory::at));
    return new SolveProfile(began, spans, tasks, seen, fronts, sizes, matrix, factor, foretold);
  }
}
