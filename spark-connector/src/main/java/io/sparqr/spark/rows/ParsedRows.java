/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.configuration.Keys;
import io.sparqr.jvm.ByteBudget;
import io.sparqr.jvm.JvmPart;
import io.sparqr.spark.plan.Fingerprint;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a partition as a {@link RowReader} has left them, in chunks of primitive arrays: 12
 * bytes an entry, 4 a row, 8 more a row where weights are kept. Rows are many and unknown in
 * number: chunks that are full stay where they are, so that nothing is copied while they grow
 * ({@link RowCollector}). Immutable. Right-hand sides are kept apart ({@link RowRhs}), because
 * there may be others for the same rows.
 */
public final class ParsedRows {

  private static final JvmPart<ByteBudget> ROOM =
      JvmPart.holding("bytes of parsed rows", ParsedRows::bySetting, ByteBudget::taken);

  private final List<Heads> heads;
  private final List<Run> runs;
  private final Fingerprint fingerprint;

  /** Entries of successive rows, each row in one chunk. */
  static final class Entries {
    final int[] index;
    final double[] value;
    int used;

    Entries(int size) {
      index = new int[size];
      value = new double[size];
    }

    static long bytes(int size) {
      return 12L * size;
    }
  }

  /** Numbers of entries, and weights, of successive rows. */
  static final class Heads {
    final int[] length;

    /** sqrt(weight) of each row, unless all are 1. */
    double @Nullable [] scale;

    int used;

    Heads(int size) {
      length = new int[size];
    }

    static long bytes(int size) {
      return 4L * size;
    }

    static long scaleBytes(int size) {
      return 8L * size;
    }

    void makeScale() {
      scale = new double[length.length];
      Arrays.fill(scale, 0, used, 1);
    }
  }

  /** Successive rows whose heads are in one chunk, and whose entries are. */
  public static final class Run {
    final Heads heads;
    final Entries entries;
    private final int chunk;
    private final int first;
    private final int from;
    private int end;

    /** Begins at the end of both chunks, the first of them with a given number. */
    Run(int chunk, Heads heads, Entries entries) {
      this.chunk = chunk;
      this.heads = heads;
      this.entries = entries;
      this.first = heads.used;
      this.from = entries.used;
    }

    /** Ends at the end of its chunk of heads. */
    void end() {
      end = heads.used;
    }

    /** The first row: a place in {@link #length} and {@link #scale}. */
    public int first() {
      return first;
    }

    /** The number of the row behind the last one. */
    public int afterLast() {
      return end;
    }

    /** Numbers of entries of the rows. */
    public int[] length() {
      return heads.length;
    }

    /** sqrt(weight) of the rows, unless all are 1 or weights are not kept. */
    public double @Nullable [] scale() {
      return heads.scale;
    }

    /** Where the entries of the first row begin; those of the next ones follow. */
    public int from() {
      return from;
    }

    /** Columns of the entries, ascending in each row. */
    public int[] index() {
      return entries.index;
    }

    /** Their values times sqrt(weight). */
    public double[] value() {
      return entries.value;
    }

    /** Number of the chunk of heads. */
    int chunk() {
      return chunk;
    }
  }

  ParsedRows(List<Heads> heads, List<Run> runs, Fingerprint fingerprint) {
    this.heads = List.copyOf(heads);
    this.runs = List.copyOf(runs);
    this.fingerprint = fingerprint;
  }

  /** What all parsed rows of this JVM may take together: {@link Keys#ROW_COPY_SHARE}. */
  public static ByteBudget room() {
    return ROOM.get();
  }

  private static ByteBudget bySetting() {
    return new ByteBudget(
        () -> (long) (Keys.ROW_COPY_SHARE.ofJvm() * Runtime.getRuntime().maxMemory()));
  }

  /** Of the reading that these rows come from. */
  public Fingerprint fingerprint() {
    return fingerprint;
  }

  /** All rows, in their order. The arrays are not to be written to. */
  public List<Run> runs() {
    return runs;
  }

  /** Right-hand sides for the rows, all 0. */
  public RowRhs zeroRhs(int width) {
    var chunks = new double[heads.size()][];
    for (int c = 0; c < chunks.length; c++) {
      chunks[c] = new double[Math.multiplyExact(heads.get(c).used, width)];
    }
    return new RowRhs(chunks, width);
  }

  /** A position before the first row. */
  public Cursor cursor() {
    return new Cursor();
  }

  /** A position in the rows, for those who take one row at a time. */
  public final class Cursor {
    private int next;

    @SuppressWarnings("NullAway.Init") // set by next()
    private Run run;

    private int row;
    private int from;
    private int to;

    private Cursor() {}

    /** Moves to the next row, which may have weight 0 if weights are kept; false at the end. */
    public boolean next() {
      if (run != null && row + 1 < run.end) {
        row++;
      } else if (next < runs.size()) {
        run = runs.get(next++);
        row = run.first;
        to = run.from;
      } else {
        return false;
      }
      from = to;
      to += run.heads.length[row];
      return true;
    }

    /** sqrt(weight) of the row; 1 if weights are not kept. */
    public double scale() {
      return run.heads.scale == null ? 1 : run.heads.scale[row];
    }

    /** Columns of the entries [{@link #from}, {@link #to}), ascending. */
    public int[] index() {
      return run.entries.index;
    }

    /** Their values times sqrt(weight). */
    public double[] value() {
      return run.entries.value;
    }

    /** The place of the row's first entry. */
    public int from() {
      return from;
    }

    /** Where the row's entries end, exclusive. */
    public int to() {
      return to;
    }

    /** Moves the row into a reader's arrays. */
    void take(RowReader reader) {
      reader.take(run.entries.index, run.entries.value, from, to - from);
    }

    /** The run of memory in which the row's entries lie. */
    Run run() {
      return run;
    }

    /** The row's place in {@link Run#length}. */
    int row() {
      return row;
    }
  }
}
