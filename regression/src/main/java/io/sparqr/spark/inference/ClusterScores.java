/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import scala.Tuple2;

/**
 * Sums a partition's scores by cluster, in the order of the rows, for the tasks that own the
 * clusters. Sent whenever they reach {@value #VALUES} values. Not thread-safe.
 */
final class ClusterScores implements Iterator<Tuple2<Integer, byte[]>> {

  /** Maximum number of values held for all clusters before they are sent, 32 MB. */
  private static final int VALUES = 4 << 20;

  private final Observations row;
  private final ScorePass.Columns columns;
  private final Scores scores;
  private final Iterator<String[]> keys;
  private final int reducers;
  private final Map<String, double[]> open = new LinkedHashMap<>();
  private final ArrayDeque<Tuple2<Integer, byte[]>> ready = new ArrayDeque<>();
  private final double[] u;
  private long count;
  private int sequence;
  private boolean ended;

  /**
   * Sums of some clusters.
   *
   * @param partition of the rows
   * @param sequence index of the part, in the order of the rows
   * @param keys each preceded by its way
   * @param sums k values per key
   */
  record Part(int partition, int sequence, String[] keys, double[] sums) implements Serializable {}

  ClusterScores(
      Observations row, ScorePass.Columns columns, Iterator<String[]> keys, int reducers) {
    this.row = row;
    this.columns = columns;
    this.scores = columns.scores();
    this.keys = keys;
    this.reducers = reducers;
    this.u = new double[columns.k()];
  }

  @Override
  public boolean hasNext() {
    while (ready.isEmpty() && !ended) {
      if (!row.next()) {
        requireKeys(!keys.hasNext());
        ended = true;
        flush();
      } else {
        requireKeys(keys.hasNext());
        add(keys.next());
      }
    }
    return !ready.isEmpty();
  }

  private void requireKeys(boolean aligned) {
    if (!aligned) {
      throw new DimensionMismatchException(
          "partition %d has %s cluster keys than rows, of which it has %s%d"
              .formatted(
                  row.partition(),
                  keys.hasNext() ? "more" : "fewer",
                  keys.hasNext() ? "" : "more than ",
                  count),
          "cluster keys",
          count,
          count + (keys.hasNext() ? 1 : -1));
    }
  }

  private void add(String[] clusters) {
    count++;
    if (!row.counts()) {
      return;
    }
    java.util.Arrays.fill(u, 0);
    scores.add(row, u, 0);
    for (int way = 0; way < clusters.length; way++) {
      double[] sum =
          open.computeIfAbsent((char) ('0' + way) + clusters[way], k -> new double[u.length]);
      for (int c = 0; c < u.length; c++) {
        sum[c] += u[c];
      }
    }
    if ((long) open.size() * Math.max(1, columns.k()) > VALUES) {
      flush();
    }
  }

  private void flush() {
    var byTask = new ArrayList<List<Map.Entry<String, double[]>>>();
    for (int r = 0; r < reducers; r++) {
      byTask.add(new ArrayList<>());
    }
    for (var e : open.entrySet()) {
      byTask.get(Math.floorMod(e.getKey().hashCode(), reducers)).add(e);
    }
    for (int r = 0; r < reducers; r++) {
      var entries = byTask.get(r);
      String[] names = new String[entries.size()];
      double[] sums = new double[names.length * u.length];
      for (int i = 0; i < names.length; i++) {
        names[i] = entries.get(i).getKey();
        System.arraycopy(entries.get(i).getValue(), 0, sums, i * u.length, u.length);
      }
      if (names.length > 0) {
        var part = new Part(row.partition(), sequence, names, sums);
        ready.add(new Tuple2<>(r, ObjectCodec.encode(part)));
      }
    }
    sequence++;
    open.clear();
  }

  @Override
  public Tuple2<Integer, byte[]> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return ready.poll();
  }

  /**
   * The sums of squares over a task's clusters; all parts of these clusters are here, and are added
   * in the order of the rows.
   */
  static ScorePass.Sums squares(
      int task, Iterator<byte[]> frames, ScorePass.Columns columns, int ways) {
    var parts = new ArrayList<Part>();
    frames.forEachRemaining(f -> parts.add(ObjectCodec.decode(f, Part.class)));
    parts.sort(Comparator.comparingInt(Part::partition).thenComparingInt(Part::sequence));
    int k = columns.k();
    Map<String, double[]> clusters = new LinkedHashMap<>();
    for (Part p : parts) {
      for (int i = 0; i < p.keys.length; i++) {
        double[] sum = clusters.computeIfAbsent(p.keys[i], key -> new double[k]);
        for (int c = 0; c < k; c++) {
          sum[c] += p.sums[i * k + c];
        }
      }
    }
    var sums = new SymmetricSum[ways];
    java.util.Arrays.setAll(sums, way -> columns.sum());
    long[] count = new long[ways];
    clusters.forEach(
        (key, sum) -> {
          int way = key.charAt(0) - '0';
          count[way]++;
          sums[way].add(sum, 0);
        });
    double[][] all = new double[ways][];
    java.util.Arrays.setAll(all, way -> sums[way].take());
    return new ScorePass.Sums(task, all, count, 0, new double[k]);
  }
}
