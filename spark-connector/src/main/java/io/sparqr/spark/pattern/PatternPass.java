/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.configuration.Keys;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.resource.Parts;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.sparse.SparsityPattern.FingerprintSum;
import io.sparqr.symbolic.RowGraph;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import scala.Tuple2;

/**
 * The first pass over the rows: checks them, finds the distinct row patterns and the column norms,
 * or without the patterns ({@link #figures}) only the fingerprint of their pattern and the norms.
 * One Spark job of two stages: each partition finds its distinct patterns, equal patterns of
 * different partitions meet by hash in a reducer, and the driver receives the result. If it is
 * large, only counts are sent first, so that a lack of memory on the driver is detected before it
 * is filled. Errors are returned as data; the driver throws that of the lowest partition.
 */
public final class PatternPass {

  /** Payloads up to this size are sent along with the counts, without a second job. */
  private static final long EAGER_BYTES = 4 << 20;

  /**
   * The payloads of several reducers are fetched together up to this size; they are then on the
   * driver twice.
   */
  private static final long BATCH_BYTES = 32 << 20;

  /**
   * Maximum number of reducers per core. Each gets about as much as one partition of the rows
   * holds, so that more rows in more partitions take no more memory.
   */
  private static final int REDUCERS_A_CORE = 8;

  /** In place of a limit: only the norms, without patterns. */
  private static final long NORMS_ALONE = -1;

  private final RowSource source;
  private final SolveOptions options;
  private final int reducers;
  private final long eagerBytes;
  private final long batchBytes;

