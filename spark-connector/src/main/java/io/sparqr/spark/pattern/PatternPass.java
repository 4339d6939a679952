/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.configuration.Keys;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.pattern.HandedPass.Handed;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.sparse.SparsityPattern.FingerprintSum;
import io.sparqr.symbolic.RowGraph;
import java.util.List;
import java.util.Optional;

/**
 * The first pass over the rows: checks them, finds the distinct row patterns and the column norms,
 * or without the patterns ({@link #figures}) only the fingerprint of their pattern and the norms.
 * Within one JVM the tasks hand their tables to the driver ({@link HandedPass}); otherwise, or if
 * they hold too much, patterns meet in a shuffle ({@link ShuffledPass}). The result is the same.
 * Errors are returned as data; the driver throws that of the lowest partition.
 */
public final class PatternPass {

  private static final long EAGER_BYTES = 4 << 20;
  private static final long BATCH_BYTES = 32 << 20;

  /**
   * Maximum number of reducers per core. Each gets about as much as one partition of the rows
   * holds, so that more rows in more partitions take no more memory.
   */
  private static final int REDUCERS_A_CORE = 8;

  /** Part of the heap that tables on their way to the driver may take: 1 / share. */
  private static final int SHARE = 8;

  private final RowSource source;
  private final SolveOptions options;
  private final Engine engine;
  private final ShuffledPass.Limits limits;

  /** Bytes of the tables handed over within this JVM; 0: always by a shuffle. */
  private final long handedBytes;

  /**
   * The result of the pass.
   *
   * @param columns n
   * @param patterns number of distinct row patterns; -1 if they were not distinguished
   * @param pattern with the ridge's rows, if any; empty if there are too many distinct rows for the
   *     driver, if they were not distinguished, or once it is no longer needed
   * @param graph of A'A, if there are too many distinct rows; the ridge's rows included
   * @param norm size n; 2-norms of the columns of sqrt(W) A, without the ridge
   * @param rows number of rows of positive weight
   * @param nonzeros their number of nonzeros
   * @param rhsCount right-hand sides
   * @param rhsMax largest absolute value of each right-hand side
   * @param shuffleBytes bytes of all frames
   * @param readings fingerprints that every later reading must match
   * @param print the pattern's fingerprint, the ridge's rows included, if the patterns were not
   *     distinguished
   */
  public record Result(
      int columns,
      long patterns,
      Optional<SparsityPattern> pattern,
      Optional<RowGraph> graph,
      double[] norm,
      long rows,
      long nonzeros,
      int rhsCount,
      double[] rhsMax,
      long shuffleBytes,
      Readings readings,
      Optional<SparsityPattern.Fingerprint> print) {

    /** A copy without pattern and graph. */
    public Result analyzed() {
      return with(patterns, Optional.empty(), Optional.empty(), print);
    }

    private Result with(
        long count,
        Optional<SparsityPattern> whole,
        Optional<RowGraph> ofRows,
        Optional<SparsityPattern.Fingerprint> summed) {
      return new Result(
          columns,
          count,
          whole,
          ofRows,
          norm,
          rows,
          nonzeros,
          rhsCount,
          rhsMax,
          shuffleBytes,
          readings,
          summed);
    }
  }

  /** A pass with the default limits. */
  public PatternPass(RowSource source, SolveOptions options) {
    this(
        source,
        options,
        source.engine().sharesObjects()
            ? Math.min(bound(source.engine()), Runtime.getRuntime().maxMemory() / SHARE)
            : 0,
        EAGER_BYTES,
        BATCH_BYTES);
  }

  PatternPass(
      RowSource source, SolveOptions options, long handedBytes, long eagerBytes, long batchBytes) {
    this.source = source;
    this.options = options;
    this.engine = source.engine();
    this.handedBytes = handedBytes;
    int input = source.partitions();
    int reducers =
        options.input().partitions() > 0
            ? options.input().partitions()
            : Math.max(1, Math.min(REDUCERS_A_CORE * engine.parallelism(), input));
    this.limits = new ShuffledPass.Limits(reducers, eagerBytes, batchBytes);
  }

  /**
   * This pass for rows whose analysis may be known: patterns are neither distinguished nor sent,
   * only their fingerprint is summed. The norms have the bits of {@link #run}'s.
   */
  public Result figures() {
    return figures(null);
  }

  /**
   * As above, leaving the rows for the shuffle to their tasks.
   *
   * @param left where; null: nowhere
   */
  public Result figures(HeldRows left) {
    Optional<Handed> handed = handed(false, left);
    if (handed.isPresent()) {
      List<PartitionStats> stats = handed.get().stats();
      PartitionStats sum = sum(stats);
      require(sum, 0, 0, 0, 0);
      return withPrint(stats, result(stats, sum, norm(handed.get(), sum), 0));
    }
    var shuffled = new ShuffledPass(source, options.input().columns(), false, limits, left);
    PartitionStats sum = sum(shuffled.stats());
    require(sum, 0, 0, 0, shuffled.payload());
    double[] norm = new double[sum.requireColumns()];
    shuffled.fetch(norm, false);
    return withPrint(shuffled.stats(), result(shuffled.stats(), sum, norm, shuffled.bytes()));
  }

