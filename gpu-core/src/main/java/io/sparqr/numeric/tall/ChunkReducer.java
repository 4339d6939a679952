/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.Tuning;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reduces a triangle and dense rows below it to a triangle, as one front of a backend. All chunks
 * have one structure, so a device gets 8 bytes for each entry from the second one on, whoever's
 * they are. Thread-safe: chunks take turns.
 */
public final class ChunkReducer implements AutoCloseable {

  private final Supplier<? extends SubtreeFactorizer> open;
  private final int columns;
  private final int rows;
  private final FactorOptions options;
  private @Nullable SubtreeFactorizer factorizer;
  private @Nullable Structure structure;

  /** Where values of a chunk stand. */
  private record Structure(SymbolicAnalysis analysis, int[] front, int[] start, int[] position) {}

  /**
   * Opens nothing before the first chunk.
   *
   * @param open makes the factorizer, which is closed with this
   * @param columns n, at least 1
   * @param rows of a chunk below the triangle, at least 1
   * @param threads of the host for a chunk
   * @throws IndexOverflowException if a chunk and the triangle do not fit into an array
   */
  public ChunkReducer(
      Supplier<? extends SubtreeFactorizer> open, int columns, int rows, int threads) {
    this(open, columns, rows, threads, Tuning.constants());
  }

  /**
   * As above.
   *
   * @param tuning how a device cuts a chunk
   */
  public ChunkReducer(
      Supplier<? extends SubtreeFactorizer> open,
      int columns,
      int rows,
      int threads,
      Tuning tuning) {
    if (values(columns, rows) > Integer.MAX_VALUE - 8L) {
      throw new IndexOverflowException(
          "%d rows of %d columns below a triangle do not fit into an array"
              .formatted(rows, columns),
          "values of a chunk",
          values(columns, rows));
    }
    this.open = open;
    this.columns = columns;
    this.rows = rows;
    options = new FactorOptions(-1, threads, 0).ofUnitColumns(true).tunedBy(tuning);
  }

  private static long values(long columns, long rows) {
    return columns * (columns + 1) / 2 + rows * columns;
  }

  /** Rows of a chunk of some doubles: at least as many as columns. */
  public static int chunkRows(int columns, int doubles) {
    return Math.max(columns, doubles / columns);
  }

  int columns() {
    return columns;
  }

  int rows() {
    return rows;
  }

  int threads() {
    return options.threads();
  }

  /** Values of the triangle, packed by rows; the other rows follow, one after the other. */
  int triangle() {
    return (int) values(columns, 0);
  }

  int values() {
    return (int) values(columns, rows);
  }

  /**
   * Replaces the triangle by R of it and of the rows.
   *
   * @param value of the triangle, then of the rows; columns of norms of about 1 at most
   */
  synchronized void reduce(double[] value) {
    SubtreeFactorizer backend = factorizer;
    Structure s = structure;
    if (backend == null || s == null) {
      backend = open.get();
      factorizer = backend;
      s = structure();
      structure = s;
    }
    var block = new RowBlock(s.front, s.start, s.position, value, new double[0], 0);
    var problem = new SubtreeProblem(s.analysis, new int[] {0}, block, List.of());
    FrontFactor r = backend.factor(problem, options).fronts().get(0);
    // Without rank detection every row of R is there, packed as the triangle is.
    r.values().get(0, value, 0, triangle());
  }

  private Structure structure() {
    int[] start = new int[columns + rows + 1];
    int[] position = new int[values()];
    int at = 0;
    for (int i = 0; i < columns + rows; i++) {
      for (int k = i < columns ? i : 0; k < columns; k++) {
        position[at++] = k;
      }
      start[i + 1] = at;
    }
    // Rows of one pattern, all full: one front of all columns.
    int[] full = IntStream.range(0, columns).toArray();
    var pattern =
        new SparsityPattern(
            columns, new long[] {0, columns}, full, new long[] {(long) columns + rows});
    var symbolic =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withSingletons(false)
            .withRhs(0);
    return new Structure(
        SymbolicAnalyzer.analyze(pattern, symbolic), new int[columns + rows], start, position);
  }

  /** Closes the factorizer, if there is one. */
  @Override
  public synchronized void close() {
    if (factorizer != null) {
      factorizer.close();
      factorizer = null;
    }
  }
}
