/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.Arrays;
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
   * @param seconds estimated seconds of the executors: for the rows, read twice and among CPUs
   *     combined ({@link RowCost}), and for the factorization. The driver's ordering and analysis
   *     come to that, which take as long with any number of executors
   * @param lowerBoundSeconds lower bound for any cut at fronts
   * @param speedup estimated seconds with one executor over those with this number
   * @param peakBytes largest peak memory of a task
   * @param shuffleBytes contribution blocks sent between workers
   * @param boundSeconds bound for any schedule, see {@link MachineBound}: among CPUs at the rate of
   *     the estimate, on devices at the limit of the hardware
   */
  public record Line(
      int workers,
      int levels,
      int tasks,
      double seconds,
      double lowerBoundSeconds,
      double speedup,
      long peakBytes,
      long shuffleBytes,
      double boundSeconds) {

    /** The share of the estimated seconds that the bound is. */
    public double boundShare() {
      return MachineBound.share(boundSeconds, seconds);
    }
  }

  /**
   * Partitions for several numbers of equal workers. Unless the options say otherwise, each CPU
   * worker has two partitions of the rows, in which they are combined. Tall fronts are spread over
   * several CPU workers where that is faster, as for a solve.
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
    int devices = like.device() ? 1 : 0;
    return of(
        analysis,
        new EqualExecutors(like, devices, networkBytesPerSecond, levelSeconds),
        options,
        counts);
  }

  /**
   * As above, for executors of one or several devices.
   *
   * @param counts numbers of executors to try, each at least 1
   */
  static WhatIf of(
      SymbolicAnalysis analysis, EqualExecutors like, PartitionOptions options, int... counts) {
    double alone = like.forecast(analysis, options, 1).seconds();
    return new WhatIf(
        Arrays.stream(counts)
            .mapToObj(k -> line(like, k, like.forecast(analysis, options, k), alone))
            .toList());
  }

  private static Line line(
      EqualExecutors like, int executors, EqualExecutors.Forecast forecast, double alone) {
    SpreadCut cut = forecast.cut();
    double seconds = forecast.seconds();
    int count = executors * like.workersEach();
    TreeCost cost = new TreeCost(cut.analysis(), 1);
    TreePartition p = cut.partition();
    long shuffle = 0;
    long peak = 0;
    for (SubtreeTask t : p.tasks()) {
      peak = Math.max(peak, t.peakBytes());
      for (int c : t.inputs()) {
        boolean moves = p.tasks().get(p.taskOf(c)).worker() != t.worker();
        shuffle += moves ? cost.blockBytes[c] : 0;
      }
    }
    return new Line(
        count,
        p.levels(),
        p.tasks().size(),
        seconds,
        p.lowerBoundSeconds(),
        seconds == 0 ? 1 : alone / seconds,
        peak,
        shuffle,
        MachineBound.ofEqual(like.worker(), count).seconds(cut.analysis(), 1));
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
