/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The options of a solve by all their names: the builder's calls, the word of {@code sparqr solve},
 * the keyword of {@code sparqr.solve} in Python, and what they mean. The table of the documentation
 * is made of this one; tests compare it with the builder, the command line and the Python package,
 * so that an option which is new here or there is asked for everywhere else.
 */
public enum SolveOption {
  ORDERING(
      "ordering(m), permutation(p)",
      "--ordering",
      "ordering",
      "AUTO",
      "column order: `COLAMD`, `AMD`, `NESTED_DISSECTION`, `NATURAL`, `BEST`, or the caller's own."
          + " `AUTO` takes AMD's unless the factorization is expected to take longer than the"
          + " search for a better order; on a GPU that is soon not so. For an analysis that serves"
          + " many problems ask for `NESTED_DISSECTION` or `BEST`"),
  SINGLETONS(
      "singletons(b)",
      "",
      "",
      "true",
      "column singletons are taken out first; standard errors of many of them cost more than those of"
          + " other columns, so turn this off if you want these"),
  AMALGAMATION("amalgamation(a)", "", "", "CHOLMOD's rules", "how far fronts are merged"),
  BACKEND(
      "backend(c)",
      "--backend",
      "backend",
      "AUTO",
      "`CPU`; `REQUIRE_CUDA` never falls back; `AUTO` says in the report what it chose and why"),
  RIDGE(
      "ridge(lambda)",
      "--ridge",
      "ridge",
      "0",
      "penalty lambda ||x||^2, or `ridge(lambdas)` with one lambda a column; `residualNorm` is that"
          + " of b - Ax alone"),
  EQUILIBRATE(
      "equilibrate(b)",
      "--no-equilibrate",
      "equilibrate",
      "true",
      "columns scaled to unit 2-norm first, so that the rank does not depend on units"),
  RANK_TOLERANCE(
      "rankTolerance(t)",
      "--tolerance",
      "rank_tolerance",
      "20 (m+n) eps max ||a_j||",
      "a column whose remaining norm is at most t is dead; negative: no detection"),
  RANK_POLICY(
      "rankPolicy(p)",
      "",
      "rank_policy",
      "REPORT",
      "`FAIL`: `RankDeficientException` instead of a basic solution"),
  DROPPING(
      "dropLater(b), keep(c), drop(c)",
      "",
      "",
      "false",
      "of columns that depend on others the later ones go, as in R's lm, whatever the fill-reducing"
          + " order: decided on the null space, a back substitution for each of them; `keep` and `drop`"
          + " name columns that go last or first. Otherwise the fill-reducing order decides, at no cost"),
  ANALYSIS(
      "analysis(a)",
      "",
      "",
      "none",
      "an analysis made before (`QRFactorization.analysis()`), used where the rows have its pattern:"
          + " Gauss-Newton, reweighting"),
  REFINEMENT(
      "refinement(k)",
      "--refine",
      "refinement",
      "0",
      "steps x += (R'R)^-1 A'(b - Ax) after a solve, a pass over the rows each; repairs what rows of"
          + " very different weights lose"),
  MINIMUM_NORM(
      "minimumNorm(b)",
      "--minimum-norm",
      "minimum_norm",
      "false",
      "a rank-deficient problem, or one with fewer rows than columns, gets its solution of least"
          + " 2-norm instead of a basic one (a second factorization, of R', unless A' has full column"
          + " rank); a basic one all the same, with a warning, where the equations of that one are"
          + " too badly conditioned"),
  CHECK(
      "check(b)",
      "--check",
      "check",
      "false",
      "a further pass over the rows measures ||A'(b-Ax)|| / (||A||_F ||b-Ax||)"),
  COLUMNS("columns(n)", "", "columns", "from the rows", "n, where trailing columns are empty"),
  EXECUTORS(
      "executors(k)",
      "--executors",
      "executors",
      "the executors there are, for a problem that goes to GPUs their GPUs (local: one, or one a"
          + " device)",
      "workers that the tree is cut for"),
  MINIMUM_EXECUTORS(
      "minimumExecutors(k)",
      "--minimum-executors",
      "minimum_executors",
      "what `spark.scheduler.minRegisteredResourcesRatio` wants",
      "executors that are waited for before the tree is cut, so that a plan made while a cluster"
          + " grows has tasks for all of it; under dynamic allocation they are asked for"),
  EXECUTOR_WAIT(
      "executorWait(s)",
      "--executor-wait",
      "executor_wait",
      "`spark.scheduler.maxRegisteredResourcesWaitingTime`",
      "seconds that they are waited for at most; the tree is cut for those that are there then, and"
          + " the report warns"),
  PARTITION_OPTIONS(
      "partitionOptions(o)", "", "", "2 tasks a worker, 1 to 4 levels", "how the tree is cut"),
  PARTITIONS(
      "partitions(k)",
      "--partitions",
      "partitions",
      "those of the rows, at most 8 a core",
      "reducers of the pattern's shuffle; on the command line also partitions of the rows"),
  KEEP_Q(
      "keepQ(b)",
      "",
      "",
      "false",
      "`factorize` keeps Q as Householder vectors, so that `solve(rightHandSides)` is as accurate as"
          + " for those that came with the rows; costs memory (the report says how much) and the"
          + " map-side combine"),
  PROFILE(
      "profile(b)",
      "--report",
      "profile",
      "false",
      "notes what ran when and where, the tree and the patterns, for `SolveReport.toHtml()`: some"
          + " thousand records and a pass over the pattern on the driver; on the command line with"
          + " `--report FILE.html`"),
  STORAGE_LEVEL("storageLevel(l)", "", "", "MEMORY_AND_DISK", "where R is kept until `close()`"),
  DEVICE_MEMORY_BYTES(
      "deviceMemoryBytes(n)", "", "", "what is free", "device memory that a task may use");

  private final String calls;
  private final String word;
  private final String keyword;
  private final String byDefault;
  private final String meaning;

  SolveOption(String calls, String word, String keyword, String byDefault, String meaning) {
    this.calls = calls;
    this.word = word;
    this.keyword = keyword;
    this.byDefault = byDefault;
    this.meaning = meaning;
  }

  /** Names of the builder's methods that set it. */
  public List<String> calls() {
    return Arrays.stream(calls.split(", ")).map(c -> c.substring(0, c.indexOf('('))).toList();
  }

  /** The word of {@code sparqr solve}, where it has one. */
  public Optional<String> word() {
    return word.isEmpty() ? Optional.empty() : Optional.of(word);
  }

  /** The keyword of {@code sparqr.solve} in Python, where it has one. */
  public Optional<String> keyword() {
    return keyword.isEmpty() ? Optional.empty() : Optional.of(keyword);
  }

  /** The table of the documentation, in Markdown, without a last line feed. */
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
        .formatted(methods, code(word), code(keyword), escaped(value), escaped(meaning));
  }

  private static String code(String name) {
    return name.isEmpty() ? "" : "`" + name + "`";
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }
}
