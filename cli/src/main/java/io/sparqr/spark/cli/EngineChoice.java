/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.UsageException;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The engine that runs the tasks of a solve. */
enum EngineChoice {
  /** This JVM if the problem is small and no option requires Spark. */
  AUTO,
  /** This JVM without Spark; an error if that is impossible. */
  LOCAL,
  /** Spark, whatever the size. */
  SPARK;

  /**
   * A problem is small up to this many nonzeros: it takes less time to read its rows and send them
   * to their tasks than to start Spark (benchmarks/history/2026-11-23-warmup.txt has the times). In
   * a single JVM a larger one does not gain from Spark either, but its start no longer matters.
   */
  static final int MOST_NONZEROS = 2_000_000;

  /**
   * The engine, and the reason.
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
   * Chooses the engine.
   *
   * @param obstacle the requested option that requires Spark, if any
   * @param problem unless this JVM does not read it, because of the obstacle
   * @throws UsageException if Spark is excluded but required
   */
  Chosen choose(Optional<String> obstacle, @Nullable LocalProblem problem) {
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
    int nonzeros = Objects.requireNonNull(problem).a().nonzeros();
    return nonzeros > MOST_NONZEROS
        ? new Chosen(true, text("%,d nonzeros, more than %,d", nonzeros, MOST_NONZEROS))
        : new Chosen(false, text("%,d nonzeros, at most %,d: no Spark", nonzeros, MOST_NONZEROS));
  }

  /**
   * Solves on the chosen engine; a problem too large for the memory of this JVM moves to Spark,
   * unless Spark is excluded.
   *
   * @param told receives the choice, and a change of it
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
      told.accept(new Chosen(true, String.valueOf(e.getMessage())));
    }
    return onSpark.get();
  }

  /** A setting of Spark, from spark-submit or from the options of this JVM. */
  private static Optional<String> setting() {
    return new TreeSet<>(System.getProperties().stringPropertyNames())
        .stream().filter(name -> name.startsWith("spark.")).findFirst();
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
