/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Leave-out variance components and the sets they need: against their definitions, densely. */
@Tag("numbers")
class LeaveOutVarianceTest {

  private static final long SEED = Long.getLong("test.seed", 20260615L);

  /**
   * A panel's leave-one-out set.
   *
   * @param worker number of each row, from 0 on without gaps
   */
  private record Panel(int[] worker, int[] firm, int workers, int firms) {}

  private static Panel panel(Random random, int workers, int firms, int years) {
    var pairs = new ArrayList<int[]>();
    for (int w = 0; w < workers; w++) {
      int firm = random.nextInt(firms);
      for (int t = 0; t < 1 + random.nextInt(years); t++) {
        firm = random.nextInt(3) == 0 ? random.nextInt(firms) : firm;
        pairs.add(new int[] {w, firm});
      }
    }
    var set = LeaveOneOutSet.of(LocalSpark.context().parallelize(pairs, 3));
    var kept = pairs.stream().filter(p -> set.contains(p[0], p[1])).toList();
    assertThat((long) kept.size()).isEqualTo(set.observations());
    var w = new TreeMap<Integer, Integer>();
    var f = new TreeMap<Integer, Integer>();
    set.workers().stream().forEach(k -> w.put(k, w.size()));
    set.firms().stream().forEach(k -> f.put(k, f.size()));
    return new Panel(
        kept.stream().mapToInt(p -> w.get(p[0])).toArray(),
        kept.stream().mapToInt(p -> f.get(p[1])).toArray(),
        w.size(),
        f.size());
  }

