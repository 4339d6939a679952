/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.threads.Crew;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The parts of a front by its Gram matrix, as the last front of a panel: {@code GramSpeed FIRMS
 * WORKERS ROUNDS}. Each worker leaves a trapezoid of one to four firms and two covariates. Prints
 * seconds of F'F, Cholesky, measurement and all, with as many threads as there are processors.
 */
public final class GramSpeed {

  private static final Crew PARALLEL =
      (count, task) -> IntStream.range(0, count).parallel().forEach(task);

  private GramSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    int firms = Integer.parseInt(args[0]);
    RowPieces pieces = pieces(firms, Integer.parseInt(args[1]));
    int n = firms + 2;
    GramShape shape = GramShape.single(n, n);
    var kernels = BlasLoader.kernels();
    var chunks = new GramChunks(shape);
    var products = new RowProducts(pieces, chunks);
    for (int round = 0; round < Integer.parseInt(args[2]); round++) {
      long t = System.nanoTime();
      double[] squares = products.squares(PARALLEL);
      var any = GramFronts.Small.ANY;
      var fronts = new GramFronts(kernels, shape, chunks, pieces, 1, squares, 0, any);
      fronts.factor(part -> {}, PARALLEL);
      double factored = seconds(t);
      t = System.nanoTime();
      var triangle = new GramTriangle(shape, chunks, fronts.weak, fronts.front);
      double error = GramMeasure.worst(triangle, products, squares, GramQr.allowed(n), PARALLEL);
      double measured = seconds(t);
      t = System.nanoTime();
      var all = GramQr.factor(kernels, pieces, shape, 1, 1e-9, part -> {}, PARALLEL);
      System.out.printf(
          Locale.ROOT,
          "%d columns: F'F and Cholesky %.3f s, measured %.3f s (%.2f eps), all %.3f s %s%n",
          n,
          factored,
          measured,
          error / Math.ulp(1.0),
          seconds(t),
          all.refused());
    }
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) * 1e-9;
  }

  private static RowPieces pieces(int firms, int workers) {
    var random = new SplittableRandom(1);
    int[][] column = new int[workers][];
    double[][] value = new double[workers][];
    double[][] rhs = new double[workers][];
    for (int p = 0; p < workers; p++) {
      int k = 1 + random.nextInt(4);
      int[] firm = random.ints(0, firms).distinct().limit(Math.min(k, firms)).sorted().toArray();
      column[p] = IntStream.concat(IntStream.of(firm), IntStream.of(firms, firms + 1)).toArray();
      int c = column[p].length;
      value[p] = random.doubles((long) c * (c + 1) / 2, -1, 1).toArray();
      rhs[p] = random.doubles(c, -1, 1).toArray();
    }
    return new RowPieces() {
      @Override
      public int count() {
        return workers;
      }

      @Override
      public void piece(int p, RowPiece view) {
        int c = column[p].length;
        view.size(c, c).columnsAt(column[p], 0).valuesAt(value[p], 0).rhsAt(rhs[p], 0);
      }
    };
  }
}
