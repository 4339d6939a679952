/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.inverse.KeptFront;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.InverseCodec;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.jspecify.annotations.Nullable;

/**
 * (A'A)^-1 on some columns. Where most of them meet in one front, a descent has left the inverse on
 * that front with the executors, and the symmetric rest, the columns that are not there, is solved
 * for once. Otherwise every strip is solved for.
 */
final class FactorInverseBlock {

  /** Most values of the front's block, 512 MB on an executor: 8,192 columns. */
  private static final long FRONT_VALUES = 1L << 26;

  /** Most values of the rest, 128 MB on the driver. */
  private static final long REST_VALUES = 1L << 24;

  /** Rows that a thread puts together at a time. */
  private static final int GRAIN = 64;

  /** By vectors and columns, in the caller's units, as does {@link NormalInverse}. */
  interface Solves {
    double[][] times(List<SparseRow> vectors, int[] columns, JobScope scope);
  }

  private final SolvePlan plan;
  private final Solves solves;
  private final int[] columns;
  private final @Nullable JavaRDD<byte[]> strips;

  /** Size k: index among the front's columns, or -1. */
  private final int[] place;

  /** Size k: columns that are not the front's. */
  private final double[] @Nullable [] rest;

  /** Columns that are solved for strip by strip. */
  FactorInverseBlock(SolvePlan plan, Solves solves, int[] columns) {
    this.plan = plan;
    this.solves = solves;
    this.columns = columns.clone();
    this.strips = null;
    this.place = new int[0];
    this.rest = new double[0][];
  }

  /**
   * With the inverse on a front.
   *
   * @param strips frames of the front's block
   */
  FactorInverseBlock(
      SolvePlan plan,
      Solves solves,
      int[] columns,
      KeptFront front,
      JavaRDD<byte[]> strips,
      JobScope scope) {
    this.plan = plan;
    this.solves = solves;
    this.columns = columns.clone();
    this.strips = strips;
    this.place =
        Arrays.stream(columns)
            .map(j -> Math.max(-1, Arrays.binarySearch(front.columns(), plan.position(j))))
            .toArray();
    int[] outside = IntStream.range(0, columns.length).filter(k -> place[k] < 0).toArray();
    this.rest = new double[columns.length][];
    double[][] solved = solves.times(units(outside), columns, scope);
    for (int k = 0; k < outside.length; k++) {
      rest[outside[k]] = solved[k];
    }
  }

  /** The front in which so many of the columns meet that it pays to keep the inverse there. */
  static Optional<KeptFront> front(SolvePlan plan, int[] columns) {
    SymbolicAnalysis analysis = plan.analysis();
    int[] pivots = new int[analysis.fronts()];
    var wanted = new BitSet();
    int best = 0;
    for (int j : columns) {
      int p = plan.position(j);
      int f = plan.frontOf(p);
      if (!wanted.get(p) && f >= 0) {
        pivots[f]++;
        best = pivots[f] >= pivots[best] ? f : best;
      }
      wanted.set(p);
    }
    if (pivots.length == 0 || pivots[best] == 0) {
      return Optional.empty();
    }
    int fn = analysis.fn(best);
    int top = best;
    int[] there =
        IntStream.range(0, fn).map(k -> analysis.column(top, k)).filter(wanted::get).toArray();
    long outside = wanted.cardinality() - there.length;
    boolean pays =
        there.length > outside
            && (long) there.length * there.length <= FRONT_VALUES
            && (long) fn * fn < Integer.MAX_VALUE - 8
            && outside * columns.length <= REST_VALUES;
    return pays ? Optional.of(new KeptFront(best, there)) : Optional.empty();
  }

  private List<SparseRow> units(int[] which) {
    var list = new ArrayList<SparseRow>(which.length);
    for (int k : which) {
      list.add(new SparseRow(new int[] {columns[k]}, new double[] {1}, 0));
    }
    return list;
  }

  int columns() {
    return columns.length;
  }

  /** See {@link io.sparqr.spark.model.InverseBlock#strip}. */
  double[][] strip(int from, int to, JobScope scope) {
    Objects.checkFromToIndex(from, to, columns.length);
    int width = to - from;
    if (strips == null) {
      double[][] solved = solves.times(units(IntStream.range(from, to).toArray()), columns, scope);
      return rows(i -> IntStream.range(0, width).mapToDouble(k -> solved[k][i]).toArray());
    }
    int low = IntStream.range(from, to).map(k -> place[k]).filter(p -> p >= 0).min().orElse(0);
    int high = Arrays.stream(place, from, to).max().orElse(-1) + 1;
    List<byte[]> frames = List.of();
    if (low < high) {
      scope.describe("columns of the inverse");
      JavaRDD<byte[]> some = strips.filter(frame -> InverseCodec.meets(frame, low, high));
      frames = SparkErrors.unwrap(some::collect);
    }
    var found = new ArrayList<Columns>();
    int[] there = Arrays.stream(place).filter(p -> p >= 0).distinct().toArray();
    for (byte[] frame : frames) {
      found.add(
          new Columns(
              InverseCodec.from(frame),
              InverseCodec.to(frame),
              InverseCodec.decode(frame, there.length)));
    }
    return rows(i -> row(i, from, to, found));
  }

  /** Columns [from, to) of the front's block. */
  private record Columns(int from, int to, double[] value) {}

  private double[][] rows(IntFunction<double[]> row) {
    double[][] rows = new double[columns.length][];
    int threads = Runtime.getRuntime().availableProcessors();
    Parallel.loop(
        rows.length,
        GRAIN,
        threads,
        (from, to, thread) -> {
          for (int i = from; i < to; i++) {
            rows[i] = row.apply(i);
          }
        });
    return rows;
  }

  private double[] row(int i, int from, int to, List<Columns> found) {
    double[] row = new double[to - from];
    double[] mirrored = rest[i];
    for (int k = from; k < to; k++) {
      double[] own = rest[k];
      if (own != null) {
        row[k - from] = own[i];
      } else if (mirrored != null) {
        row[k - from] = mirrored[k];
      }
    }
    for (Columns c : mirrored == null ? found : List.<Columns>of()) {
      int at = place[i] * (c.to - c.from) - c.from;
      for (int k = from; k < to; k++) {
        if (place[k] >= c.from && place[k] < c.to) {
          double z = plan.scaled(columns[k], c.value[at + place[k]]);
          row[k - from] = plan.scaled(columns[i], z);
        }
      }
    }
    return row;
  }
}
