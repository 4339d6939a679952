/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import java.util.BitSet;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Seconds of the leave-out correction of a panel's variances, beside its factorization's: {@code
 * LeaveOutSpeed ROWS RUNS}. Ten years for each worker, 15% of whom move to a random firm each year;
 * one firm for twenty workers; two covariates; restricted to the leave-one-out connected set.
 */
public final class LeaveOutSpeed {

  private static final int YEARS = 10;

  private LeaveOutSpeed() {}

  private record Spell(int worker, int firm, double age, double tenure, double wage) {}

  private static Spell spell(long id, int firms) {
    int worker = (int) (id / YEARS);
    var random = new SplittableRandom(worker);
    int firm = random.nextInt(firms);
    double age = 20 + random.nextInt(30);
    double tenure = 0;
    for (int year = 0; year < id % YEARS; year++) {
      tenure++;
      if (random.nextInt(100) < 15) {
        firm = random.nextInt(firms);
        tenure = 0;
      }
    }
    var own = new SplittableRandom(-1 - id);
    double noise = own.nextDouble() + own.nextDouble() + own.nextDouble() - 1.5;
    return new Spell(
        worker, firm, age + id % YEARS + own.nextDouble(), tenure + own.nextDouble(), noise);
  }

  private static int[] numbers(BitSet set) {
    int[] number = new int[set.length()];
    int next = 0;
    for (int k = set.nextSetBit(0); k >= 0; k = set.nextSetBit(k + 1)) {
      number[k] = next++;
    }
    return number;
  }

  private static <T> T timed(String what, Supplier<T> action) {
    long begun = System.nanoTime();
    T result = action.get();
    System.out.printf(Locale.ROOT, "%-24s %8.2f s%n", what, (System.nanoTime() - begun) * 1e-9);
    return result;
  }

  /** See the class. */
  public static void main(String[] args) {
    long rows = Long.parseLong(args[0]);
    int firms = (int) Math.max(2, rows / YEARS / 20);
    var conf = BenchmarkSpark.conf("local[2]", "leave-out");
    try (var context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      JavaRDD<Long> ids =
          context
              .parallelize(IntStream.range(0, 4).boxed().toList(), 4)
              .flatMap(p -> LongStream.range(rows * p / 4, rows * (p + 1) / 4).iterator());
      for (int run = 0; run < Integer.parseInt(args[1]); run++) {
        once(ids, firms);
      }
    }
  }

  private static void once(JavaRDD<Long> ids, int firms) {
    LeaveOneOutSet set =
        timed(
            "leave-one-out set",
            () ->
                LeaveOneOutSet.of(
                    ids.map(
                        id -> {
                          Spell s = spell(id, firms);
                          return new int[] {s.worker, s.firm};
                        })));
    int[] worker = numbers(set.workers());
    int[] firm = numbers(set.firms());
    BitSet workersIn = set.workers();
    BitSet firmsIn = set.firms();
    int w = workersIn.cardinality();
    int f = firmsIn.cardinality();
    JavaRDD<SparseRow> rows =
        ids.map(id -> spell(id, firms))
            .filter(s -> workersIn.get(s.worker) && firmsIn.get(s.firm))
            .map(
                s ->
                    new SparseRow(
                        new int[] {worker[s.worker], w + firm[s.firm], w + f, w + f + 1},
                        new double[] {1, 1, s.age, s.tenure},
                        s.wage));
    System.out.printf(
        Locale.ROOT, "%,d observations of %,d workers and %,d firms%n", set.observations(), w, f);
    try (QRFactorization qr =
        timed("factorize", () -> GpuSparseQR.builder().build().factorize(rows))) {
      Inference fit = timed("fit", () -> Inference.of(qr, rows));
      VarianceComponents v =
          timed(
              "leave-out correction",
              () ->
                  LeaveOutVariance.of(
                      fit, IntStream.range(0, w).toArray(), IntStream.range(w, w + f).toArray()));
      System.out.printf(
          Locale.ROOT,
          "firms %.6g -> %.6g, workers %.6g -> %.6g%n",
          v.plugIn().firm(),
          v.leaveOut().firm(),
          v.plugIn().worker(),
          v.leaveOut().worker());
    }
  }
}
