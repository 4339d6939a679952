/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import io.sparqr.partition.MachineBound;
import io.sparqr.partition.PayingSizes;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.WhatIf;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The predicted cost of a factorization, for people and programs. JSON keys shared with {@link
 * SolveReport} have the same names and meanings.
 *
 * @param summary of the symbolic analysis, one right-hand side carried along
 * @param executors the executors for which the tree was cut
 * @param cut the cut of the tree for these
 * @param boundSeconds bound for any schedule on these, at the rate of the estimate: {@link
 *     MachineBound}
 * @param backend the backend that a solve would choose, and the reason
 * @param elsewhere the same problem on other executors
 * @param advice whether to factor it, or what else to take
 * @param seconds wall times
 * @param run when, where and by what
 */
public record AnalysisReport(
    SymbolicSummary summary,
    Executors executors,
    TreePartition cut,
    double boundSeconds,
    Backend backend,
    Elsewhere elsewhere,
    Advice advice,
    Seconds seconds,
    RunRecord run) {

  /**
   * The executors for which the tree was cut.
   *
   * @param count their number
   * @param devices of each; 0: CPU executors
   * @param paying how many of them a solve would use
   * @param reason why, in one line; empty for one
   */
  public record Executors(int count, int devices, int paying, String reason) {

    private int workersEach() {
      return Math.max(1, devices);
    }
  }

  /**
   * The backend that a solve with {@code --backend auto} would choose.
   *
   * @param name "cpu" or "cuda"
   * @param reason the reason for the choice
   */
  public record Backend(String name, String reason) {}

  /**
   * Wall times.
   *
   * @param read reading the matrix
   * @param order column ordering
   * @param analyze symbolic analysis without the ordering
   * @param plan cutting the tree
   * @param total all of it
   */
  public record Seconds(double read, double order, double analyze, double plan, double total) {}

  /**
   * Estimates for other executors.
   *
   * @param processors on other numbers of CPU executors
   * @param devices on other numbers of executors with GPUs
   * @param devicesEach GPUs of each of the latter
   * @param sizes from which size of problem on each number pays, if that was asked for
   */
  public record Elsewhere(
      WhatIf processors, WhatIf devices, int devicesEach, Optional<PayingSizes> sizes) {}

  /** Keys and values in the order of the JSON form. */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<String, Object>();
    map.put("rows", summary.rows());
    map.put("columns", summary.columns());
    map.put("nonzeros", summary.nonzeros());
    map.put("singletons", summary.singletons());
    map.put("ordering", summary.ordering().name());
    map.put("orderingReason", summary.orderingReason());
    map.put("nnzR", summary.nonzerosOfR());
    map.put("fronts", summary.fronts());
    map.put("leaves", summary.leaves());
    map.put("height", summary.height());
    map.put("largestFrontRows", summary.largestRows());
    map.put("largestFrontColumns", summary.largestColumns());
    map.put("flops", summary.flops());
    map.put("tileFlops", summary.tileFlops());
    map.put("criticalPathFlops", summary.criticalPathFlops());
    map.put("arithmeticIntensity", summary.arithmeticIntensity());
    map.put("frontBytes", summary.frontBytes());
    map.put("postorderBytes", summary.peakBytes());
    map.put("backend", backend.name);
    map.put("backendReason", backend.reason);
    map.put("executors", executors.count);
    map.put("devices", executors.devices);
    map.put("payingExecutors", executors.paying);
    map.put("payingReason", executors.reason);
    map.put("subtreeTasks", cut.tasks().size());
    map.put("levels", cut.levels());
    map.put("estimatedSeconds", cut.estimatedSeconds());
    map.put("lowerBoundSeconds", cut.lowerBoundSeconds());
    map.put("boundSeconds", boundSeconds);
    map.put("boundShare", MachineBound.share(boundSeconds, cut.estimatedSeconds()));
    map.put("foretoldHostBytes", mostOfATask(cut.tasks()));
    map.put("foretoldExecutorBytes", executorBytes());
    map.put("advice", advice.toMap());
    map.put("byLevel", byLevel());
    map.put("onProcessors", lines(elsewhere.processors, 1, 0));
    map.put("onDevices", lines(elsewhere.devices, elsewhere.devicesEach, elsewhere.devicesEach));
    elsewhere.sizes.ifPresent(sizes -> map.put("payingSizes", payingSizes(sizes)));
    map.put("seconds", times());
    map.put("run", run.toMap());
    return map;
  }

  /**
   * Heap that an executor needs at a time for the rows, fronts and contribution blocks of its
   * tasks: the maximum over all executors and levels.
   */
  public long executorBytes() {
    return executorBytes(cut, executors.workersEach());
  }

  /** As above, for any cut for executors of one worker. */
  public static long executorBytes(TreePartition cut) {
    return executorBytes(cut, 1);
  }

  private static long executorBytes(TreePartition cut, int workersEach) {
    long most = 0;
    for (int level = 0; level < cut.levels(); level++) {
      var of = new TreeMap<Integer, Long>();
      for (SubtreeTask t : cut.level(level)) {
        most = Math.max(most, of.merge(t.worker() / workersEach, t.hostBytes(), Long::sum));
      }
    }
    return most;
  }

  private static long mostOfATask(List<SubtreeTask> tasks) {
    return tasks.stream().mapToLong(SubtreeTask::hostBytes).max().orElse(0);
  }

  private List<Map<String, Object>> byLevel() {
    var levels = new ArrayList<Map<String, Object>>();
    for (int l = 0; l < cut.levels(); l++) {
      List<SubtreeTask> tasks = cut.level(l);
      var level = new LinkedHashMap<String, Object>();
      level.put("tasks", tasks.size());
      level.put("fronts", tasks.stream().mapToLong(t -> t.fronts().length).sum());
      level.put("flops", tasks.stream().mapToDouble(SubtreeTask::flops).sum());
      level.put("largestTaskFlops", tasks.stream().mapToDouble(SubtreeTask::flops).max().orElse(0));
      level.put("foretoldHostBytes", mostOfATask(tasks));
      levels.add(level);
    }
    return levels;
  }

  private static List<Map<String, Object>> payingSizes(PayingSizes sizes) {
    var all = new ArrayList<Map<String, Object>>();
    for (int i = 0; i < sizes.executors().length; i++) {
      var line = new LinkedHashMap<String, Object>();
      line.put("executors", sizes.executors()[i]);
      boolean pays = Double.isFinite(sizes.work()[i]);
      line.put("times", pays ? sizes.work()[i] : null);
      line.put("flops", pays ? sizes.work()[i] * sizes.flops() : null);
      all.add(line);
    }
    return all;
  }

  private static List<Map<String, Object>> lines(WhatIf table, int workersEach, int devices) {
    var all = new ArrayList<Map<String, Object>>();
    for (WhatIf.Line l : table.lines()) {
      var line = new LinkedHashMap<String, Object>();
      line.put("executors", l.workers() / workersEach);
      line.put("devices", devices);
      line.put("levels", l.levels());
      line.put("subtreeTasks", l.tasks());
      line.put("estimatedSeconds", l.seconds());
      line.put("lowerBoundSeconds", l.lowerBoundSeconds());
      line.put("boundSeconds", l.boundSeconds());
      line.put("boundShare", l.boundShare());
      line.put("speedup", l.speedup());
      line.put("taskBytes", l.peakBytes());
      line.put("shuffleBytes", l.shuffleBytes());
      all.add(line);
    }
    return all;
  }

  private Map<String, Object> times() {
    var times = new LinkedHashMap<String, Object>();
    times.put("read", seconds.read);
    times.put("order", seconds.order);
    times.put("analyze", seconds.analyze);
    times.put("plan", seconds.plan);
    times.put("total", seconds.total);
    return times;
  }

  /** The JSON form, indented. */
  public String toJson() {
    return SolveReport.json(toMap());
  }

  /** A page with the text and the figures, without charts. */
  public String toHtml() {
    String title = "Sparqr: analysis of %,d x %,d".formatted(summary.rows(), summary.columns());
    return ReportPage.of("analysis.html", title, toText(), ReportPage.escaped(toJson()));
  }

  /** {@link #toText()}. */
  @Override
  public String toString() {
    return toText();
  }

  /** Two pages of text. */
  public String toText() {
    return AnalysisText.of(this);
  }
}
