/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.exchange.Depot;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.rows.ParsedRows.Entries;
import io.sparqr.spark.rows.ParsedRows.Heads;
import io.sparqr.spark.rows.ParsedRows.Run;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the rows of a partition while they are read, for a {@link Depot}, whose bytes they take
 * chunk by chunk. Without room for a chunk it gives up all rows. What was not left in the depot
 * when this is closed, because its task has failed, takes no room any more. Not thread-safe.
 */
public final class RowCollector implements AutoCloseable {

  /** Lengths of the first chunk of rows in unknown number, and of the largest one. */
  private static final int LEAST = 1 << 8;

  private static final int MOST = 1 << 16;

  private final Depot depot;
  private final int partition;
  private final boolean weights;
  private final Fingerprint expected;
  private final List<Heads> heads = new ArrayList<>();
  private final List<double[]> rhs = new ArrayList<>();
  private final List<Run> runs = new ArrayList<>();
  private Entries entries = new Entries(0);
  private long rows;
  private long nonzeros;
  private int width;
  private long bytes;
  private boolean refused;

  private RowCollector(Depot depot, int partition, boolean weights, Fingerprint expected) {
    this.depot = depot;
    this.partition = partition;
    this.weights = weights;
    this.expected = expected;
  }

  /** Collects the rows of positive weight, without the weights. */
  static RowCollector unweighted(Depot depot, int partition) {
    return new RowCollector(depot, partition, false, Fingerprint.ofNothing());
  }

  /**
   * Collects all rows with their weights, so that right-hand sides can be found to belong to them.
   *
   * @param expected the numbers of rows and entries, if they are known
   */
  public static RowCollector weighted(Depot depot, int partition, Fingerprint expected) {
    return new RowCollector(depot, partition, true, expected);
  }

  /** Adds the reader's row; rows between it and the last one have weight 0. */
  public void add(RowReader reader) {
    width = reader.rhsCount();
    if (weights) {
      addWithoutWeight(reader.position());
    }
    int count = reader.count();
    if (!makeRoom(count, reader.scale())) {
      return;
    }
    System.arraycopy(reader.index(), 0, entries.index, entries.used, count);
    System.arraycopy(reader.value(), 0, entries.value, entries.used, count);
    int used = rhs.size() - 1;
    System.arraycopy(reader.rhs(), 0, rhs.get(used), heads.get(used).used * width, width);
    close(count, reader.scale());
  }

  /**
   * Adds the rows of weight 0 after the last one that was added.
   *
   * @param reader at the end of the partition
   */
  public void end(RowReader reader) {
    width = Math.max(0, reader.rhsCount());
    addWithoutWeight(reader.position() + 1);
  }

  private void addWithoutWeight(long position) {
    while (rows < position && makeRoom(0, 0)) {
      close(0, 0);
    }
  }

  /** Ends a row, whose entries and right-hand sides are there. */
  private void close(int count, double scale) {
    Heads h = heads.get(heads.size() - 1);
    Run run = last(runs);
    if (run == null || run.heads != h || run.entries != entries) {
      run = new Run(heads.size() - 1, h, entries);
      runs.add(run);
    }
    if (h.scale != null) {
      h.scale[h.used] = scale;
    }
    h.length[h.used++] = count;
    entries.used += count;
    run.end();
    rows++;
    nonzeros += count;
  }

  private static <T> @Nullable T last(List<T> chunks) {
    return chunks.isEmpty() ? null : chunks.get(chunks.size() - 1);
  }

  /** Makes the chunks for a row if those that there are do not do; false if there is no room. */
  private boolean makeRoom(int count, double scale) {
    if (entries.used + count > entries.index.length) {
      int size = Math.max(count, size(nonzeros, expected.nonzeros()));
      if (!take(Entries.bytes(size))) {
        return false;
      }
      entries = new Entries(size);
    }
    Heads h = last(heads);
    if (h == null || h.used == h.length.length) {
      int size = size(rows, expected.rows());
      if (!take(Heads.bytes(size) + 8L * width * size)) {
        return false;
      }
      h = new Heads(size);
      heads.add(h);
      rhs.add(new double[Math.multiplyExact(size, width)]);
    }
    if (weights && scale != 1 && h.scale == null) {
      if (!take(Heads.scaleBytes(h.length.length))) {
        return false;
      }
      h.makeScale();
    }
    return true;
  }

  /** The length of the next chunk: what is still expected, or else as much as there is. */
  private static int size(long there, long expected) {
    long size = expected > there ? expected - there : Math.max(LEAST, there);
    return (int) Math.min(MOST, size);
  }

  /** Takes bytes, or gives up all rows. */
  private boolean take(long more) {
    if (!refused && depot.take(more)) {
      bytes += more;
      return true;
    }
    refused = true;
    close();
    return false;
  }

  /** Whether there was room for all rows. */
  public boolean complete() {
    return !refused;
  }

  /** The rows, of a reading with that fingerprint. */
  public ParsedRows rows(Fingerprint fingerprint) {
    return new ParsedRows(heads, runs, fingerprint);
  }

  /** Their right-hand sides. */
  public RowRhs rhs() {
    return new RowRhs(rhs.toArray(double[][]::new), width);
  }

  /**
   * Leaves a value with the rows, and all bytes that they take, in the depot under the partition's
   * number; the last use.
   */
  public void leave(Object value) {
    long all = bytes;
    bytes = 0;
    depot.keep(partition, value, all);
  }

  /** Gives up the rows unless they were left. Idempotent. */
  @Override
  public void close() {
    entries = new Entries(0);
    heads.clear();
    rhs.clear();
    runs.clear();
    depot.giveBack(bytes);
    bytes = 0;
  }
}
