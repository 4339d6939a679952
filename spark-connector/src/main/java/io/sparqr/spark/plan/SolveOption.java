/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The options of a solve under all their names: the builder's methods, the option of {@code sparqr
 * solve}, the keyword of {@code sparqr.solve} in Python, and their meanings. All names are spelled
 * from that of the builder's method. The table in the documentation is generated from this one.
 * Tests compare it with the builder, the command line and the Python package, so that an option
 * added in one of them must be added to the others.
 */
public enum SolveOption {
  ORDERING(
      "ordering(m), permutation(p)",
      Way.EVERYWHERE,
      "AUTO",
      "column order: `COLAMD`, `AMD`, `NESTED_DISSECTION`, `NATURAL`, `BEST`, or"
          + " your own. `AUTO` uses AMD, unless a search for a better order probably takes"
          + " less time than it saves; on a GPU it rarely does. For an analysis that"
          + " serves many problems choose `NESTED_DISSECTION` or `BEST`"),
  SINGLETONS(
      "singletons(b)",
      Way.BUILDER,
      "true",
      "column singletons are removed before the factorization. Their standard"
          + " errors cost more than those of other columns, so turn this off if there are"
          + " many and you need errors"),
  AMALGAMATION("amalgamation(a)", Way.BUILDER, "CHOLMOD's rules", "rules for merging small fronts"),
  BACKEND(
      "backend(c)",
      Way.EVERYWHERE,
      "AUTO",
      "`CPU`; `REQUIRE_CUDA`, which never falls back; `AUTO`, whose choice and"
          + " reason are in the report"),
  RIDGE(
      "ridge(lambda)",
      Way.EVERYWHERE,
      "0",
      "penalty lambda ||x||^2, or `ridge(lambdas)` with one lambda a column; `residualNorm` is that"
          + " of b - Ax alone"),
  EQUILIBRATE(
      "equilibrate(b)",
      Way.EVERYWHERE,
      "--no-equilibrate",
      "true",
      "scales columns to unit 2-norm first, so that the rank does not depend on" + " units"),
  RANK_TOLERANCE(
      "rankTolerance(t)",
      Way.EVERYWHERE,
      "20 (m+n) eps max ||a_j||",
      "a column whose remaining norm is at most t counts as dependent; negative: no detection"),
  RANK_POLICY(
      "rankPolicy(p)",
      Way.PYTHON,
      "REPORT",
      "`FAIL`: `RankDeficientException` instead of a basic solution"),
  DROPPING(
      "dropLater(b), keep(c), drop(c), keepFrom(c)",
      Way.BUILDER,
      "false",
      "of dependent columns the later ones are dropped, as in R's lm, at the cost"
          + " of one back substitution for each; `keep` and `drop` name columns to drop"
          + " last or first, `keepFrom` the column from which on all are kept. A warning says where rounding errors forbid that"
          + " ([decision](../adr/0021-dependent-columns.md)). Otherwise the fill-reducing order"
          + " decides, at no cost"),
  ANALYSIS(
      "analysis(a)",
      Way.BUILDER,
      "none",
      "an earlier analysis (`QRFactorization.analysis()`), used if the rows have"
          + " its pattern: Gauss-Newton, reweighting"),
  REFINEMENT(
      "refinement(k)",
      Way.EVERYWHERE,
      "0",
      "steps x += (R'R)^-1 A'(b - Ax) after a solve, each with a pass over the"
          + " rows; restores digits lost by rows of very different weights"),
  MINIMUM_NORM(
      "minimumNorm(b)",
      Way.EVERYWHERE,
      "false",
      "the solution of least 2-norm, instead of a basic one, for problems that are"
          + " rank-deficient or have fewer rows than columns. It takes a second"
          + " factorization, of R', unless A' has full column rank. If that system is too"
          + " badly conditioned, the solution is basic, with a warning"),
  CHECK(
      "check(b)",
      Way.EVERYWHERE,
      "false",
      "measures the backward error of x by two more passes over the rows: is x as good as rounding"
          + " allows, or no solution?"),
  MIN_RCOND(
      "minRcond(r)",
      Way.EVERYWHERE,
      "0",
      "an error (`IllConditionedException`) if the reciprocal of the condition estimate is below r,"
          + " in place of a warning from 1e7 on; 1e-7 is what R's `lm` takes for dependent"),
  COLUMNS(
      "columns(n)",
      Way.PYTHON,
      "from the rows",
      "number of columns, if trailing columns are empty"),
  EXECUTORS(
      "executors(k)",
      Way.EVERYWHERE,
      "as many as pay of the executors present, or of their GPUs if the problem goes to GPUs"
          + " (local: one, or of the devices)",
      "number of workers to cut the tree for"),
  MINIMUM_EXECUTORS(
      "minimumExecutors(k)",
      Way.EVERYWHERE,
      "by `spark.scheduler.minRegisteredResourcesRatio`",
      "number of executors to wait for before the tree is cut, so that the plan of"
          + " a growing cluster has tasks for all of it; under dynamic allocation they are"
          + " also requested"),
  EXECUTOR_WAIT(
      "executorWait(s)",
      Way.EVERYWHERE,
      "`spark.scheduler.maxRegisteredResourcesWaitingTime`",
      "longest wait for them, in seconds; after that the tree is cut for the"
          + " executors present, and the report warns"),
  PARTITION_OPTIONS(
      "partitionOptions(o)",
      Way.BUILDER,
      "2 tasks a worker, 1 to 4 levels",
      "rules for cutting the tree"),
  PARTITIONS(
      "partitions(k)",
      Way.EVERYWHERE,
      "those of the rows, at most 8 a core",
      "reducers of the pattern's shuffle; on the command line also partitions of the rows"),
  KEEP_Q(
      "keepQ(b)",
      Way.BUILDER,
      "false",
      "`factorize` keeps Q as Householder vectors, so that `solve(rightHandSides)`"
          + " is as accurate as for the original ones. It costs memory (see the report)"
          + " and excludes the map-side combine"),
  PROFILE(
      "profile(b)",
      Way.EVERYWHERE,
      "--report",
      "false",
      "records time and place of every task, the tree and the patterns, for"
          + " `SolveReport.toHtml()`: some thousand records and a pass over the pattern on"
          + " the driver. On the command line: `--report FILE.html`"),
  STORAGE_LEVEL(
      "storageLevel(l)", Way.BUILDER, "MEMORY_AND_DISK", "storage level of R until `close()`"),
  DEVICE_MEMORY_BYTES(
      "deviceMemoryBytes(n)",
      Way.BUILDER,
      "all free memory",
      "device memory for one task, in bytes");

