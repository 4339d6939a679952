/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a solve did, for people and programs. Component names are the keys of the JSON form.
 *
 * @param rows m: rows of A that count (rows of weight 0 do not), ridge rows not included
 * @param columns n
 * @param nonzeros entries of A
 * @param rhs right-hand sides
 * @param ordering the column order that was used
 * @param orderingReason why this one
 * @param nnzR entries of R that are held
 * @param fronts fronts of the assembly tree
 * @param flops of the staircase factorization, by the symbolic analysis
 * @param flopsDone flops executed, padding included
 * @param tolerance a column whose remaining norm, columns scaled, is at most this is dead;
 *     negative: no rank detection
 * @param toleranceReason where it is from
 * @param rank numerical rank
 * @param deadColumns original indices, ascending
 * @param residualNorm one for each right-hand side
 * @param normalResidual max over the right-hand sides of ||A'(b-Ax)|| / (||A||_F ||b-Ax||); NaN if
 *     it was not asked for (null in JSON)
 * @param normDeparture how far the column sums that an orthogonal transformation keeps (norm^2, and
 *     a linear probe) departed at most, relative to the columns' norms, in any task; always
 *     measured
 * @param backend what computed, such as "cpu (OpenBLAS 0.3.31)"
 * @param backendReason why this backend
 * @param devices names and PCI addresses of the devices that computed; empty on CPUs
 * @param subtreeTasks tasks that the tree was cut into
 * @param levels levels of the task tree
 * @param stages memory stages on devices
 * @param rounds rounds of the bucket scheduler
 * @param tasks device tasks
 * @param redoneTasks tasks, and batches of combined rows, that were done again because their column
 *     sums departed too far; the warnings say why
 * @param shuffleBytes bytes of patterns, rows and contribution blocks that were shuffled, before
 *     Spark's own compression
 * @param h2dBytes host to device
 * @param d2hBytes device to host
 * @param seconds wall times
 * @param peakDeviceBytes most device memory held by a task
 * @param peakHostBytes most host memory held in fronts and contribution blocks by a task
 * @param warnings in the order they came
 */
