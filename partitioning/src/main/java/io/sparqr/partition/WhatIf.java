/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Partitions of one tree over different numbers of workers: for {@code sparqr analyze}, and for the
 * choice of a cluster.
 *
 * @param lines one per number of workers
 */
public record WhatIf(List<Line> lines) {

  /** Copies the list. */
  public WhatIf {
    lines = List.copyOf(lines);
  }

  /**
   * The best cut for one number of workers.
   *
   * @param workers their number
   * @param levels levels of the best cut found
   * @param tasks subtree tasks
   * @param seconds estimated makespan
   * @param lowerBoundSeconds lower bound for any cut at fronts
   * @param speedup estimated seconds with one worker over those with this number
   * @param peakBytes largest peak memory of a task
   * @param shuffleBytes contribution blocks sent between workers
   */
  public record Line(
      int workers,
      int levels,
      int tasks,
      double seconds,
      double lowerBoundSeconds,
      double speedup,
      long peakBytes,
      long shuffleBytes) {}

  /**
   * Partitions for several numbers of equal workers.
   *
   * @param like one worker; name ignored
   * @param counts numbers of workers to try, each at least 1
   */
  public static WhatIf of(
      SymbolicAnalysis analysis,
      ResourceModel.Worker like,
      double networkBytesPerSecond,
      double levelSeconds,
      PartitionOptions options,
      int... counts) {
    TreeCost cost = new TreeCost(analysis, 1);
    double alone =
        partition(analysis, like, 1, networkBytesPerSecond, levelSeconds, options)
            .estimatedSeconds();
    List<Line> lines = new ArrayList<>();
    for (int count : counts) {
      TreePartition p =
          partition(analysis, like, count, networkBytesPerSecond, levelSeconds, options);
      long shuffle = 0;
      long peak = 0;
      for (SubtreeTask t : p.tasks()) {
        peak = Math.max(peak, t.peakBytes());
        for (int c : t.inputs()) {
          boolean moves = p.tasks().get(p.taskOf(c)).worker() != t.worker();
          shuffle += moves ? cost.blockBytes[c] : 0;
        }
      }
      double seconds = p.estimatedSeconds();
      lines.add(
          new Line(
              count,
              p.levels(),
              p.tasks().size(),
              seconds,
              p.lowerBoundSeconds(),
              seconds == 0 ? 1 : alone / seconds,
              peak,
              shuffle));
    }
    return new WhatIf(lines);
  }

  private static TreePartition partition(
      SymbolicAnalysis analysis,
      ResourceModel.Worker like,
      int count,
      double networkBytesPerSecond,
      double levelSeconds,
      PartitionOptions options) {
    List<ResourceModel.Worker> workers = new ArrayList<>();
    for (int w = 0; w < count; w++) {
      workers.add(like.named("worker " + w));
    }
    ResourceModel model = new ResourceModel(workers, networkBytesPerSecond, levelSeconds);
    return TreePartitioner.partition(analysis, model, options);
  }

  /** The lines as a table. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%7s %6s %6s %10s %10s %8s %11s %11s%n",
            "workers",
            "levels",
            "tasks",
            "seconds",
            "not under",
            "speedup",
            "task memory",
            "shuffled"));
    for (Line l : lines) {
      text.append(
          String.format(
              Locale.ROOT,
              "%7d %6d %6d %10.3f %10.3f %8.2f %11s %11s%n",
              l.workers,
              l.levels,
              l.tasks,
              l.seconds,
              l.lowerBoundSeconds,
              l.speedup,
              SymbolicSummary.bytesText(l.peakBytes),
              SymbolicSummary.bytesText(l.shuffleBytes)));
    }
    return text.toString();
  }
}