  private Result withPrint(List<PartitionStats> stats, Result result) {
    var print = new FingerprintSum();
    stats.forEach(s -> print.add(s.print()));
    if (ridge()) {
      print.addColumns(result.columns());
    }
    return result.with(
        -1, Optional.empty(), Optional.empty(), Optional.of(print.of(result.columns())));
  }

  /** Runs the pass; throws the error of an invalid row. */
  public Result run() {
    return run(null);
  }

  /**
   * As above, leaving the rows for the step that sends them to their tasks, if patterns need no
   * shuffle and there is room.
   *
   * @param left where; null: nowhere
   */
  public Result run(HeldRows left) {
    Optional<Handed> handed = handed(true, left);
    if (handed.isPresent()) {
      return merged(handed.get(), left);
    }
    if (left != null) {
      left.close();
    }
    return shuffled();
  }

  private Optional<Handed> handed(boolean told, HeldRows left) {
    return handedBytes == 0
        ? Optional.empty()
        : HandedPass.run(source, options.input().columns(), told, handedBytes, left);
  }

  private Result merged(Handed handed, HeldRows left) {
    PartitionStats sum = sum(handed.stats());
    // Before anything of the size of n is made.
    require(sum, 0, 0, 0, 0);
    int n = sum.requireColumns();
    var order = new PatternOrder(handed.patterns(), n, ridge(), threads());
    requireWithout(left, sum, order.patterns(), order.entries(), order.squares(), 0);
    long patterns = order.patterns();
    var merged = order.merged();
    requireOneReading(sum.fingerprint(), sum.sum(), merged.sum());
    return result(handed.stats(), sum, norm(handed, sum), 0)
        .with(patterns, Optional.of(merged.pattern()), Optional.empty(), Optional.empty());
  }

  private static double[] norm(Handed handed, PartitionStats sum) {
    double[] norm = new double[sum.requireColumns()];
    ColumnChunks.merge(handed.norms(), ChunkedColumnNorms::joined, norm, threads());
    return norm;
  }

  private static int threads() {
    return Runtime.getRuntime().availableProcessors();
  }

  private Result shuffled() {
    var shuffled = new ShuffledPass(source, options.input().columns(), true, limits, null);
    PartitionStats sum = sum(shuffled.stats());
    int n = sum.requireColumns();
    requireVectors(n, sum.rhsCount());
    long patterns = shuffled.patterns();
    boolean graph = 16 * patterns + 4 * shuffled.entries() > bound(engine);
    Optional<RowGraph> ofRows = Optional.empty();
    if (graph) {
      var pass = new GraphPass(engine.context(), shuffled.rdd(), n, ridge(), sum.sum());
      ofRows = Optional.of(pass.run(sum.fingerprint().rows(), sum.entries()));
    } else {
      require(sum, patterns, shuffled.entries(), shuffled.squares(), shuffled.payload());
    }
    var norm = new double[n];
    List<byte[]> frames = shuffled.fetch(norm, !graph);
    Optional<SparsityPattern> pattern = Optional.empty();
    if (!graph) {
      var order =
          new PatternOrder(DistinctPatterns.decoded(frames, threads()), n, ridge(), threads());
      var merged = order.merged();
      requireOneReading(sum.fingerprint(), sum.sum(), merged.sum());
      pattern = Optional.of(merged.pattern());
    }
    return result(shuffled.stats(), sum, norm, shuffled.bytes())
        .with(patterns, pattern, ofRows, Optional.empty());
  }

  private PartitionStats sum(List<PartitionStats> stats) {
    return PartitionStats.sum(stats, options.input().columns());
  }

  private boolean ridge() {
    return options.problem().ridge().any();
  }

  /** Checks that arrays and the driver's memory suffice. */
  private void require(
      PartitionStats sum, long patterns, long entries, double squares, long frames) {
    requireWithout(null, sum, patterns, entries, squares, frames);
  }

  /**
   * As above, dropping rows if there is no room for them as well.
   *
   * @param left the rows; null: none
   */
  private void requireWithout(
      HeldRows left, PartitionStats sum, long patterns, long entries, double squares, long frames) {
    int n = sum.requireColumns();
    requireVectors(n, sum.rhsCount());
    long further = ridge() && patterns > 0 ? n : 0;
    PatternOrder.requireIndexable(patterns + further, entries + further);
    DriverMemory.require(
        engine,
        new DriverMemory.Sizes(n, patterns + further, entries + further, squares, frames),
        left == null ? () -> {} : left::close);
  }

  private static Result result(
      List<PartitionStats> stats, PartitionStats sum, double[] norm, long bytes) {
    return new Result(
        norm.length,
        -1,
        Optional.empty(),
        Optional.empty(),
        norm,
        sum.fingerprint().rows(),
        sum.entries(),
        sum.rhsCount(),
        sum.rhsMax(),
        bytes,
        new Readings(stats.stream().map(PartitionStats::fingerprint).toList()),
        Optional.empty());
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
