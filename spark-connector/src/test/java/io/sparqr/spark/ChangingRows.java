/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;

/**
 * A source of {@link #PARTITIONS} partitions that counts how often each was computed, and gives
 * other rows in some of them from a certain time on. For local masters: the counts are this JVM's.
 */
final class ChangingRows {

  static final int PARTITIONS = 3;

  private static final Map<String, AtomicInteger> COMPUTED = new ConcurrentHashMap<>();

  private final String name = UUID.randomUUID().toString();
  private final List<SparseRow> rows;
  private final Change change;
  private final int from;

  /** The change of the rows of partition 1, or of all partitions where it says so. */
  enum Change {
    NONE("") {
      @Override
      void to(List<SparseRow> rows, int time) {}
    },
    /** Entries in reverse order, a stored zero, a row of weight 0: no result depends on these. */
    HARMLESS("") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.replaceAll(ChangingRows::turned);
        SparseRow r = rows.get(0);
        rows.add(2, new SparseRow(r.indices(), r.values(), new double[] {time}, 0, r.columns()));
      }
    },
    RANDOM("with other columns or values and other labels") {
      @Override
      void to(List<SparseRow> rows, int time) {
        var random = new Random(time);
        rows.replaceAll(
            r ->
                new SparseRow(
                    r.indices(),
                    random.doubles(r.indices().length, 1, 2).toArray(),
                    new double[] {random.nextDouble()},
                    1,
                    r.columns()));
      }
    },
    HALF_GONE("rows, then") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.subList(rows.size() / 2, rows.size()).clear();
      }
    },
    ALL_GONE("rows, then 0:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.clear();
      }
    },
    ONE_DOUBLED("rows, then") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.add(4, rows.get(3));
      }
    },
    ONE_FOR_ANOTHER("with other columns or values and other labels") {
      @Override
      void to(List<SparseRow> rows, int time) {
        // two rows with the same number of entries
        SparseRow first = rows.get(3);
        int k = 4;
        while (rows.get(k).indices().length != first.indices().length) {
          k++;
        }
        rows.set(3, rows.get(k));
      }
    },
    ONE_BIT("with other columns or values:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        SparseRow r = rows.get(5);
        double[] value = r.values().clone();
        value[value.length - 1] = Math.nextUp(value[value.length - 1]);
        rows.set(5, new SparseRow(r.indices(), value, r.labels(), r.weight(), r.columns()));
      }
    },
    SIGNS("with other columns or values:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.replaceAll(
            r -> {
              double[] value = r.values().clone();
              for (int k = 0; k < value.length; k++) {
                value[k] = -value[k];
              }
              return new SparseRow(r.indices(), value, r.labels(), r.weight(), r.columns());
            });
      }
    },
    ONE_NONZERO_LESS("nonzeros, then") {
      @Override
      void to(List<SparseRow> rows, int time) {
        SparseRow r = rows.get(5);
        double[] value = r.values().clone();
        value[0] = 0;
        rows.set(5, new SparseRow(r.indices(), value, r.labels(), r.weight(), r.columns()));
      }
    },
    OTHER_COLUMNS("with other columns or values:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.replaceAll(
            r -> {
              int[] index = r.indices().clone();
              for (int k = 0; k < index.length; k++) {
                index[k] = r.columns() - 1 - index[k];
              }
              return new SparseRow(index, r.values(), r.labels(), r.weight(), r.columns());
            });
      }
    },
    LABELS("with other labels:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        SparseRow r = rows.get(2);
        double[] label = {-r.labels()[0]};
        rows.set(2, new SparseRow(r.indices(), r.values(), label, r.weight(), r.columns()));
      }
    },
    WEIGHTS("with other weights:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        SparseRow r = rows.get(2);
        rows.set(2, new SparseRow(r.indices(), r.values(), r.labels(), 1.25, r.columns()));
      }
    },
    ORDER("rows, then the same in another order:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.add(rows.remove(3));
      }
    },
    NAN("row 5 of partition 1, column") {
      @Override
      void to(List<SparseRow> rows, int time) {
        SparseRow r = rows.get(5);
        double[] value = r.values().clone();
        value[0] = Double.NaN;
        rows.set(5, new SparseRow(r.indices(), value, r.labels(), r.weight(), r.columns()));
      }
    },
    ONE_COLUMN_MORE("row 0 of partition 1 has") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.replaceAll(
            r -> new SparseRow(r.indices(), r.values(), r.labels(), r.weight(), r.columns() + 1));
      }
    },
    TWO_LABELS("with other labels:") {
      @Override
      void to(List<SparseRow> rows, int time) {
        rows.replaceAll(
            r -> {
              double[] labels = {r.labels()[0], 1};
              return new SparseRow(r.indices(), r.values(), labels, r.weight(), r.columns());
            });
      }
    };

    /** The words that the message must contain. */
    final String told;

    Change(String told) {
      this.told = told;
    }

    /** Changes the rows, for the given time of computing them. */
    abstract void to(List<SparseRow> rows, int time);
  }

  private static SparseRow turned(SparseRow r) {
    int n = r.indices().length;
    int[] index = new int[n + 1];
    double[] value = new double[n + 1];
    for (int k = 0; k < n; k++) {
      index[k] = r.indices()[n - 1 - k];
      value[k] = r.values()[n - 1 - k];
    }
    index[n] = Arrays.stream(r.indices()).noneMatch(j -> j == 0) ? 0 : r.columns() - 1;
    boolean free = Arrays.stream(r.indices()).noneMatch(j -> j == index[n]);
    return new SparseRow(
        free ? index : Arrays.copyOf(index, n),
        free ? value : Arrays.copyOf(value, n),
        r.labels(),
        r.weight(),
        r.columns());
  }

  /** Rows of A and b; partition 1 changes from its {@code from}-th computing (from 0) on. */
  ChangingRows(CsrMatrix a, double[] b, Change change, int from) {
    this.rows = Problems.rows(a, b);
    this.change = change;
    this.from = from;
  }

  /** The source. */
  JavaRDD<SparseRow> rdd() {
    List<SparseRow> all = rows;
    Change how = change;
    int when = from;
    String key = name;
    List<Integer> partitions = IntStream.range(0, PARTITIONS).boxed().toList();
    return LocalSpark.context()
        .parallelize(partitions, PARTITIONS)
        .mapPartitionsWithIndex((p, it) -> compute(key, all, how, when, p), false);
  }

  private static Iterator<SparseRow> compute(
      String key, List<SparseRow> all, Change change, int from, int partition) {
    int time =
        COMPUTED.computeIfAbsent(key + partition, k -> new AtomicInteger()).getAndIncrement();
    int size = all.size();
    var part =
        new ArrayList<>(
            all.subList(partition * size / PARTITIONS, (partition + 1) * size / PARTITIONS));
    if (time >= from && partition == 1) {
      change.to(part, time);
    }
    return part.iterator();
  }

  /** How often partition 1 was computed. */
  int times() {
    return COMPUTED.get(name + 1).get();
  }
}
