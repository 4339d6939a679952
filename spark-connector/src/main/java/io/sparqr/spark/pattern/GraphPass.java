/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import static java.util.Objects.requireNonNull;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.Sent;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.sparse.SparsityPattern.FingerprintSum;
import io.sparqr.symbolic.RowGraph;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * Builds the graph of A'A on the executors if there are too many distinct rows for the driver, from
 * the shuffled row patterns of {@link PatternPass}, which are not recomputed. The edges of rows of
 * up to {@value #LONG} entries are each sent once, as lists of neighbours (delta-coded: 1 to 3
 * bytes per edge). Longer rows, which are smaller than their cliques, are each sent once as rows.
 * Two more passes over the same patterns count the figures missing from the graph: the fingerprint
 * and, for the chosen order, the rows that begin at each column.
 *
 * <p>On the driver an edge takes 24 bytes (a row of two columns), and a row 16 plus 4 per entry. On
 * an executor: 8 bytes per edge of a reducer's columns, twice that during collection.
 */
final class GraphPass {

  /**
   * Maximum length of a row that is written out as edges, of which there are at most half its
   * square.
   */
  static final int LONG = 64;

  /** Number of edges that a map task collects before sending them. */
  private static final int BUFFER = 1 << 20;

  private static final int LONG_ROWS = -1;

  private final Engine engine;
  private final Parts<Tuple2<Integer, byte[]>> patterns;
  private final int columns;
  private final boolean ridge;
  private final long sum;
  private final int parts;

  /**
   * The result of a reducer.
   *
   * @param rows number of rows of the graph's cover
   * @param frames lists of neighbours, then long rows; none if only counted
   */
  private record Part(
      long rows, long entries, double squares, long payload, byte @Nullable [][] frames)
      implements Serializable {}

  /**
   * The figures of the patterns read by a reducer.
   *
   * @param sum of the patterns' hashes times multiplicity
   * @param empty number of rows without an entry
   */
  private record Read(long sum, long empty, SparsityPattern.Fingerprint rows)
      implements Serializable {}

  /**
   * @param patterns the shuffled patterns
   * @param columns n
   * @param ridge whether every column has a ridge row
   * @param sum expected for every reading of the patterns
   */
  GraphPass(
      Engine engine,
      Parts<Tuple2<Integer, byte[]>> patterns,
      int columns,
      boolean ridge,
      long sum) {
    this.engine = engine;
    this.patterns = patterns;
    this.columns = columns;
    this.ridge = ridge;
    this.sum = sum;
    this.parts = patterns.count();
  }

  /**
   * Builds the graph; checks the number of its rows before collecting them.
   *
   * @param rows number of rows of A
   * @param nonzeros number of nonzeros of A
   */
  RowGraph run(long rows, long nonzeros) {
    List<Read> read =
        JobScope.run(
                engine,
                "figures of the row patterns",
                () -> patterns.<byte[]>map((k, it) -> List.of(figures(it)).iterator()).collect())
            .stream()
            .map(f -> ObjectCodec.decode(f, Read.class))
            .toList();
    requireAll(read, rows, nonzeros);
    var print = new FingerprintSum();
    long empty = 0;
    for (Read r : read) {
      print.add(r.rows);
      empty += r.empty;
    }
    long further = ridge ? columns : 0;
    if (ridge) {
      print.addColumns(columns);
    }
    return new RowGraph(
        collect(),
        print.of(columns),
        rows + further,
        empty,
        nonzeros + further,
        order -> leftmost(order, rows, nonzeros));
  }

  private void requireAll(List<Read> read, long rows, long nonzeros) {
    long found = 0;
    for (Read r : read) {
      found += r.sum;
    }
    if (found != sum) {
      throw Readings.mixed(rows, nonzeros);
    }
  }

  private static byte[] figures(Iterator<Tuple2<Integer, byte[]>> in) {
    long sum = 0;
    long empty = 0;
    var print = new FingerprintSum();
    while (in.hasNext()) {
      Patterns p = patterns(in.next()._2());
      for (int k = 0; k < p.count(); k++) {
        int from = p.start()[k];
        int to = p.start()[k + 1];
        sum += p.multiplicity()[k] * PatternTable.hash(p.column(), from, to);
        empty += from == to ? p.multiplicity()[k] : 0;
        print.add(p.column(), from, to, p.multiplicity()[k]);
      }
    }
    return ObjectCodec.encode(new Read(sum, empty, print.of(0)));
  }

  /** The patterns of a frame; none for a frame of another kind. */
  private static Patterns patterns(byte[] frame) {
    return Frame.kind(frame) == Frame.Kind.PATTERN
        ? PatternCodec.decode(frame)
        : new Patterns(new long[0], new int[1], new int[0]);
  }