  /** Where an option can be given, besides the builder. */
  private enum Way {
    BUILDER,
    PYTHON,
    EVERYWHERE
  }

  private final String calls;
  private final Way way;
  private final String word;
  private final String byDefault;
  private final String meaning;

  SolveOption(String calls, Way way, String byDefault, String meaning) {
    this(calls, way, "", byDefault, meaning);
  }

  /**
   * An option with a word of its own.
   *
   * @param word empty: the name of the builder's first method, as all other names are
   */
  SolveOption(String calls, Way way, String word, String byDefault, String meaning) {
    this.calls = calls;
    this.way = way;
    this.word = word;
    this.byDefault = byDefault;
    this.meaning = meaning;
  }

  /** The name of the builder's first method, its words apart. */
  private String name(String between) {
    return calls().get(0).replaceAll("(?=[A-Z])", between).toLowerCase(Locale.ROOT);
  }

  /** Names of the builder's methods that set it. */
  public List<String> calls() {
    return Arrays.stream(calls.split(", ")).map(c -> c.substring(0, c.indexOf('('))).toList();
  }

  /** The option of {@code sparqr solve}, if it has one. */
  public Optional<String> word() {
    if (way != Way.EVERYWHERE) {
      return Optional.empty();
    }
    return Optional.of(word.isEmpty() ? "--" + name("-") : word);
  }

  /** The keyword of {@code sparqr.solve} in Python, if it has one. */
  public Optional<String> keyword() {
    return way == Way.BUILDER ? Optional.empty() : Optional.of(name("_"));
  }

  /** The table for the documentation, in Markdown, without a trailing line feed. */
  public static String table() {
    String head =
        "| builder | `sparqr solve` | Python | default | meaning |\n|---|---|---|---|---|\n";
    return head + Arrays.stream(values()).map(SolveOption::row).collect(Collectors.joining("\n"));
  }

  private String row() {
    String methods =
        Arrays.stream(calls.split(", ")).map(SolveOption::code).collect(Collectors.joining(", "));
    String value = byDefault.matches("[A-Z_]+") ? code(byDefault) : byDefault;
    return "| %s | %s | %s | %s | %s |"
        .formatted(
            methods,
            code(word().orElse("")),
            code(keyword().orElse("")),
            escaped(value),
            escaped(meaning));
  }

  private static String code(String name) {
    return name.isEmpty() ? "" : "`" + name + "`";
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }
}
