/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.spark.wire.VectorCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/**
 * The pass with executors in other JVMs, or for more than one JVM should hold at once: a Spark job
 * of two stages. Each partition finds its distinct patterns, equal patterns of different partitions
 * meet by hash in a reducer, and the driver receives the result, delta-coded. If it is large, only
 * counts are sent first, so that a lack of memory on the driver is detected before it is filled.
 */
final class ShuffledPass {

  /** In place of a limit: only the norms, without patterns. */
  private static final long NORMS_ALONE = -1;

  private final Engine engine;
  private final Limits limits;
  private final boolean told;
  private final Parts<Tuple2<Integer, byte[]>> shuffled;
  private final List<Part> found = new ArrayList<>();
  private final List<PartitionStats> stats = new ArrayList<>();

  /**
   * Sizes of transfers.
   *
   * @param reducers number of reducers
   * @param eagerBytes payloads up to this size are sent along with the counts, without a second job
   * @param batchBytes the payloads of several reducers are fetched together up to this size; they
   *     are then on the driver twice
   */
  record Limits(int reducers, long eagerBytes, long batchBytes) {}

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

  /**
   * Reads the rows.
   *
   * @param declared n, or -1 to take it from the rows
   * @param told whether to tell patterns apart
   * @param left where tasks leave the rows; null: nowhere
   */
  ShuffledPass(RowSource source, int declared, boolean told, Limits limits, HeldRows left) {
    this.engine = source.engine();
    this.limits = limits;
    this.told = told;
    int r = limits.reducers;
    shuffled =
        JobScope.named(
            engine,
            "pattern and column norms",
            () ->
                source
                    .parts()
                    .shuffle(
                        r,
                        (p, rows) -> scan(p, new PartitionScan(p, declared, told, left), rows, r)));
    String what = told ? "distinct row patterns" : "column norms";
    for (byte[] part :
        JobScope.run(engine, what, reduce(shuffled, limits.eagerBytes, what)::collect)) {
      found.add(ObjectCodec.decode(part, Part.class));
    }
    for (Part p : found) {
      for (byte[] s : p.stats) {
        stats.add(ObjectCodec.decode(s, PartitionStats.class));
      }
    }
    stats.sort(Comparator.comparingInt(PartitionStats::partition));
  }

  /** The statistics in the order of the partitions. */
  List<PartitionStats> stats() {
    return stats;
  }

  /** Number of distinct patterns. */
  long patterns() {
    return total(Part::patterns);
  }

  /** Number of their entries. */
  long entries() {
    return total(Part::entries);
  }

  /** Sum of their squared lengths. */
  double squares() {
    return found.stream().mapToDouble(Part::squares).sum();
  }

  /** Bytes of all frames that the reducers received. */
  long bytes() {
    return total(Part::bytes);
  }

  /** Bytes that the driver receives. */
  long payload() {
    return total(Part::payload);
  }

  private long total(ToLongFunction<Part> of) {
    return found.stream().mapToLong(of).sum();
  }

  /** The patterns by reducer, not recomputed as long as the shuffle's output exists. */
  JavaRDD<Tuple2<Integer, byte[]>> rdd() {
    return shuffled.rdd();
  }

  /**
   * Collects norms and patterns.
   *
   * @param norm size n, 0
   * @param patterns whether to collect the patterns
   * @return frames of patterns
   */
  List<byte[]> fetch(double[] norm, boolean patterns) {
    var frames = new ArrayList<byte[]>();
    String what = told ? "distinct row patterns" : "column norms";
    fetch(
        reduce(shuffled, patterns ? Long.MAX_VALUE : NORMS_ALONE, what),
        p -> {
          for (byte[] chunk : p.norms) {
            ColumnChunks.place(chunk, norm);
          }
          if (patterns) {
            frames.addAll(List.of(p.frames));
          }
        });
    return frames;
  }

  private static Parts<byte[]> reduce(
      Parts<Tuple2<Integer, byte[]>> frames, long limit, String what) {
    return frames
        .map((k, it) -> List.of(ObjectCodec.encode(reduce(k, it, limit))).iterator())
        .named("sparqr " + what);
  }

  /** Passes on what was sent with the counts; the rest is fetched by further jobs. */
  private void fetch(Parts<byte[]> complete, Consumer<Part> to) {
    List<Integer> batch = new ArrayList<>();
    long bytes = 0;
    for (Part p : found) {
      if (p.frames != null) {
        to.accept(p);
        continue;
      }
      if (bytes + p.payload > limits.batchBytes && !batch.isEmpty()) {
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
            engine, "distinct row patterns, to the driver", () -> complete.collect(partitions))) {
      to.accept(ObjectCodec.decode(part.get(0), Part.class));
    }
  }

  private static Iterator<Tuple2<Integer, byte[]>> scan(
      int partition, PartitionScan scan, Iterator<SparseRow> rows, int reducers) {
    PartitionStats stats = scan.run(rows);
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    out.add(new Tuple2<>(0, ObjectCodec.encode(stats)));
    if (stats.error() != null) {
      return out.iterator();
    }
    for (int k = 0; k < reducers; k++) {
      Patterns part = scan.table().part(k, reducers);
      if (part.count() > 0) {
        out.add(new Tuple2<>(k, PatternCodec.encode(partition, part)));
      }
    }
    var norms = new ArrayList<byte[]>();
    scan.norms().encode(partition, norms);
    for (byte[] chunk : norms) {
      out.add(new Tuple2<>(VectorCodec.chunk(chunk) % reducers, chunk));
    }
    return out.iterator();
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
          for (int k = 0; k < p.count(); k++) {
            table.add(p.column(), p.start()[k], p.start()[k + 1], p.multiplicity()[k]);
          }
        }
      }
    }
    var merged = new ArrayList<byte[]>();
    ColumnChunks.merge(norms, ChunkedColumnNorms::joined).encode(0, merged);
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