  /**
   * More workers than firms and fewer; a worker and a firm left out as references, or not;
   * covariates; weights.
   */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @CsvSource({
    "60,9,4,false,2,false",
    "60,9,4,true,2,true",
    "150,80,7,false,3,true",
    "60,9,4,true,0,true",
    "25,40,12,false,1,true",
    "70,25,8,true,3,false",
    "150,80,7,false,2,true"
  })
  void componentsAreThoseOfTheirDefinition(
      int workers, int firms, int years, boolean reference, int covariates, boolean weighted) {
    long seed = SEED + workers + covariates;
    var random = new Random(seed);
    Panel p = panel(random, workers, firms, years);
    int m = p.worker.length;
    int out = reference ? 1 : 0;
    int firstFirm = p.workers - out;
    int n = p.workers + p.firms - 2 * out + covariates;
    double[][] a = new double[m][n];
    double[] y = new double[m];
    double[] w = new double[m];
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < m; i++) {
      if (p.worker[i] >= out) {
        a[i][p.worker[i] - out] = 1;
      }
      if (p.firm[i] >= out) {
        a[i][firstFirm + p.firm[i] - out] = 1;
      }
      for (int k = 0; k < covariates; k++) {
        boolean constant = covariates > 1 && k == covariates - 1;
        a[i][n - covariates + k] = constant ? 1 : random.nextGaussian();
      }
      y[i] = 5 + 0.3 * (p.worker[i] % 5) + 0.2 * (p.firm[i] % 7) + random.nextGaussian();
      w[i] = weighted ? 1 + random.nextInt(3) : 1;
      rows.add(DenseFit.row(a[i], y[i], w[i]));
    }
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 4);
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .executors(2)
            .partitionOptions(new PartitionOptions(3, 4, 2, 0))
            .factorize(rdd)) {
      int[] ws = IntStream.range(0, firstFirm).toArray();
      int[] fs = IntStream.range(firstFirm, firstFirm + p.firms - out).toArray();
      VarianceComponents found = LeaveOutVariance.of(Inference.of(f, rdd), ws, fs);
      String what = "seed " + seed + ", " + m + " rows, " + n + " columns";
      var dense = new Dense(a, y, w, f.deadColumns(), ws, fs);
      check(found.plugIn(), dense.plugIn(), what);
      check(found.leaveOut(), dense.corrected(true), what);
      check(found.homoscedastic(), dense.corrected(false), what);
      // the other way is the narrow one now
      VarianceComponents other = LeaveOutVariance.of(Inference.of(f, rdd), fs, ws);
      check(swapped(other.plugIn()), dense.plugIn(), what);
      check(swapped(other.leaveOut()), dense.corrected(true), what);
      check(swapped(other.homoscedastic()), dense.corrected(false), what);
    }
  }

  private static VarianceComponents.Moments swapped(VarianceComponents.Moments m) {
    return new VarianceComponents.Moments(m.firm(), m.worker(), m.covariance());
  }

  private static void check(VarianceComponents.Moments found, double[] expected, String what) {
    assertThat(found.worker())
        .as("worker, %s", what)
        .isCloseTo(expected[0], within(Tolerances.ILL_CONDITIONED));
    assertThat(found.firm())
        .as("firm, %s", what)
        .isCloseTo(expected[1], within(Tolerances.ILL_CONDITIONED));
    assertThat(found.covariance())
        .as("covariance, %s", what)
        .isCloseTo(expected[2], within(Tolerances.ILL_CONDITIONED));
  }

  /** By dense matrices and the definition: M, B_ii = a_i'Z M Z a_i, sigma_i^2. */
  private static final class Dense {
    final DenseFit fit;
    final double[] y;
    final double[] w;
    final double total;
    final double mean;
    final double[][] worker;
    final double[][] firm;

    Dense(double[][] a, double[] y, double[] w, int[] dead, int[] ws, int[] fs) {
      double[][] scaled = new double[a.length][];
      double[] b = new double[a.length];
      for (int i = 0; i < a.length; i++) {
        double root = Math.sqrt(w[i]);
        scaled[i] = Arrays.stream(a[i]).map(v -> v * root).toArray();
        b[i] = y[i] * root;
      }
      fit = new DenseFit(scaled, b, dead);
      this.y = y;
      this.w = w;
      total = Arrays.stream(w).sum();
      double sum = 0;
      for (int i = 0; i < y.length; i++) {
        sum += w[i] * y[i];
      }
      mean = sum / total;
      worker = demeaned(a, ws);
      firm = demeaned(a, fs);
    }

    private double[][] demeaned(double[][] a, int[] columns) {
      double[][] d = new double[a.length][a[0].length];
      for (int j : columns) {
        double mean = 0;
        for (int i = 0; i < a.length; i++) {
          mean += w[i] * a[i][j] / total;
        }
        for (int i = 0; i < a.length; i++) {
          d[i][j] = a[i][j] - mean;
        }
      }
      return d;
    }

    private double[] moments(double[] x) {
      double[] sums = new double[3];
      for (int i = 0; i < worker.length; i++) {
        double u = 0;
        double v = 0;
        for (int j = 0; j < x.length; j++) {
          u += worker[i][j] * x[j];
          v += firm[i][j] * x[j];
        }
        sums[0] += w[i] * u * u / total;
        sums[1] += w[i] * v * v / total;
        sums[2] += w[i] * u * v / total;
      }
      return sums;
    }

    double[] plugIn() {
      return moments(fit.x);
    }

    double[] corrected(boolean leaveOut) {
      double[] result = plugIn();
      double sigma = fit.norm() * fit.norm() / (y.length - fit.live.length);
      for (int i = 0; i < y.length; i++) {
        double[] z = new double[fit.n];
        for (int j = 0; j < fit.n; j++) {
          for (int k = 0; k < fit.n; k++) {
            z[j] += fit.z[j][k] * fit.a[i][k];
          }
        }
        double[] b = moments(z);
        double s =
            leaveOut
                ? (y[i] - mean) * Math.sqrt(w[i]) * fit.residual[i] / (1 - fit.leverage[i])
                : sigma;
        for (int k = 0; k < 3; k++) {
          result[k] -= b[k] * s;
        }
      }
      return result;
    }
  }

  /** By brute force: a worker whose removal disconnects is never in the set, and it is maximal. */
  @Test
  void theSetIsConnectedWhoeverIsLeftOut() {
    for (int k = 0; k < 40; k++) {
      long seed = SEED + 1000 + k;
      var random = new Random(seed);
      int firms = 2 + random.nextInt(12);
      var pairs = new ArrayList<int[]>();
      for (int w = 0; w < 5 + random.nextInt(30); w++) {
        int firm = random.nextInt(firms);
        for (int t = 0; t < 1 + random.nextInt(3); t++) {
          firm = random.nextInt(3) == 0 ? random.nextInt(firms) : firm;
          pairs.add(new int[] {w, firm});
        }
      }
      var set = LeaveOneOutSet.of(LocalSpark.context().parallelize(pairs, 2));
      assertThat(set.workers()).as("seed %d", seed).isEqualTo(bruteForce(pairs));
      for (int[] p : pairs) {
        if (set.workers().get(p[0])) {
          assertThat(set.contains(p[0], p[1])).isEqualTo(set.firms().get(p[1]));
        }
      }
    }
  }

  /** Workers of several firms, few of them: cycles that hang on one worker. */
  @Test
  void sparseGraphsToo() {
    int some = 0;
    for (int k = 0; k < 1500; k++) {
      long seed = SEED + 5000 + k;
      var random = new Random(seed);
      int firms = 3 + random.nextInt(9);
      int workers = 4 + random.nextInt(10);
      var pairs = new ArrayList<int[]>();
      for (int w = 0; w < workers; w++) {
        int years = 1 + random.nextInt(4);
        for (int t = 0; t < years; t++) {
          pairs.add(new int[] {w, random.nextInt(firms)});
        }
      }
      var parts = new ArrayList<long[]>();
      LeaveOneOutSet.matches(pairs.subList(0, 3).iterator()).forEachRemaining(parts::add);
      LeaveOneOutSet.matches(pairs.subList(3, pairs.size()).iterator())
          .forEachRemaining(parts::add);
      BitSet expected = bruteForce(pairs);
      some += expected.isEmpty() || expected.cardinality() == workers ? 0 : 1;
      assertThat(LeaveOneOutSet.of(parts).workers()).as("seed %d", seed).isEqualTo(expected);
    }
    assertThat(some).isGreaterThan(300);
  }

  /** The same steps, each by trying every worker. */
  private static BitSet bruteForce(List<int[]> pairs) {
    List<int[]> left = largest(pairs);
    while (true) {
      var all = left;
      int whole = components(all).size();
      var drop = new BitSet();
      all.stream()
          .mapToInt(p -> p[0])
          .distinct()
          .filter(w -> components(without(all, w), all).size() > whole)
          .forEach(drop::set);
      if (drop.isEmpty()) {
        break;
      }
      left = largest(all.stream().filter(p -> !drop.get(p[0])).toList());
    }
    var workers = new BitSet();
    for (int[] p : left) {
      if (left.stream().filter(q -> q[0] == p[0]).count() > 1) {
        workers.set(p[0]);
      }
    }
    return workers;
  }

  private static List<int[]> without(List<int[]> pairs, int worker) {
    return pairs.stream().filter(p -> p[0] != worker).toList();
  }

  private static List<BitSet> components(List<int[]> pairs) {
    return components(pairs, pairs);
  }

  /** Sets of firms that the pairs connect, of all firms of the others. */
  private static List<BitSet> components(List<int[]> pairs, List<int[]> firmsOf) {
    var sets = new ArrayList<BitSet>();
    firmsOf.stream()
        .mapToInt(p -> p[1])
        .distinct()
        .sorted()
        .forEach(
            f -> {
              var one = new BitSet();
              one.set(f);
              sets.add(one);
            });
    for (int[] p : pairs) {
      for (int[] q : pairs) {
        if (p[0] == q[0]) {
          BitSet x = sets.stream().filter(s -> s.get(p[1])).findFirst().orElseThrow();
          BitSet y = sets.stream().filter(s -> s.get(q[1])).findFirst().orElseThrow();
          if (x != y) {
            x.or(y);
            sets.remove(y);
          }
        }
      }
    }
    return sets;
  }

  private static List<int[]> largest(List<int[]> pairs) {
    BitSet best = new BitSet();
    // of several of the same size, the one with the smallest worker number
    int least = Integer.MAX_VALUE;
    for (BitSet s : components(pairs)) {
      int first =
          pairs.stream()
              .filter(p -> s.get(p[1]))
              .mapToInt(p -> p[0])
              .min()
              .orElse(Integer.MAX_VALUE);
      if (s.cardinality() > best.cardinality()
          || s.cardinality() == best.cardinality() && first < least) {
        best = s;
        least = first;
      }
    }
    BitSet firms = best;
    return pairs.stream().filter(p -> firms.get(p[1])).toList();
  }

  @Test
  void whatCannotBeLeftOutIsSaid() {
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < 9; i++) {
      rows.add(DenseFit.row(new double[] {i < 4 ? 1 : 0, i > 3 ? 1 : 0, 1}, i * i % 7, 1));
    }
    rows.add(DenseFit.row(new double[] {0, 0, 1, 1}, 3, 1));
    var wide =
        rows.stream().map(r -> new SparseRow(r.indices(), r.values(), r.labels(), 1, 4)).toList();
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(wide, 2);
    try (QRFactorization f = GpuSparseQR.builder().backend(BackendChoice.CPU).factorize(rdd)) {
      Inference found = Inference.of(f, rdd);
      assertThatThrownBy(() -> LeaveOutVariance.of(found, new int[] {0, 1}, new int[] {3}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("1 rows have leverage 1");
      assertThatThrownBy(() -> LeaveOutVariance.of(found, new int[] {0, 1}, new int[] {1}))
          .hasMessageContaining("column 1 is given twice");
      assertThatThrownBy(() -> LeaveOutVariance.of(found, new int[] {0, 2}, new int[] {1}))
          .hasMessageContaining("a second one in column 2 of the workers");
    }
  }
}
