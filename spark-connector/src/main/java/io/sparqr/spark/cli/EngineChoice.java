/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.InsufficientMemoryException;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Where the tasks of a solve run. */
enum EngineChoice {
  /** In this JVM where the problem is small and nothing that was asked for takes Spark. */
  AUTO,
  /** In this JVM, without Spark, or it is an error. */
  LOCAL,
  /** On Spark, whatever the size. */
  SPARK;

  /**
   * Up to so many nonzeros a problem is small: its rows are read, and sent to their tasks, in less
   * time than Spark takes to start (benchmarks/history/2026-11-23-warmup.txt has the times). A
   * larger one gains nothing from Spark in one JVM either, but does not notice its start.
   */
  static final int MOST_NONZEROS = 2_000_000;

  /**
   * Where, and why.
   *
   * @param spark whether on Spark
   * @param reason for the report
   */
  record Chosen(boolean spark, String reason) {}

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Decides.
   *
   * @param obstacle what was asked for that takes Spark, if anything
   * @param problem null: it is not this JVM that reads it
   * @throws UsageException if Spark is not wanted, and needed
   */
  Chosen choose(Optional<String> obstacle, LocalProblem problem) {
    if (this == SPARK) {
      return new Chosen(true, "asked for");
    }
    if (this == LOCAL) {
      obstacle.ifPresent(
          what -> {
            throw new UsageException("--engine local: " + what);
          });
      return new Chosen(false, "asked for");
    }
    if (obstacle.isPresent()) {
      return new Chosen(true, obstacle.get());
    }
    Optional<String> setting = setting();
    if (setting.isPresent()) {
      return new Chosen(true, setting.get() + " is set");
    }
    int nonzeros = problem.a().nonzeros();
    return nonzeros > MOST_NONZEROS
        ? new Chosen(true, text("%,d nonzeros, more than %,d", nonzeros, MOST_NONZEROS))
        : new Chosen(false, text("%,d nonzeros, at most %,d: no Spark", nonzeros, MOST_NONZEROS));
  }

  /**
   * Solves where that was chosen; what this JVM alone has no memory for goes to Spark, unless that
   * is not wanted.
   *
   * @param told hears of the choice, and of another one
   */
  <T> T solve(Chosen chosen, Supplier<T> here, Supplier<T> onSpark, Consumer<Chosen> told) {
    told.accept(chosen);
    if (chosen.spark()) {
      return onSpark.get();
    }
    try {
      return here.get();
    } catch (InsufficientMemoryException e) {
      if (this == LOCAL) {
        throw e;
      }
      told.accept(new Chosen(true, e.getMessage()));
    }
    return onSpark.get();
  }

  /** A setting of Spark's: spark-submit's, or one that the JVM was given. */
  private static Optional<String> setting() {
    return new TreeSet<>(System.getProperties().stringPropertyNames())
        .stream().filter(name -> name.startsWith("spark.")).findFirst();
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
