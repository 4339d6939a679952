/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.InverseBlock;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks of (A'A)^-1, solved on some fronts: as from all; with errors of a front above many. */
@Tag("numbers")
class InverseBlockTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);

  /** Workers, firms, then two other columns; dependent unless a firm is left out. */
  private static List<SparseRow> panel(int workers, int firms, int years, boolean weighted) {
    var random = new Random(SEED + workers);
    var rows = new ArrayList<SparseRow>();
    for (int w = 0; w < workers; w++) {
      int firm = random.nextInt(firms);
      for (int t = 0; t < years; t++) {
        firm = random.nextInt(3) == 0 ? random.nextInt(firms) : firm;
        int n = workers + firms;
        double[] value = {1, 1, random.nextGaussian(), 2 + random.nextDouble()};
        double weight = weighted ? 1 + random.nextInt(4) : 1;
        double[] label = {random.nextGaussian()};
        rows.add(
            new SparseRow(new int[] {w, workers + firm, n, n + 1}, value, label, weight, n + 2));
      }
    }
    return rows;
  }

  private static double[][] dense(List<SparseRow> rows, int n) {
    double[][] a = new double[rows.size()][n];
    for (int i = 0; i < a.length; i++) {
      SparseRow row = rows.get(i);
      for (int e = 0; e < row.indices().length; e++) {
        a[i][row.indices()[e]] = Math.sqrt(row.weight()) * row.values()[e];
      }
    }
    return a;
  }

  /** One level and several; short vectors and those that fill pieces of several threads. */
  @SampledCases(oneIn = 2)
  @ParameterizedTest
  @CsvSource({"250,70,4,1,false,3", "250,70,4,3,true,400", "120,150,5,3,false,40"})
  void aBlockIsThatOfTheWhole(
      int workers, int firms, int years, int levels, boolean weighted, int vectors) {
    List<SparseRow> rows = panel(workers, firms, years, weighted);
    int n = workers + firms + 2;
    var options = new PartitionOptions(levels, 4, Math.min(levels, 2), levels == 1 ? 1e12 : 0);
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .executors(2)
            .partitionOptions(options)
            .factorize(LocalSpark.context().parallelize(rows, 3))) {
      assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(Math.min(levels, 2));
      assertThat(f.deadColumns()).as("seed %d", SEED).isNotEmpty();
      new DenseStatistics(dense(rows, n), new double[rows.size()], f.deadColumns())
          .check(dense(rows, n), f.unscaledErrors(), "panel of seed " + SEED);
      var random = new Random(SEED);
      int[] columns =
          random.ints(0, firms + 2).distinct().limit(20).map(j -> j + workers).toArray();
      var units = new ArrayList<SparseRow>();
      for (int k = 0; k < vectors; k++) {
        int j = workers + random.nextInt(firms + 2);
        // some of two columns, some of a worker, too
        int[] index = k % 3 == 0 ? new int[] {k % workers, j} : new int[] {j};
        units.add(new SparseRow(index, random.doubles(index.length).toArray(), 0));
      }
      double[][] block = f.inverseTimes(units, columns);
      double[][] all = f.inverseTimes(units);
      for (int k = 0; k < vectors; k++) {
        double norm = Problems.norm(all[k]);
        for (int e = 0; e < columns.length; e++) {
          assertThat(block[k][e])
              .as("vector %d, column %d, seed %d", k, columns[e], SEED)
              .isCloseTo(all[k][columns[e]], within(Tolerances.RANDOM * norm));
        }
      }
      if (vectors > 3) {
        double[] order = new double[n];
        for (int p = 0; p < n; p++) {
          order[f.permutation().original(p)]++;
        }
        assertThat(order).containsOnly(1);
        assertThatThrownBy(() -> f.inverseTimes(units, new int[] {n}))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  /**
   * All firms and other columns, most of them in one front: its inverse is kept, and the rest
   * solved for; against all of (A'A)^-1 by solves, in strips that end anywhere.
   */
  @ParameterizedTest
  @CsvSource({"250,70,4,1,false,1", "250,70,4,3,true,1", "250,170,4,3,false,0"})
  void aKeptBlockIsThatOfTheSolves(
      int workers, int firms, int years, int levels, boolean weighted, int kept) {
    List<SparseRow> rows = panel(workers, firms, years, weighted);
    int n = workers + firms + 2;
    var options = new PartitionOptions(levels, 4, Math.min(levels, 2), levels == 1 ? 1e12 : 0);
    var random = new Random(SEED + firms);
    // in any order, one of them twice, one worker, too
    List<Integer> some = new ArrayList<>(IntStream.range(workers, n).boxed().toList());
    some.add(workers + 1);
    some.add(0);
    Collections.shuffle(some, random);
    int[] columns = some.stream().mapToInt(Integer::intValue).toArray();
    var rdd = LocalSpark.context().parallelize(rows, 3);
    var solver =
        GpuSparseQR.builder().backend(BackendChoice.CPU).executors(2).partitionOptions(options);
    try (QRFactorization f = solver.factorize(rdd)) {
      assertThat(f.deadColumns()).as("seed %d", SEED).isNotEmpty();
      int before = LocalSpark.context().sc().getPersistentRDDs().size();
      var later = new InverseBlock[1];
      try (InverseBlock z = f.inverseBlock(columns)) {
        assertThat(LocalSpark.context().sc().getPersistentRDDs().size())
            .as("a front is kept, and the leverages are there, or no front has most of them")
            .isEqualTo(before + 2 * kept);
        assertThat(z.columns()).isEqualTo(columns.length);
        double[][] all = f.inverseTimes(units(columns));
        for (int from = 0, to; from < columns.length; from = to) {
          to = Math.min(columns.length, from + 1 + random.nextInt(90));
          double[][] strip = z.strip(from, to);
          assertThat(strip).hasDimensions(columns.length, to - from);
          for (int i = 0; i < columns.length; i++) {
            for (int k = from; k < to; k++) {
              assertThat(strip[i][k - from])
                  .as("row %d, column %d, seed %d", columns[i], columns[k], SEED)
                  .isCloseTo(all[k][columns[i]], within(Tolerances.RANDOM * Problems.norm(all[k])));
            }
          }
        }
        assertThat(z.strip(3, 3)).hasDimensions(columns.length, 0);
        assertThatThrownBy(() -> z.strip(3, columns.length + 1))
            .isInstanceOf(IndexOutOfBoundsException.class);
        later[0] = z;
      }
      assertThatThrownBy(() -> later[0].strip(0, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
      assertThat(LocalSpark.context().sc().getPersistentRDDs().size())
          .as("the leverages stay")
          .isEqualTo(before + kept);
      double[] errors = f.unscaledErrors();
      double[] leverages =
          f.leverages().collect().stream().flatMapToDouble(Arrays::stream).toArray();
      try (QRFactorization g = solver.factorize(rdd)) {
        assertThat(errors).as("the same descent").isEqualTo(g.unscaledErrors());
        assertThat(leverages)
            .isEqualTo(g.leverages().collect().stream().flatMapToDouble(Arrays::stream).toArray());
      }
      assertThatThrownBy(() -> f.inverseBlock(0, n)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  /**
   * Fronts of 30 columns under one of 420, of which they have 265 or 8: the long tails are pieces
   * of work of their own, the short ones between them are not.
   */
  @Test
  void childrenWithLongTailsAmongOthers() {
    var random = new Random(SEED + 7);
    int groups = 8;
    int own = 30;
    int wide = 420;
    int n = groups * own + wide;
    var rows = new ArrayList<SparseRow>();
    for (int g = 0; g < groups; g++) {
      int reach = g % 2 == 0 ? 8 : 265;
      int group = g * own;
      int first = groups * own + 20 * g;
      for (int k = 0; k < reach; k++) {
        IntStream mine = random.ints(4, group, group + own);
        IntStream above = IntStream.concat(IntStream.of(k), random.ints(3, 0, reach));
        int[] index =
            IntStream.concat(mine, above.map(j -> first + j)).distinct().sorted().toArray();
        rows.add(new SparseRow(index, random.doubles(index.length, -1, 1).toArray(), 0));
      }
    }
    for (int j = 0; j < n; j++) {
      rows.add(new SparseRow(new int[] {j}, new double[] {1}, 0));
    }
    var rdd = LocalSpark.context().parallelize(rows, 2);
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .ordering(OrderingMethod.NATURAL)
            .singletons(false)
            .factorize(rdd)) {
      new DenseStatistics(dense(rows, n), new double[rows.size()], f.deadColumns())
          .check(dense(rows, n), f.unscaledErrors(), "long tails, seed " + SEED);
    }
  }

  private static List<SparseRow> units(int[] columns) {
    return Arrays.stream(columns)
        .mapToObj(j -> new SparseRow(new int[] {j}, new double[] {1}, 0))
        .toList();
  }

  /** Corners of a grid: what lies between is above them in the tree, and in no vector. */
  @Test
  void frontsAboveCountThoughNoColumnIsTheirs() {
    CsrMatrix a = Problems.grid(14, SEED);
    int n = a.columns();
    var one = new SparseRow(new int[] {0}, new double[] {1}, 0);
    var two = new SparseRow(new int[] {n - 1}, new double[] {-2}, 0);
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .ordering(OrderingMethod.NESTED_DISSECTION)
            .partitionOptions(new PartitionOptions(3, 4, 2, 0))
            .factorize(Problems.rdd(a, 2, Problems.rhs(a.rows(), SEED)))) {
      double[][] all = f.inverseTimes(List.of(one, two));
      double[][] some = f.inverseTimes(List.of(one, two), new int[] {n - 1, 1, 0});
      for (int k = 0; k < 2; k++) {
        assertThat(some[k])
            .as("seed %d", SEED)
            .containsExactly(
                new double[] {all[k][n - 1], all[k][1], all[k][0]},
                within(Tolerances.RANDOM * Problems.norm(all[k])));
      }
    }
  }

  /** With singletons, and with dependent columns chosen by the caller's order: from the whole. */
  @Test
  void whereAllFrontsMatterToo() {
    var random = new Random(SEED);
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < 90; i++) {
      int[] index = random.ints(0, 30).distinct().limit(4).sorted().toArray();
      rows.add(new SparseRow(index, random.doubles(4, -1, 1).toArray(), random.nextGaussian()));
    }
    rows.add(new SparseRow(new int[] {3, 30}, new double[] {1, 2}, 1));
    List<SparseRow> units =
        IntStream.range(0, 31)
            .mapToObj(j -> new SparseRow(new int[] {j}, new double[] {1}, 0))
            .toList();
    try (QRFactorization f =
        GpuSparseQR.builder().factorize(LocalSpark.context().parallelize(rows, 2))) {
      double[][] all = f.inverseTimes(units);
      double[][] some = f.inverseTimes(units, new int[] {30, 0, 3});
      for (int k = 0; k < 31; k++) {
        double[] expected = {all[k][30], all[k][0], all[k][3]};
        assertThat(some[k])
            .as("seed %d", SEED)
            .containsExactly(expected, within(Tolerances.RANDOM));
      }
      try (InverseBlock z = f.inverseBlock(30, 0, 3)) {
        double[][] strip = z.strip(1, 3);
        int[] at = {30, 0, 3};
        for (int i = 0; i < 3; i++) {
          assertThat(strip[i])
              .as("seed %d", SEED)
              .containsExactly(
                  new double[] {some[at[i]][1], some[at[i]][2]}, within(Tolerances.RANDOM));
        }
      }
    }
  }
}
