/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The choice of the dependent columns to drop: random designs as the blocks of one matrix. The
 * oracle of each is dense QR of the columns that lm's rule keeps.
 */
@Tag("numbers")
class DroppedColumnsTest {

  private static final long SEED = Long.getLong("test.seed", 20261123L);
  private static final int BLOCKS = Integer.getInteger("sparqr.dropped.blocks", 60);

  /** Many designs side by side: their columns, rows and expected results. */
  private static final class Blocks {
    final List<double[][]> a = new ArrayList<>();
    final List<double[]> b = new ArrayList<>();
    final List<SparseRow> rows = new ArrayList<>();
    final List<Integer> keep = new ArrayList<>();
    final List<Integer> drop = new ArrayList<>();
    int columns;

    Blocks(Random random, boolean wishes) {
      while (a.size() < BLOCKS) {
        Designs.Design design = Designs.random(random);
        if (design.ridge() == 0) {
          // A ridge under columns of 1e8 makes them independent by 1e-10.
          a.add(design.weighted());
          columns += design.columns();
        }
      }
      int first = 0;
      for (double[][] block : a) {
        double[] y = random.ints(block.length, -9, 10).asDoubleStream().toArray();
        b.add(y);
        for (int i = 0; i < block.length; i++) {
          rows.add(row(block[i], first, y[i], columns));
        }
        for (int j = 0; wishes && j < block[0].length; j++) {
          int wish = random.nextInt(6);
          if (wish < 2) {
            (wish == 0 ? keep : drop).add(first + j);
          }
        }
        first += block[0].length;
      }
      java.util.Collections.shuffle(keep, random);
    }

    /** Columns of a block that lm's rule drops, in the requested order. */
    int[] dropped(int k, int first) {
      double[][] block = a.get(k);
      int n = block[0].length;
      var wanted = new ArrayList<Integer>();
      keep.stream().filter(j -> j >= first && j < first + n).forEach(j -> wanted.add(j - first));
      for (int j = 0; j < n; j++) {
        if (!keep.contains(first + j) && !drop.contains(first + j)) {
          wanted.add(j);
        }
      }
      drop.stream()
          .filter(j -> j >= first && j < first + n)
          .sorted()
          .forEach(j -> wanted.add(j - first));
      var kept = new ArrayList<Integer>();
      for (int j : wanted) {
        int[] others = IntStream.range(0, n).filter(i -> !kept.contains(i)).toArray();
        var basis = new DenseStatistics(block, b.get(k), others);
        if (kept.size() < block.length && basis.distance(block, j) > 1e-7) {
          kept.add(j);
        }
      }
      return IntStream.range(0, n).filter(j -> !kept.contains(j)).toArray();
    }
  }

  private static SparseRow row(double[] dense, int first, double b, int n) {
    int[] index = IntStream.range(0, dense.length).filter(j -> dense[j] != 0).toArray();
    double[] value = Arrays.stream(index).mapToDouble(j -> dense[j]).toArray();
    int[] moved = Arrays.stream(index).map(j -> j + first).toArray();
    return new SparseRow(moved, value, new double[] {b}, 1, n);
  }

  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @CsvSource({"true,1,false", "true,3,true", "false,1,true", "false,2,false"})
  void whatGoesIsWhatTheUsersOrderSays(boolean singletons, int levels, boolean wishes) {
    var blocks = new Blocks(new Random(SEED + levels), wishes);
    var builder =
        GpuSparseQR.builder()
            .singletons(singletons)
            .ordering(OrderingMethod.AMD)
            .executors(2)
            .partitionOptions(new PartitionOptions(3, 4, levels, 0))
            .dropLater(true);
    if (wishes) {
      builder
          .keep(blocks.keep.stream().mapToInt(j -> j).toArray())
          .drop(blocks.drop.stream().mapToInt(j -> j).toArray());
    }
    try (QRFactorization f = builder.factorize(LocalSpark.context().parallelize(blocks.rows, 3));
        QRFactorization byR =
            builder.dropLater(false).factorize(LocalSpark.context().parallelize(blocks.rows, 3))) {
      assertThat(f.summary().warnings()).noneMatch(w -> w.contains("fill-reducing"));
      assertThat(f.rank()).isEqualTo(byR.rank());
      assertThat(f.deadColumns()).isNotEqualTo(byR.deadColumns());
      LeastSquaresSolution s = f.solve();
      assertThat(s.residualNorm()).isEqualTo(byR.solve().residualNorm());
      assertThat(s.deadColumns()).containsExactly(f.deadColumns());
      for (int j : s.deadColumns()) {
        assertThat(s.x()[j]).as("dropped column %d, seed %d", j, SEED).isZero();
      }
      for (Dependency d : f.dependencies()) {
        assertThat(Arrays.stream(d.on()).filter(j -> Arrays.binarySearch(f.deadColumns(), j) >= 0))
            .as("dropped columns that column %d is made of, seed %d", d.column(), SEED)
            .isEmpty();
      }
      check(blocks, f, s.x());
      checkInverse(f);
    }
  }