  /**
   * The result of the pass.
   *
   * @param columns n
   * @param patterns number of distinct row patterns; -1 if they were not told apart
   * @param pattern with the ridge's rows, if any; empty if there are too many distinct rows for the
   *     driver, if they were not told apart, or once it is no longer needed
   * @param graph of A'A, if there are too many distinct rows; the ridge's rows included
   * @param norm size n; 2-norms of the columns of sqrt(W) A, without the ridge
   * @param rows number of rows of positive weight
   * @param nonzeros their number of nonzeros
   * @param rhsCount right-hand sides
   * @param rhsMax largest absolute value of each right-hand side
   * @param shuffleBytes bytes of all frames
   * @param readings fingerprints that every later reading must match
   * @param print the pattern's fingerprint, the ridge's rows included, if the patterns were not
   *     told apart
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

    /** The same without pattern and graph. */
    public Result analyzed() {
      return new Result(
          columns,
          patterns,
          Optional.empty(),
          Optional.empty(),
          norm,
          rows,
          nonzeros,
          rhsCount,
          rhsMax,
          shuffleBytes,
          readings,
          print);
    }
  }

  /**
   * The result of a reducer.
   *
   * @param squares sum of the patterns' squared lengths
   * @param bytes received
   * @param payload bytes of {@code frames} and {@code norms}
   * @param frames the patterns; these and the columns' norms are null if they are large
   */
  private record Part(
      int reducer,
      long patterns,
      long entries,
      double squares,
      long bytes,
      long payload,
      byte[][] frames,
      byte[][] norms,
      byte[][] stats)
      implements Serializable {}

  /** A pass with the default batch sizes. */
  public PatternPass(RowSource source, SolveOptions options) {
    this(source, options, EAGER_BYTES, BATCH_BYTES);
  }

  PatternPass(RowSource source, SolveOptions options, long eagerBytes, long batchBytes) {
    this.source = source;
    this.options = options;
    this.eagerBytes = eagerBytes;
    this.batchBytes = batchBytes;
    int parallel = source.engine().parallelism();
    int input = source.parts().count();
    this.reducers =
        options.input().partitions() > 0
            ? options.input().partitions()
            : Math.max(1, Math.min(REDUCERS_A_CORE * parallel, input));
  }

  /** What the reducers found: their results, and the statistics of the partitions. */
  private record Reduced(
      Parts<Tuple2<Integer, byte[]>> shuffled, List<Part> found, List<PartitionStats> stats) {

    long total(ToLongFunction<Part> of) {
      return found.stream().mapToLong(of).sum();
    }

    Readings readings() {
      return new Readings(stats.stream().map(PartitionStats::fingerprint).toList());
    }
  }

  private Reduced reduced(boolean told) {
    Engine engine = source.engine();
    Parts<Tuple2<Integer, byte[]>> shuffled =
        JobScope.named(engine, "pattern and column norms", () -> shuffle(told));
    String what = told ? "distinct row patterns" : "column norms";
    List<Part> found = new ArrayList<>();
    for (byte[] part : JobScope.run(engine, what, reduce(shuffled, eagerBytes, what)::collect)) {
      found.add(ObjectCodec.decode(part, Part.class));
    }
    List<PartitionStats> stats = new ArrayList<>();
    for (Part p : found) {
      for (byte[] s : p.stats) {
        stats.add(ObjectCodec.decode(s, PartitionStats.class));
      }
    }
    stats.sort(Comparator.comparingInt(PartitionStats::partition));
    return new Reduced(shuffled, found, stats);
  }

  /**
   * The same pass for rows whose analysis may be known: patterns are neither told apart nor sent,
   * only their fingerprint is summed. The norms have the bits of {@link #run}'s.
   */
  public Result figures() {
    Reduced reduced = reduced(false);
    PartitionStats sum = PartitionStats.sum(reduced.stats, options.input().columns());
    int n = sum.requireColumns();
    requireVectors(n, sum.rhsCount());
    DriverMemory.require(
        source.engine(), new DriverMemory.Sizes(n, 0, 0, 0, reduced.total(Part::payload)));
    var print = new FingerprintSum();
    reduced.stats.forEach(s -> print.add(s.print()));
    if (options.problem().ridge().any()) {
      print.addColumns(n);
    }
    var norm = new double[n];
    fetch(
        reduce(reduced.shuffled, NORMS_ALONE, "column norms"), reduced.found, p -> place(p, norm));
    return result(
        reduced, sum, -1, Optional.empty(), Optional.empty(), norm, Optional.of(print.of(n)));
  }

  private static void place(Part part, double[] norm) {
    for (byte[] chunk : part.norms) {
      ColumnChunks.place(chunk, norm);
    }
  }

  private static Result result(
      Reduced reduced,
      PartitionStats sum,
      long patterns,
      Optional<SparsityPattern> pattern,
      Optional<RowGraph> graph,
      double[] norm,
      Optional<SparsityPattern.Fingerprint> print) {
    return new Result(
        norm.length,
        patterns,
        pattern,
        graph,
        norm,
        sum.fingerprint().rows(),
        sum.entries(),
        sum.rhsCount(),
        sum.rhsMax(),
        reduced.total(Part::bytes),
        reduced.readings(),
        print);
  }

  /** Runs the pass; throws the error of an invalid row. */
  public Result run() {
    Engine engine = source.engine();
    Reduced reduced = reduced(true);
    PartitionStats sum = PartitionStats.sum(reduced.stats, options.input().columns());
    int n = sum.requireColumns();
    long patterns = reduced.total(Part::patterns);
    long entries = reduced.total(Part::entries);
    boolean ridge = options.problem().ridge().any();
    requireVectors(n, sum.rhsCount());
    long further = ridge ? n : 0;
    boolean graph = 16 * patterns + 4 * entries > bound(engine);
    Optional<RowGraph> ofRows = Optional.empty();
    if (graph) {
      var pass = new GraphPass(engine.context(), reduced.shuffled.rdd(), n, ridge, sum.sum());
      ofRows = Optional.of(pass.run(sum.fingerprint().rows(), sum.entries()));
    } else {
      PatternOrder.requireIndexable(patterns + further, entries + further);
      double squares = reduced.found.stream().mapToDouble(Part::squares).sum();
      DriverMemory.require(
          engine,
          new DriverMemory.Sizes(
              n, patterns + further, entries + further, squares, reduced.total(Part::payload)));
    }
    var norm = new double[n];
    var frames = new ArrayList<List<byte[]>>();
    fetch(
        reduce(reduced.shuffled, graph ? NORMS_ALONE : Long.MAX_VALUE, "distinct row patterns"),
        reduced.found,
        p -> {
          place(p, norm);
          frames.add(graph ? List.of() : List.of(p.frames));
        });
    Optional<SparsityPattern> pattern = Optional.empty();
    if (!graph) {
      var merged = PatternOrder.merge(frames, patterns, entries, n, ridge);
      requireOneReading(sum.fingerprint(), sum.sum(), merged.sum());
      pattern = Optional.of(merged.pattern());
    }
    return result(reduced, sum, patterns, pattern, ofRows, norm, Optional.empty());
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

  private Parts<Tuple2<Integer, byte[]>> shuffle(boolean told) {
    int declared = options.input().columns();
    int r = reducers;
    return source
        .parts()
        .shuffle(r, (p, rows) -> scan(new PartitionScan(p, declared, told), rows, r).iterator());
  }

  private static Parts<byte[]> reduce(
      Parts<Tuple2<Integer, byte[]>> frames, long limit, String what) {
    return frames
        .map((k, it) -> List.of(ObjectCodec.encode(reduce(k, it, limit))).iterator())
        .named("sparqr " + what);
  }

  /** Passes on patterns and norms; those not sent with the counts are fetched by further jobs. */
  private void fetch(Parts<byte[]> complete, List<Part> found, Consumer<Part> to) {
    List<Integer> batch = new ArrayList<>();
    long bytes = 0;
    for (Part p : found) {
      if (p.frames != null) {
        to.accept(p);
        continue;
      }
      if (bytes + p.payload > batchBytes && !batch.isEmpty()) {
        fetchNow(complete, batch, to);
        batch.clear();
        bytes = 0;
      }
      batch.add(p.reducer);
      bytes += p.payload;
    }
    if (!batch.isEmpty()) {
      fetchNow(complete, batch, to);
    }
  }

  /**
   * One job for some reducers, which run again, while the map stage's shuffle output still exists.
   */
  private void fetchNow(Parts<byte[]> complete, List<Integer> reducers, Consumer<Part> to) {
    int[] partitions = reducers.stream().mapToInt(k -> k).toArray();
    for (List<byte[]> part :
        JobScope.run(
            source.engine(),
            "distinct row patterns, to the driver",
            () -> complete.collect(partitions))) {
      to.accept(ObjectCodec.decode(part.get(0), Part.class));
    }
  }

  private static List<Tuple2<Integer, byte[]>> scan(
      PartitionScan scan, Iterator<SparseRow> rows, int reducers) {
    int partition = scan.partition();
    PartitionStats stats = scan.run(rows);
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    out.add(new Tuple2<>(0, ObjectCodec.encode(stats)));
    if (stats.error() != null) {
      return out;
    }
    for (int k = 0; k < reducers; k++) {
      Patterns part = scan.table().part(k, reducers);
      if (part.multiplicity().length > 0) {
        out.add(new Tuple2<>(k, PatternCodec.encode(partition, part)));
      }
    }
    var norms = new ArrayList<byte[]>();
    scan.norms().encode(partition, norms);
    for (byte[] chunk : norms) {
      out.add(new Tuple2<>(io.sparqr.spark.wire.VectorCodec.chunk(chunk) % reducers, chunk));
    }
    return out;
  }

  private static Part reduce(int reducer, Iterator<Tuple2<Integer, byte[]>> in, long limit) {
    var table = new PatternTable();
    var stats = new ArrayList<byte[]>();
    var norms = new ArrayList<byte[]>();
    long bytes = 0;
    while (in.hasNext()) {
      byte[] frame = in.next()._2();
      bytes += frame.length;
      switch (Frame.kind(frame)) {
        case OBJECT -> stats.add(frame);
        case CHUNK -> norms.add(frame);
        default -> {
          Patterns p = PatternCodec.decode(frame);
          for (int k = 0; k < p.multiplicity().length; k++) {
            table.add(p.column(), p.start()[k], p.start()[k + 1], p.multiplicity()[k]);
          }
        }
      }
    }
    var merged = new ArrayList<byte[]>();
    ColumnChunks.merge(norms, Math::hypot).encode(0, merged);
    List<byte[]> frames = PatternOrder.frames(reducer, table.sorted());
    long payload = 0;
    for (byte[] frame : frames) {
      payload += frame.length;
    }
    for (byte[] chunk : merged) {
      payload += chunk.length;
    }
    if (limit == NORMS_ALONE) {
      frames = List.of();
    }
    boolean send = limit == NORMS_ALONE || payload <= limit;
    return new Part(
        reducer,
        table.size(),
        table.entries(),
        table.squares(),
        bytes,
        payload,
        send ? frames.toArray(new byte[0][]) : null,
        send ? merged.toArray(new byte[0][]) : null,
        stats.toArray(new byte[0][]));
  }
}