  private SparsityPattern collect() {
    int r = parts;
    Parts<Tuple2<Integer, byte[]>> edges =
        JobScope.named(
            engine, "edges of A'A", () -> patterns.shuffle(r, (k, it) -> new EdgeFrames(it, r)));
    var found = new ArrayList<Part>();
    for (byte[] part : JobScope.run(engine, "graph of A'A", merged(edges, false)::collect)) {
      found.add(ObjectCodec.decode(part, Part.class));
    }
    long rows = 0;
    long entries = 0;
    double squares = 0;
    long payload = 0;
    for (Part p : found) {
      rows += p.rows;
      entries += p.entries;
      squares += p.squares;
      payload += p.payload;
    }
    long further = ridge ? columns : 0;
    PatternOrder.requireIndexable(rows + further, entries + further);
    DriverMemory.require(
        engine,
        new DriverMemory.Sizes(columns, rows + further, entries + further, squares, payload),
        () -> {});
    var cover = new Cover((int) (rows + further), (int) (entries + further));
    Parts<byte[]> complete = merged(edges, true);
    for (int k = 0; k < r; k++) {
      int one = k;
      List<List<byte[]>> part =
          JobScope.run(engine, "graph of A'A, to the driver", () -> complete.collect(one));
      for (byte[] frame :
          requireNonNull(ObjectCodec.decode(part.get(0).get(0), Part.class).frames)) {
        cover.add(frame);
      }
    }
    return cover.pattern();
  }

  private static Parts<byte[]> merged(Parts<Tuple2<Integer, byte[]>> edges, boolean all) {
    return edges
        .<byte[]>map((k, it) -> List.of(merge(k, it, all)).iterator())
        .named("sparqr graph of A'A");
  }

  private static byte[] merge(int part, Iterator<Tuple2<Integer, byte[]>> in, boolean all) {
    var edges = new Edges(BUFFER);
    var table = new PatternTable();
    while (in.hasNext()) {
      byte[] frame = in.next()._2();
      Patterns p = PatternCodec.decode(frame);
      boolean rows = Frame.peek(frame, 0) == LONG_ROWS;
      for (int k = 0; k < p.count(); k++) {
        if (rows) {
          table.add(p.column(), p.start()[k], p.start()[k + 1], 1);
        } else {
          edges.addList(p.column(), p.start()[k], p.start()[k + 1], edges::grow);
        }
      }
    }
    Patterns lists = edges.lists(0, 1);
    Patterns rows = table.sorted();
    List<byte[]> frames = PatternOrder.frames(part, lists);
    frames.addAll(PatternOrder.frames(LONG_ROWS, rows));
    long payload = 0;
    for (byte[] frame : frames) {
      payload += frame.length;
    }
    long pairs = 0;
    long alone = 0;
    for (int k = 0; k < lists.count(); k++) {
      int length = lists.start()[k + 1] - lists.start()[k];
      pairs += length - 1;
      alone += length == 1 ? 1 : 0;
    }
    return ObjectCodec.encode(
        new Part(
            pairs + alone + rows.count(),
            2 * pairs + alone + table.entries(),
            4.0 * pairs + alone + table.squares(),
            payload,
            all ? frames.toArray(new byte[0][]) : null));
  }

  /** The number of rows that begin at each position, size n, for an order of all columns. */
  private long[] leftmost(Permutation order, long rows, long nonzeros) {
    int r = parts;
    long[] count = new long[columns];
    var read = new ArrayList<Read>();
    try (var held = new Held()) {
      Sent<int[]> position = Sent.to(engine, order.inverseArray(), held);
      List<byte[]> frames =
          JobScope.run(
              engine,
              "rows that begin at each column",
              () ->
                  patterns
                      .shuffle(r, (k, it) -> begins(it, position.value(), r))
                      .map((k, it) -> added(it))
                      .collect());
      for (byte[] frame : frames) {
        if (Frame.kind(frame) == Frame.Kind.OBJECT) {
          read.add(ObjectCodec.decode(frame, Read.class));
        } else {
          ColumnChunks.place(frame, count);
        }
      }
    }
    requireAll(read, rows, nonzeros);
    for (int p = 0; p < columns && ridge; p++) {
      count[p]++;
    }
    return count;
  }