  private static void check(Blocks blocks, QRFactorization f, double[] x) {
    double[] unscaled = f.unscaledErrors();
    int first = 0;
    int others = 0;
    for (int k = 0; k < BLOCKS; k++) {
      double[][] a = blocks.a.get(k);
      int from = first;
      int to = from + a[0].length;
      String what = "block " + k + ", seed " + SEED;
      int[] expected = blocks.dropped(k, from);
      int[] found =
          Arrays.stream(f.deadColumns())
              .filter(j -> j >= from && j < to)
              .map(j -> j - from)
              .toArray();
      assertThat(found).as(what).containsExactly(expected);
      var oracle = new DenseStatistics(a, blocks.b.get(k), expected);
      oracle.check(a, Arrays.copyOfRange(unscaled, from, to), what);
      for (int j = from; j < to; j++) {
        double size = 0;
        for (int i = from; i < to; i++) {
          size = Math.max(size, Math.abs(oracle.x[i - from] * norm(a, i - from)));
        }
        assertThat(Math.abs(x[j] - oracle.x[j - from]) * norm(a, j - from))
            .as("x_%d, %s", j, what)
            .isLessThanOrEqualTo(oracle.tolerance() * size * 10);
      }
      first = to;
      others += expected.length;
    }
    assertThat(others).isGreaterThan(BLOCKS);
  }

  /** (A'A)^-1 e_j and ||R^-T e_j|| of the kept columns agree with the errors. */
  private static void checkInverse(QRFactorization f) {
    double[] unscaled = f.unscaledErrors();
    List<SparseRow> vectors = new ArrayList<>();
    for (int j = 0; vectors.size() < 60; j++) {
      vectors.add(
          new SparseRow(
              new int[] {j}, new double[] {1}, new double[] {0}, 1, f.analysis().columns()));
    }
    double[][] times = f.inverseTimes(vectors);
    HalfSolve half = f.halfSolve(vectors);
    int compared = 0;
    for (int j = 0; j < vectors.size(); j++) {
      for (int d : f.deadColumns()) {
        assertThat(times[j][d]).as("column %d, dropped %d, seed %d", j, d, SEED).isZero();
      }
      double error = unscaled[j];
      if (!Double.isNaN(error) && error > 1e-8 && error < 1e8) {
        assertThat(times[j][j] / error / error)
            .as("column %d", j)
            .isCloseTo(1, within(Tolerances.RANDOM));
        assertThat(half.norm(j) / error).as("column %d", j).isCloseTo(1, within(Tolerances.RANDOM));
        compared++;
      }
    }
    assertThat(compared).isGreaterThan(20);
  }

  private static double norm(double[][] a, int j) {
    double norm = 0;
    for (double[] row : a) {
      norm = Math.hypot(norm, row[j]);
    }
    return norm;
  }

  /** Intercept, two levels, two levels: the combinations that the last columns are. */
  @Test
  void whatADroppedColumnIsMadeOf(@TempDir Path folder) throws IOException {
    double[][] a = {
      {1, 1, 0, 2, 0}, {1, 1, 0, 0, 2}, {1, 0, 1, 2, 0}, {1, 0, 1, 0, 2}, {1, 0, 1, 2, 0}
    };
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < a.length; i++) {
      rows.add(row(a[i], 0, i * i, 5));
    }
    var data = LocalSpark.context().parallelize(rows, 2);
    try (QRFactorization f = GpuSparseQR.builder().dropLater(true).factorize(data)) {
      assertThat(f.deadColumns()).containsExactly(2, 4);
      Dependency second = f.dependencies().get(0);
      assertThat(second.column()).isEqualTo(2);
      assertThat(second.on()).containsExactly(0, 1);
      assertThat(second.coefficients())
          .containsExactly(new double[] {1, -1}, within(Tolerances.REORDERED));
      Dependency fourth = f.dependencies().get(1);
      assertThat(fourth.column()).isEqualTo(4);
      assertThat(fourth.on()).containsExactly(0, 3);
      assertThat(fourth.coefficients())
          .containsExactly(new double[] {2, -1}, within(Tolerances.REORDERED));
    }
    try (QRFactorization f = GpuSparseQR.builder().keep(4, 2).drop(0).factorize(data)) {
      assertThat(f.deadColumns()).containsExactly(0, 3);
      String path = folder.resolve("saved").toString();
      f.save(path);
      try (QRFactorization loaded = GpuSparseQR.load(LocalSpark.context(), path)) {
        assertThat(loaded.deadColumns()).containsExactly(0, 3);
        assertThat(loaded.solve().x()).containsExactly(f.solve().x());
      }
    }
    // On request, also where R's own choice is kept.
    try (QRFactorization f = GpuSparseQR.builder().factorize(data)) {
      double[] x = f.solve().x();
      int[] dead = f.deadColumns();
      assertThat(f.dependencies()).hasSize(2);
      assertThat(f.deadColumns()).containsExactly(dead);
      for (Dependency d : f.dependencies()) {
        for (double[] row : a) {
          double sum = 0;
          for (int i = 0; i < d.on().length; i++) {
            sum += d.coefficients()[i] * row[d.on()[i]];
          }
          assertThat(sum).isCloseTo(row[d.column()], within(Tolerances.REORDERED));
        }
      }
      assertThat(f.solve().x()).containsExactly(x);
    }
    assertThatThrownBy(() -> GpuSparseQR.builder().keep(1).drop(1).factorize(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("column 1 is to be kept and to be dropped");
    assertThatThrownBy(() -> GpuSparseQR.builder().keep(5).factorize(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("column 5 is to be kept or dropped, of 5 columns");
  }
}
