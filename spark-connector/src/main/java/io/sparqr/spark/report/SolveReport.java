/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.partition.MachineBound;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The report of a solve, for people and programs: a group of figures for each phase. In JSON the
 * figures are not grouped, except for seconds and the bytes of R; their keys are the component
 * names. Immutable, but for the arrays, which callers must not change.
 *
 * @param matrix the size of the problem
 * @param analysis the column order and the tree
 * @param cluster the resources that the tree was cut for
 * @param factorization backend, work and memory
 * @param rankTest rank and dependent columns
 * @param proof the integrity checks of the tasks
 * @param traffic bytes moved
 * @param residual of the solution; empty before a solve
 * @param seconds wall times
 * @param warnings what the user should know and did not ask for, in order of occurrence
 * @param notes how what was asked for was done
 * @param profile time and place of every task, if requested; of it the JSON form has what devices
 *     did
 * @param criteria how good Q and R are; {@link QrCriteria#NONE} if not requested
 */
public record SolveReport(
    Matrix matrix,
    Analysis analysis,
    Cluster cluster,
    Factorization factorization,
    RankTest rankTest,
    Proof proof,
    Traffic traffic,
    Residual residual,
    Seconds seconds,
    List<String> warnings,
    List<String> notes,
    SolveProfile profile,
    QrCriteria criteria)
    implements Serializable {

  /** Copies the warnings and notes. */
  public SolveReport {
    warnings = List.copyOf(warnings);
    notes = List.copyOf(notes);
  }

  /** A report without a profile. */
  public SolveReport(
      Matrix matrix,
      Analysis analysis,
      Cluster cluster,
      Factorization factorization,
      RankTest rankTest,
      Proof proof,
      Traffic traffic,
      Residual residual,
      Seconds seconds,
      List<String> warnings) {
    this(
        matrix,
        analysis,
        cluster,
        factorization,
        rankTest,
        proof,
        traffic,
        residual,
        seconds,
        warnings,
        List.of(),
        SolveProfile.NONE,
        QrCriteria.NONE);
  }

  /**
   * The size of the problem.
   *
   * @param rows m: rows of positive weight, without ridge rows
   * @param columns n
   * @param nonzeros entries of A
   * @param rhs right-hand sides
   */
  public record Matrix(long rows, int columns, long nonzeros, int rhs) implements Serializable {}

  /**
   * The symbolic analysis and the cut of its tree.
   *
   * @param ordering the column order
   * @param orderingReason the reason for this order
   * @param fronts fronts of the assembly tree
   * @param flops of their staircases
   * @param subtreeTasks tasks that the tree was cut into
   * @param levels of the task tree
   * @param boundSeconds {@link MachineBound} of the machine that the tree was cut for; 0 if loaded
   */
  public record Analysis(
      String ordering,
      String orderingReason,
      int fronts,
      double flops,
      int subtreeTasks,
      int levels,
      double boundSeconds)
      implements Serializable {}

  /**
   * The resources that the tree was cut for.
   *
   * @param executors executors present when it was cut; 1 in local mode, the JVM
   * @param waitedSeconds time spent waiting for them; part of {@code seconds.plan}
   * @param engine where the tasks ran: "spark", or "local" for the driver's JVM without Spark
   * @param engineReason the reason, if there was a choice; otherwise empty
   * @param run when, where and by what
   */
  public record Cluster(
      int executors, double waitedSeconds, String engine, String engineReason, RunRecord run)
      implements Serializable {

    /** The engine, except for small problems on the command line. */
    public static final String SPARK = "spark";

    /** The cluster of a solve by Spark. */
    public Cluster(int executors, double waitedSeconds) {
      this(executors, waitedSeconds, SPARK, "", RunRecord.NONE);
    }

    private Cluster because(String reason) {
      return new Cluster(executors, waitedSeconds, engine, reason, run);
    }

    private Cluster of(String input) {
      return new Cluster(executors, waitedSeconds, engine, engineReason, run.withInput(input));
    }
  }

  /**
   * Fronts by their Gram matrix.
   *
   * @param method what was allowed: "HOUSEHOLDER" or "AUTO"
   * @param gramFronts accepted: the measured backward error was as small as reflectors leave it
   * @param gramRefused tried, and factored by reflectors all the same
   * @param gramFlops of both
   * @param gramError largest measured backward error of a column, relative to its norm
   */
  public record Gram(
      String method, long gramFronts, long gramRefused, double gramFlops, double gramError)
      implements Serializable {}

  /**
   * Backend, work and memory of the factorization.
   *
   * @param nnzR stored entries of R
   * @param flopsDone flops executed, padding included
   * @param backend the backend, such as "cpu (OpenBLAS 0.3.31)"
   * @param backendReason the reason for this backend
   * @param devices names and PCI addresses of the devices; empty on CPUs
   * @param schedule the work on devices
   * @param memory the most that a task took
   * @param factorBytes where R is kept
   * @param gram fronts by their Gram matrix
   */
  public record Factorization(
      long nnzR,
      double flopsDone,
      String backend,
      String backendReason,
      List<String> devices,
      Schedule schedule,
      Memory memory,
      FactorBytes factorBytes,
      Gram gram)
      implements Serializable {

    /** Copies the devices. */
    public Factorization {
      devices = List.copyOf(devices);
    }
  }

  /**
   * The work on devices; all 0 on CPUs.
   *
   * @param stages memory stages
   * @param rounds rounds of the bucket scheduler
   * @param tasks device tasks
   * @param tuning how the work was cut: "constants" and why, or the file of a tuning; empty on CPUs
   */
  public record Schedule(long stages, long rounds, long tasks, String tuning)
      implements Serializable {}

  /**
   * The most memory that a task of the factorization took.
   *
   * @param peakDeviceBytes peak device memory
   * @param peakHostBytes peak heap for rows, fronts and contribution blocks, and for R if that is
   *     there
   * @param foretoldHostBytes the plan's prediction of {@code peakHostBytes}
   */
  public record Memory(long peakDeviceBytes, long peakHostBytes, long foretoldHostBytes)
      implements Serializable {}

  /**
   * Where R was kept at the end of the factorization, in bytes; all 0 if it was not: a single level
   * of tasks, asked for x alone, solves as it factors.
   *
   * @param device memory of devices, with what later solves need there; a copy beside the others
   * @param memory of executors, outside their heaps
   * @param file temporary files of executors, beyond their budget for that memory
   * @param blocks Spark's own blocks, for a storage level of bytes or on disk; before compression
   */
  public record FactorBytes(long device, long memory, long file, long blocks)
      implements Serializable {

    /** What a solve reports that does not keep R. */
    public static final FactorBytes NONE = new FactorBytes(0, 0, 0, 0);

    /** The sum of two tasks'. */
    public FactorBytes plus(FactorBytes other) {
      return new FactorBytes(
          device + other.device, memory + other.memory, file + other.file, blocks + other.blocks);
    }

    /** Keys and values in the order of the JSON form. */
    Map<String, Object> toMap() {
      var bytes = new LinkedHashMap<String, Object>();
      bytes.put("device", device);
      bytes.put("memory", memory);
      bytes.put("file", file);
      bytes.put("blocks", blocks);
      return bytes;
    }
  }

  /**
   * Rank detection.
   *
   * @param tolerance a column with a remaining norm (of scaled columns) of at most this counts as
   *     dependent; negative: no rank detection
   * @param toleranceReason its origin
   * @param rank numerical rank
   * @param deadColumns original indices, ascending
   * @param conditionEstimate of 1 / sigma_min of R with columns of norm 1: within a few percent
   *     from 1e5 on, below that an upper bound that may be sqrt(n) times too large; NaN (null in
   *     JSON) if it is not known
   * @param nearlyDependent columns that are nearly dependent on each other, original indices,
   *     ascending; none unless the estimate is beyond 1e7
   */
  public record RankTest(
      double tolerance,
      String toleranceReason,
      int rank,
      int[] deadColumns,
      double conditionEstimate,
      int[] nearlyDependent)
      implements Serializable {

    @Override
    public String toString() {
      return "RankTest[rank=%d, tolerance=%.3e (%s), %d dependent columns, condition %.1e]"
          .formatted(rank, tolerance, toleranceReason, deadColumns.length, conditionEstimate);
    }
  }

  /**
   * The integrity checks of the tasks.
   *
   * @param normDeparture the largest change, in any task, of a column sum that an orthogonal
   *     transformation preserves (norm^2, and a linear probe), relative to the columns' norms;
   *     always measured
   * @param redoneTasks tasks, and batches of combined rows, that were repeated because their column
   *     sums changed too much; see the warnings
   */
  public record Proof(double normDeparture, long redoneTasks) implements Serializable {}

  /**
   * Bytes moved.
   *
   * @param shuffleBytes shuffled patterns, rows and contribution blocks, before Spark's compression
   * @param h2dBytes host to device
   * @param d2hBytes device to host
   */
  public record Traffic(long shuffleBytes, long h2dBytes, long d2hBytes) implements Serializable {}

  /**
   * Residuals.
   *
   * @param residualNorm one for each right-hand side, of the x that is returned
   * @param residualSource where they are from: {@link #TAIL} or {@link #MEASURED}; empty before a
   *     solve
   * @param check of x; {@link Check#NONE} if not requested
   */
  public record Residual(double[] residualNorm, String residualSource, Check check)
      implements Serializable {

    /** The rest of Q'b, which is ||b - Ax|| to six digits unless columns are nearly dependent. */
    public static final String TAIL = "the rest of Q'b";

    /** The source of a norm that was measured. */
    public static final String MEASURED = "measured by a pass over the rows";

    /**
     * As above, where rows of an earlier R stand for those that it was made of: as exact as this R,
     * which is a few eps x_j ||a_j||.
     */
    public static final String MEASURED_WITH_R =
        "measured by a pass over the new rows and the rows of R that replace the others";

    /** Norms of a solve whose backward error is not measured. */
    public Residual(double[] residualNorm, String residualSource) {
      this(residualNorm, residualSource, Check.NONE);
    }

    /** A copy with a check. */
    public Residual withCheck(Check made) {
      return new Residual(residualNorm, residualSource, made);
    }

    @Override
    public String toString() {
      return "Residual[%s, %s, %s]".formatted(Arrays.toString(residualNorm), residualSource, check);
    }

    /** Of a report that is made before anything is solved. */
    public static Residual none() {
      return new Residual(new double[0], "");
    }

    /** {@link Check#normalResidual}, or NaN. */
    public double normalResidual() {
      return check.normalResidual;
    }
  }

  /**
   * What a check has measured.
   *
   * @param normalResidual max over the right-hand sides of ||A'(b-Ax)|| / (||A||_F ||b-Ax||)
   * @param backwardError the normwise backward error of x, for columns of norm 1
   * @param componentwiseError max over the columns of |a_j'(b-Ax)| / |a_j|'(|b| + |A| |x|)
   * @param verdict in words: whether x is as good as rounding allows
   */
  public record Check(
      double normalResidual, double backwardError, double componentwiseError, String verdict)
      implements Serializable {

    /** Nothing: no check was requested. */
    public static final Check NONE = new Check(Double.NaN, Double.NaN, Double.NaN, "");

    /** Whether there was a check. */
    public boolean made() {
      return !verdict.isEmpty();
    }
  }

  /**
   * Wall times on the driver, in seconds.
   *
   * @param read reading the input, if the caller measured it
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

    /** Keys and values in the order of the JSON form. */
    Map<String, Object> toMap() {
      var times = new LinkedHashMap<String, Object>();
      times.put("read", read);
      times.put("pattern", pattern);
      times.put("order", order);
      times.put("analyze", analyze);
      times.put("plan", plan);
      times.put("assemble", assemble);
      times.put("factorize", factorize);
      times.put("solve", solve);
      times.put("total", total);
      return times;
    }

    /** A copy with another read time, which is included in the total. */
    Seconds withRead(double other) {
      return new Seconds(
          other, pattern, order, analyze, plan, assemble, factorize, solve, total - read + other);
    }

    /** A copy with other solve and total times. */
    public Seconds withSolve(double other, double all) {
      return new Seconds(read, pattern, order, analyze, plan, assemble, factorize, other, all);
    }
  }

  /** flops / factorize seconds, in Gflop/s. */
  public double gflops() {
    return seconds.factorize > 0 ? analysis.flops / seconds.factorize / 1e9 : 0;
  }

  /** The bound over the seconds of fronts and rows, which may be combined on their way. */
  public double boundShare() {
    return MachineBound.share(analysis.boundSeconds, seconds.assemble + seconds.factorize);
  }

  /** A copy with other times, for callers that repeat a solve. */
  public SolveReport withSeconds(Seconds other) {
    return with(cluster, residual, other, warnings, notes, profile);
  }

  /** A copy with further warnings. */
  public SolveReport withWarnings(List<String> further) {
    return with(cluster, residual, seconds, joined(warnings, further), notes, profile);
  }

  /** A copy with each warning in other words. */
  public SolveReport withWarnings(UnaryOperator<String> words) {
    return with(cluster, residual, seconds, warnings.stream().map(words).toList(), notes, profile);
  }

  /** A copy with further notes. */
  public SolveReport withNotes(List<String> further) {
    return with(cluster, residual, seconds, warnings, joined(notes, further), profile);
  }

  /** A copy for another solution, with its times. */
  public SolveReport withResidual(Residual other, Seconds times) {
    return with(cluster, other, times, warnings, notes, profile);
  }

  private static List<String> joined(List<String> first, List<String> second) {
    var all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  private SolveReport with(
      Cluster where,
      Residual other,
      Seconds times,
      List<String> allWarnings,
      List<String> allNotes,
      SolveProfile made) {
    return new SolveReport(
        matrix,
        analysis,
        where,
        factorization,
        rankTest,
        proof,
        traffic,
        other,
        times,
        allWarnings,
        allNotes,
        made,
        criteria);
  }

  /** A copy with criteria. */
  public SolveReport withCriteria(QrCriteria measured) {
    return new SolveReport(
        matrix,
        analysis,
        cluster,
        factorization,
        rankTest,
        proof,
        traffic,
        residual,
        seconds,
        warnings,
        notes,
        profile,
        measured);
  }

  /** A copy with the reason for the engine. */
  public SolveReport withEngineReason(String reason) {
    return with(cluster.because(reason), residual, seconds, warnings, notes, profile);
  }

  /** A copy with the name of the matrix or table. */
  public SolveReport withInput(String name) {
    return with(cluster.of(name), residual, seconds, warnings, notes, profile);
  }

  /** A copy with a profile. */
  public SolveReport withProfile(SolveProfile made) {
    return with(cluster, residual, seconds, warnings, notes, made);
  }

  /** A copy with the time that the caller took to read the input, added to the total. */
  public SolveReport withReadSeconds(double read) {
    return withSeconds(seconds.withRead(read));
  }

  /** Keys and values in the order of the JSON form. */
  public Map<String, Object> toMap() {
    return ReportMap.of(this);
  }

  /** The JSON form, indented. */
  public String toJson() {
    return json(toMap());
  }

  /**
   * One self-contained HTML page of about a megabyte: timeline, assembly tree, fronts, A and R,
   * memory, predictions beside measurements, where {@link #profile} was asked for.
   */
  public String toHtml() {
    var data = new LinkedHashMap<String, Object>();
    data.put("report", toMap());
    data.put("profile", profile.any() ? profile : null);
    data.put("text", List.of(toText().split("\n")));
    String title = "Sparqr: %,d x %,d".formatted(matrix.rows(), matrix.columns());
    return ReportPage.of("report.html", title, "", ReportPage.inScript(data));
  }

  /** Any map as JSON, indented. */
  static String json(Map<String, Object> map) {
    try {
      return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(map);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report that is not JSON", e);
    }
  }

  /** A readable summary of about ten lines. */
  public String toText() {
    return ReportText.of(this);
  }

  @Override
  public String toString() {
    return toText();
  }

  /** Flops in a readable unit, such as "1.9 TFLOP". */
  public static String work(double flops) {
    String[] unit = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
    int u = 0;
    double f = flops;
    for (; f >= 1000 && u < unit.length - 1; u++) {
      f /= 1000;
    }
    return String.format(Locale.ROOT, f >= 100 ? "%.0f %s" : "%.1f %s", f, unit[u]);
  }
}