  private static Iterator<Tuple2<Integer, byte[]>> begins(
      Iterator<Tuple2<Integer, byte[]>> in, int[] position, int parts) {
    // Integers far below 2^53, exact in doubles.
    var count = new ColumnChunks();
    long sum = 0;
    while (in.hasNext()) {
      Patterns p = patterns(in.next()._2());
      for (int k = 0; k < p.count(); k++) {
        int from = p.start()[k];
        int to = p.start()[k + 1];
        sum += p.multiplicity()[k] * PatternTable.hash(p.column(), from, to);
        int first = Integer.MAX_VALUE;
        for (int e = from; e < to; e++) {
          first = Math.min(first, position[p.column()[e]]);
        }
        if (from < to) {
          count.add(first, p.multiplicity()[k]);
        }
      }
    }
    var chunks = new ArrayList<byte[]>();
    count.encode(0, chunks);
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    var nothing = new FingerprintSum().of(0);
    out.add(new Tuple2<>(0, ObjectCodec.encode(new Read(sum, 0, nothing))));
    for (byte[] chunk : chunks) {
      out.add(new Tuple2<>(VectorCodec.chunk(chunk) % parts, chunk));
    }
    return out.iterator();
  }

  private static Iterator<byte[]> added(Iterator<Tuple2<Integer, byte[]>> in) {
    var out = new ArrayList<byte[]>();
    var chunks = new ArrayList<byte[]>();
    while (in.hasNext()) {
      byte[] frame = in.next()._2();
      (Frame.kind(frame) == Frame.Kind.CHUNK ? chunks : out).add(frame);
    }
    ColumnChunks.merge(chunks, Double::sum).encode(0, out);
    return out.iterator();
  }

  /** Edges of a partition's patterns, computed on demand, one full buffer at a time. */
  private static final class EdgeFrames implements Iterator<Tuple2<Integer, byte[]>> {
    private final Iterator<Tuple2<Integer, byte[]>> in;
    private final int parts;
    private final Edges edges = new Edges(BUFFER);
    private final PatternTable longRows = new PatternTable();
    private final Deque<Tuple2<Integer, byte[]>> out = new ArrayDeque<>();
    private boolean ended;

    EdgeFrames(Iterator<Tuple2<Integer, byte[]>> in, int parts) {
      this.in = in;
      this.parts = parts;
    }

    @Override
    public boolean hasNext() {
      while (out.isEmpty() && in.hasNext()) {
        take(patterns(in.next()._2()));
      }
      if (out.isEmpty() && !ended) {
        ended = true;
        flush();
        longRows
            .distinct()
            .cut(
                parts,
                (k, rows) ->
                    PatternOrder.frames(LONG_ROWS, rows)
                        .forEach(frame -> out.add(new Tuple2<>(k, frame))));
      }
      return !out.isEmpty();
    }

    @Override
    public Tuple2<Integer, byte[]> next() {
      if (!hasNext()) {
        throw new java.util.NoSuchElementException();
      }
      return out.pop();
    }

    private void take(Patterns p) {
      for (int k = 0; k < p.count(); k++) {
        int from = p.start()[k];
        int to = p.start()[k + 1];
        if (to - from > LONG) {
          longRows.add(p.column(), from, to, 1);
        } else {
          edges.addClique(p.column(), from, to, this::flush);
        }
      }
    }

    private void flush() {
      for (int k = 0; k < parts; k++) {
        for (byte[] frame : PatternOrder.frames(0, edges.lists(k, parts))) {
          out.add(new Tuple2<>(k, frame));
        }
      }
      edges.clear();
    }
  }

  /** The rows whose cliques form the graph, assembled on the driver. */
  private final class Cover {
    private final long[] start;
    private final int[] column;
    private final BitSet seen = new BitSet(columns);
    private int rows;
    private int entries;

    Cover(int rows, int entries) {
      this.start = new long[rows + 1];
      this.column = new int[entries];
    }

    void add(byte[] frame) {
      Patterns p = PatternCodec.decode(frame);
      boolean whole = Frame.peek(frame, 0) == LONG_ROWS;
      for (int k = 0; k < p.count(); k++) {
        int from = p.start()[k];
        int to = p.start()[k + 1];
        for (int e = from; e < to; e++) {
          seen.set(p.column()[e]);
        }
        if (whole || to - from == 1) {
          System.arraycopy(p.column(), from, column, entries, to - from);
          entries += to - from;
          start[++rows] = entries;
          continue;
        }
        for (int e = from + 1; e < to; e++) {
          column[entries++] = p.column()[from];
          column[entries++] = p.column()[e];
          start[++rows] = entries;
        }
      }
    }

    SparsityPattern pattern() {
      for (int j = seen.nextClearBit(0); j < columns && ridge; j = seen.nextClearBit(j + 1)) {
        column[entries++] = j;
        start[++rows] = entries;
      }
      long[] once = new long[rows];
      java.util.Arrays.fill(once, 1);
      return new SparsityPattern(
          columns,
          java.util.Arrays.copyOf(start, rows + 1),
          entries == column.length ? column : java.util.Arrays.copyOf(column, entries),
          once);
    }
  }
}