public record SolveReport(
    long rows,
    int columns,
    long nonzeros,
    int rhs,
    String ordering,
    String orderingReason,
    long nnzR,
    int fronts,
    double flops,
    double flopsDone,
    double tolerance,
    String toleranceReason,
    int rank,
    int[] deadColumns,
    double[] residualNorm,
    double normalResidual,
    double normDeparture,
    String backend,
    String backendReason,
    List<String> devices,
    int subtreeTasks,
    int levels,
    long stages,
    long rounds,
    long tasks,
    long redoneTasks,
    long shuffleBytes,
    long h2dBytes,
    long d2hBytes,
    Seconds seconds,
    long peakDeviceBytes,
    long peakHostBytes,
    List<String> warnings)
    implements Serializable {

  /**
   * Wall times on the driver, in seconds.
   *
   * @param read reading the input, where the caller measured it
   * @param pattern row checks, column norms, distinct patterns
   * @param order column ordering
   * @param analyze symbolic analysis without the ordering
   * @param plan cut of the tree and broadcast
   * @param assemble rows to the tasks of their fronts
   * @param factorize all levels of the numeric factorization
   * @param solve back substitution
   * @param total all of it
   */
  public record Seconds(
      double read,
      double pattern,
      double order,
      double analyze,
      double plan,
      double assemble,
      double factorize,
      double solve,
      double total)
      implements Serializable {

    /** The same with another time of reading, which counts in the total. */
    Seconds withRead(double other) {
      return new Seconds(
          other, pattern, order, analyze, plan, assemble, factorize, solve, total - read + other);
    }

    /** The same with other times of solving and in all. */
    public Seconds withSolve(double other, double all) {
      return new Seconds(read, pattern, order, analyze, plan, assemble, factorize, other, all);
    }
  }

  /** Copies the lists into serializable ones. */
  public SolveReport {
    devices = new ArrayList<>(devices);
    warnings = new ArrayList<>(warnings);
  }

  /** flops / factorize seconds, in 1e9. */
  public double gflops() {
    return seconds.factorize > 0 ? flops / seconds.factorize / 1e9 : 0;
  }

  /** The same with other times: what a caller who repeats a solve reports. */
  public SolveReport withSeconds(Seconds other) {
    return with(rows, columns, deadColumns, residualNorm, normalResidual, other);
  }

  /**
   * The report of a factorization of A' as that of the minimum-norm solution with A: m x n, full
   * row rank.
   */
  public SolveReport ofMinimumNorm(long m, int n, double[] norms, double total) {
    Seconds s = seconds;
    return with(m, n, new int[0], norms, Double.NaN, s.withSolve(total - s.total, total));
  }

  private SolveReport with(
      long m, int n, int[] dead, double[] norms, double normal, Seconds times) {
    return new SolveReport(
        m,
        n,
        nonzeros,
        rhs,
        ordering,
        orderingReason,
        nnzR,
        fronts,
        flops,
        flopsDone,
        tolerance,
        toleranceReason,
        rank,
        dead,
        norms,
        normal,
        normDeparture,
        backend,
        backendReason,
        devices,
        subtreeTasks,
        levels,
        stages,
        rounds,
        tasks,
        redoneTasks,
        shuffleBytes,
        h2dBytes,
        d2hBytes,
        times,
        peakDeviceBytes,
        peakHostBytes,
        warnings);
  }

  /**
   * The report of a factorization of A after which the minimum-norm solution was computed by a
   * second one, of R': its time counts as solve.
   *
   * @param second report of the second factorization
   * @param norms residual norms of the new solution
   * @param normal its normal equations' residual; NaN: not asked for
   * @param elapsed seconds that it took in all
   */
  public SolveReport withLeastNorm(
      SolveReport second, double[] norms, double normal, double elapsed) {
    Seconds s = seconds.withSolve(seconds.solve + elapsed, seconds.total + elapsed);
    SolveReport timed = with(rows, columns, deadColumns, norms, normal, s);
    timed.warnings.add(
        "minimum-norm solution by a second factorization, of R' (rank %,d): %s, %.2f s"
            .formatted(rank, work(second.flops), elapsed));
    timed.warnings.addAll(second.warnings);
    return timed;
  }

  /**
   * The report of a basic solution, kept because the equations of the one of least norm could not
   * be met.
   *
   * @param elapsed seconds that were spent on it
   */
  public SolveReport withoutLeastNorm(double elapsed) {
    Seconds s = seconds;
    SolveReport timed = withSeconds(s.withSolve(s.solve + elapsed, s.total + elapsed));
    timed.warnings.add(
        "a basic solution, not the one of least norm: its equations are too badly conditioned;"
            + " columns in other units may help");
    return timed;
  }

  /** The same with further warnings. */
  public SolveReport withWarnings(List<String> further) {
    SolveReport warned = withSeconds(seconds);
    warned.warnings.addAll(further);
    return warned;
  }

  /** The same with the time that the caller took to read the input, added to the total. */
  public SolveReport withReadSeconds(double read) {
    return withSeconds(seconds.withRead(read));
  }

  /** Keys and values in the order of the JSON form. */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<String, Object>();
    map.put("rows", rows);
    map.put("columns", columns);
    map.put("nonzeros", nonzeros);
    map.put("rhs", rhs);
    map.put("ordering", ordering);
    map.put("orderingReason", orderingReason);
    map.put("nnzR", nnzR);
    map.put("fronts", fronts);
    map.put("flops", flops);
    map.put("flopsDone", flopsDone);
    map.put("tolerance", tolerance);
    map.put("toleranceReason", toleranceReason);
    map.put("rank", rank);
    map.put("deadColumns", deadColumns);
    map.put("residualNorm", residualNorm.length == 1 ? residualNorm[0] : residualNorm);
    map.put("normalResidual", Double.isNaN(normalResidual) ? null : normalResidual);
    map.put("normDeparture", normDeparture);
    map.put("backend", backend);
    map.put("backendReason", backendReason);
    map.put("devices", devices);
    map.put("subtreeTasks", subtreeTasks);
    map.put("levels", levels);
    map.put("stages", stages);
    map.put("rounds", rounds);
    map.put("tasks", tasks);
    map.put("redoneTasks", redoneTasks);
    map.put("shuffleBytes", shuffleBytes);
    map.put("h2dBytes", h2dBytes);
    map.put("d2hBytes", d2hBytes);
    var times = new LinkedHashMap<String, Object>();
    times.put("read", seconds.read);
    times.put("pattern", seconds.pattern);
    times.put("order", seconds.order);
    times.put("analyze", seconds.analyze);
    times.put("plan", seconds.plan);
    times.put("assemble", seconds.assemble);
    times.put("factorize", seconds.factorize);
    times.put("solve", seconds.solve);
    times.put("total", seconds.total);
    map.put("seconds", times);
    map.put("gflops", gflops());
    map.put("peakDeviceBytes", peakDeviceBytes);
    map.put("peakHostBytes", peakHostBytes);
    map.put("warnings", warnings);
    return map;
  }

  /** The JSON form, indented. */
  public String toJson() {
    try {
      return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(toMap());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report that is no JSON", e);
    }
  }

  /** A readable summary of about ten lines. */
  public String toText() {
    var out = new StringBuilder();
    line(
        out,
        "matrix",
        "%,d x %,d, %,d nonzeros, %d right-hand side(s)",
        rows,
        columns,
        nonzeros,
        rhs);
    line(out, "ordering", "%s: nnz(R) %,d, %,d fronts, %s", ordering, nnzR, fronts, work(flops));
    line(out, "", "%s", orderingReason);
    line(out, "tree", "%d subtree task(s) in %d level(s)", subtreeTasks, levels);
    line(
        out, "backend", "%s%s", backend, backendReason.isEmpty() ? "" : " (" + backendReason + ")");
    if (!devices.isEmpty()) {
      line(out, "devices", "%s", String.join(", ", devices));
    }
    line(out, "rank", "%,d of %,d, %s%s", rank, columns, toleranceText(), deadText());
    for (int k = 0; k < residualNorm.length; k++) {
      line(out, k == 0 ? "residual" : "", "||b - Ax|| = %.12e", residualNorm[k]);
    }
    if (!Double.isNaN(normalResidual)) {
      line(out, "check", "||A'(b-Ax)|| / (||A|| ||b-Ax||) = %.2e", normalResidual);
    }
    line(
        out,
        "sums",
        "column norms and probes kept to %.1e%s",
        normDeparture,
        redoneTasks == 0 ? "" : ", %d task(s) done again".formatted(redoneTasks));
    line(
        out,
        "seconds",
        "read %.2f, pattern %.2f, order %.2f, analyze %.2f, plan %.2f, rows %.2f, factorize %.2f,"
            + " solve %.2f, total %.2f",
        seconds.read,
        seconds.pattern,
        seconds.order,
        seconds.analyze,
        seconds.plan,
        seconds.assemble,
        seconds.factorize,
        seconds.solve,
        seconds.total);
    line(out, "speed", "%.1f GFLOP/s, %,d bytes shuffled", gflops(), shuffleBytes);
    for (String w : warnings) {
      line(out, "warning", "%s", w);
    }
    return out.toString();
  }

  private String toleranceText() {
    return tolerance < 0
        ? "no rank detection (" + toleranceReason + ")"
        : String.format(Locale.ROOT, "tolerance %.2e (%s)", tolerance, toleranceReason);
  }

  private String deadText() {
    if (deadColumns.length == 0) {
      return "";
    }
    var text = new StringBuilder("; dead columns");
    for (int k = 0; k < Math.min(8, deadColumns.length); k++) {
      text.append(k == 0 ? " " : ", ").append(deadColumns[k]);
    }
    return text + (deadColumns.length > 8 ? ", ..." : "");
  }

  private static void line(StringBuilder out, String key, String format, Object... values) {
    out.append(String.format(Locale.ROOT, "%-9s ", key))
        .append(String.format(Locale.ROOT, format, values))
        .append('\n');
  }

  /** Flops in a readable unit, such as "1.9 TFLOP". */
  public static String work(double flops) {
    String[] unit = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
    int u = 0;
    double f = flops;
    while (f >= 1000 && u < unit.length - 1) {
      f /= 1000;
      u++;
    }
    return String.format(Locale.ROOT, f >= 100 ? "%.0f %s" : "%.1f %s", f, unit[u]);
  }
}
