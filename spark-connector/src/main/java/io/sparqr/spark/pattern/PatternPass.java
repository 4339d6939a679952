/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import static java.util.Objects.requireNonNull;

import io.sparqr.configuration.Keys;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.parts.Found;
import io.sparqr.spark.parts.Gathered;
import io.sparqr.spark.parts.Gathering;
import io.sparqr.spark.pattern.RowTables.ByHash;
import io.sparqr.spark.pattern.RowTables.Sizes;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.sparse.SparsityPattern.FingerprintSum;
import io.sparqr.symbolic.RowGraph;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first pass over the rows: checks them, finds the distinct row patterns and the column norms,
 * or without the patterns ({@link #figures}) only the fingerprint of their pattern and the norms.
 * Each partition finds its distinct patterns; the driver merges them with all its threads. Where
 * they go by a shuffle, equal patterns of different partitions meet before. Errors are returned as
 * data; the driver throws that of the lowest partition.
 */
public final class PatternPass {

  private static final long EAGER_BYTES = 4 << 20;
  private static final long BATCH_BYTES = 32 << 20;

  /**
   * Maximum number of reducers per core. Each gets about as much as one partition of the rows
   * holds, so that more rows in more partitions take no more memory.
   */
  private static final int REDUCERS_A_CORE = 8;

  /** Part of the heap that tables on their way to the driver may take as they are: 1 / share. */
  private static final int SHARE = 8;

  /** Of all partitions together, which are merged in arrays of that length. */
  private static final int MOST_PATTERNS = Integer.MAX_VALUE - 8;

  private static final long QUARTER = 4;

  /** Of an edge of the graph of A'A, on the driver. */
  private static final double EDGE_BYTES = 24;

  /** Least bytes of a pattern in a table. */
  private static final long LEAST_BYTES = 20;

  private final RowSource source;
  private final SolveOptions options;
  private final Engine engine;
  private final Gathering.Limits limits;

  /**
   * The result of the pass.
   *
   * @param norm size n; 2-norms of the columns of sqrt(W) A, without the ridge
   * @param rows number of rows of positive weight
   * @param nonzeros their number of nonzeros
   * @param shuffleBytes bytes of all frames
   * @param readings fingerprints that every later reading must match
   */
  public record Result(
      RowPatterns patterns,
      double[] norm,
      long rows,
      long nonzeros,
      RightHandSides rhs,
      long shuffleBytes,
      Readings readings) {

    /** n. */
    public int columns() {
      return norm.length;
    }

    /** A copy without pattern and graph. */
    public Result analyzed() {
      return new Result(patterns.analyzed(), norm, rows, nonzeros, rhs, shuffleBytes, readings);
    }
  }

  /** A pass with the default limits. */
  public PatternPass(RowSource source, SolveOptions options) {
    this(
        source,
        options,
        Math.min(
            LEAST_BYTES * MOST_PATTERNS,
            Math.min(bound(source.engine()), Runtime.getRuntime().maxMemory() / SHARE)),
        EAGER_BYTES,
        BATCH_BYTES);
  }

  PatternPass(
      RowSource source, SolveOptions options, long tableBytes, long eagerBytes, long batchBytes) {
    this.source = source;
    this.options = options;
    this.engine = source.engine();
    int input = source.partitions();
    int reducers =
        options
            .input()
            .partitions()
            .orElse(Math.max(1, Math.min(REDUCERS_A_CORE * engine.parallelism(), input)));
    this.limits = new Gathering.Limits(tableBytes, reducers, eagerBytes, batchBytes);
  }

  /**
   * This pass for rows whose analysis may be known: patterns are neither distinguished nor sent,
   * only their fingerprint is summed. The norms have the bits of {@link #run}'s.
   *
   * @param left where to leave the rows for the shuffle to their tasks, if they are left
   */
  public Result figures(@Nullable HeldRows left) {
    Gathered<PartitionStats, RowTables> found = read(false, left, () -> {});
    PartitionStats sum = sum(found.figures());
    require(null, sum, Sizes.NONE, found.payload());
    double[] norm = norm(found.tables(), sum);
    var patterns = RowPatterns.notDistinguished(print(found.figures(), norm.length));
    return result(patterns, found, sum, norm);
  }

  /** The fingerprint of the pattern of n columns. */
  private SparsityPattern.Fingerprint print(List<PartitionStats> stats, int n) {
    var print = new FingerprintSum();
    stats.forEach(s -> print.add(requireNonNull(s.print())));
    if (ridge()) {
      print.addColumns(n);
    }
    return print.of(n);
  }

  /** Runs the pass; throws the error of an invalid row. */
  public Result run() {
    return run(null);
  }

  /**
   * As above, leaving the rows for the step that sends them to their tasks, if patterns need no
   * shuffle and there is room.
   *
   * @param left where, if anywhere
   */
  public Result run(@Nullable HeldRows left) {
    Gathered<PartitionStats, RowTables> found =
        read(true, left, left == null ? () -> {} : left::close);
    PartitionStats sum = sum(found.figures());
    int n = sum.requireColumns();
    requireVectors(n, sum.rhs().count());
    List<Sizes> known = found.counts(Sizes.class);
    Sizes sizes = known.stream().reduce(Sizes.NONE, Sizes::plus);
    if (tooMany(sizes, n, bound(engine))) {
      // First, for the patterns that came along with the counts go with it.
      double[] norm = norm(found.tables(new ByHash(false)), sum);
      var pass = new GraphPass(engine, found.sent(), n, ridge(), sum.sum());
      RowGraph graph = pass.run(sum.fingerprint().rows(), sum.fingerprint().nonzeros());
      return result(RowPatterns.tooMany(sizes.patterns(), graph), found, sum, norm);
    }
    // Before anything of the size of n is made.
    require(null, sum, sizes, found.payload());
    List<RowTables> tables = found.tables();
    var patterns = new ArrayList<DistinctPatterns>();
    tables.forEach(t -> patterns.addAll(t.patterns()));
    double[] norm = norm(tables, sum);
    var order = new PatternOrder(patterns, n, ridge(), threads());
    if (known.isEmpty()) {
      sizes = new Sizes(order.patterns(), order.entries(), order.squares());
      require(left, sum, sizes, 0);
    }
    var merged = order.merged();
    requireOneReading(sum.fingerprint(), sum.sum(), merged.sum());
    var distinct = RowPatterns.distinct(sizes.patterns(), merged.pattern());
    return result(distinct, found, sum, norm);
  }

  /**
   * Reads the rows.
   *
   * @param told whether to tell patterns apart
   * @param left where tasks leave the rows, if they do
   * @param shuffled run if tables go by a shuffle
   */
  private Gathered<PartitionStats, RowTables> read(
      boolean told, @Nullable HeldRows left, Runnable shuffled) {
    int declared = options.input().columns().orElse(-1);
    var how =
        new Gathering<>(
            "pattern and column norms",
            told ? "distinct row patterns" : "column norms",
            PartitionStats.class,
            new ByHash(told),
            limits,
            shuffled);
    return how.of(
        source.parts(),
        (p, rows) -> {
          var scan = new PartitionScan(p, declared, told, left);
          PartitionStats stats = scan.run(rows);
          return new Found<>(stats, scan.tables());
        });
  }

  /** The norms of the columns; no table is needed any more. */
  private static double[] norm(List<RowTables> tables, PartitionStats sum) {
    double[] norm = new double[sum.requireColumns()];
    List<ColumnChunks> norms = tables.stream().map(RowTables::norms).toList();
    tables.clear();
    ColumnChunks.merge(norms, ChunkedColumnNorms::joined, norm, threads());
    return norm;
  }

  private static int threads() {
    return Runtime.getRuntime().availableProcessors();
  }

  private PartitionStats sum(List<PartitionStats> stats) {
    return PartitionStats.sum(stats, options.input().columns().orElse(-1));
  }

  private boolean ridge() {
    return options.problem().ridge().any();
  }

  /**
   * Checks that arrays and the driver's memory suffice.
   *
   * @param left rows to be dropped if there is no room for them as well
   * @param frames bytes
   */
  private void require(@Nullable HeldRows left, PartitionStats sum, Sizes sizes, long frames) {
    int n = sum.requireColumns();
    requireVectors(n, sum.rhs().count());
    long further = ridge() && sizes.patterns() > 0 ? n : 0;
    long patterns = sizes.patterns() + further;
    long entries = sizes.entries() + further;
    PatternOrder.requireIndexable(patterns, entries);
    DriverMemory.require(
        engine,
        new DriverMemory.Sizes(n, patterns, entries, sizes.squares(), frames),
        left == null ? () -> {} : left::close);
  }

  private static Result result(
      RowPatterns patterns, Gathered<PartitionStats, ?> found, PartitionStats sum, double[] norm) {
    return new Result(
        patterns,
        norm,
        sum.fingerprint().rows(),
        sum.fingerprint().nonzeros(),
        sum.rhs(),
        found.shuffleBytes(),
        new Readings(found.figures().stream().map(PartitionStats::fingerprint).toList()));
  }

  /**
   * Rejects solutions too large for arrays before any work on them.
   *
   * @throws IndexOverflowException naming the limit
   */
  static void requireVectors(int columns, int rhsCount) {
    long length = (long) columns * rhsCount;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "%,d right-hand sides of %,d columns: columns times right-hand sides are limited to 2^31"
              .formatted(rhsCount, columns),
          "solution",
          length);
    }
  }

  /**
   * Whether the graph of A'A is to take the place of the distinct rows: they are more than the
   * bound, or at least a quarter of it (they take three times as much while they are merged) where
   * there are so few columns that even a full graph is small beside them, as with many cells of few
   * factors.
   */
  static boolean tooMany(Sizes sizes, int columns, long bound) {
    long bytes = 16 * sizes.patterns() + 4 * sizes.entries();
    double graph = EDGE_BYTES * columns * (columns + 1.0) / 2;
    return bytes > bound || bytes > bound / QUARTER && 2 * graph < bytes;
  }

  /** Bytes of distinct rows beyond which the graph of A'A replaces them. */
  private static long bound(Engine engine) {
    return Keys.ROW_PATTERNS
        .find(engine::setting)
        .orElseGet(() -> Runtime.getRuntime().maxMemory() / 4);
  }

  /**
   * If the map stage was run again for lost outputs, some patterns may come from a reading that
   * differs from the one checked.
   */
  static void requireOneReading(Fingerprint all, long expected, long found) {
    if (found != expected) {
      throw Readings.mixed(all.rows(), all.nonzeros());
    }
  }
}
