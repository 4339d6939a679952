/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.threads.Crew;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Trees of fronts by their Gram matrix, with the exact arithmetic of {@link GramCase}. */
@Tag("numbers")
class GramFrontsTest {

  private static final DenseKernels KERNELS = BlasLoader.kernels();

  private static final double TOLERANCE = Math.pow(2, -33);

  /** The measurement is random; {@link GramQrTest}. */
  private static final double MEASURED = 2.5;

  private static final Crew PARALLEL =
      (count, task) -> IntStream.range(0, count).parallel().forEach(task);

  private static GramQr factor(GramCase c, Crew crew) {
    return GramQr.factor(KERNELS, c, c.shape, 1, TOLERANCE, part -> {}, crew);
  }

  private static GramCase kind(int seed, Random random) {
    int fronts = 1 + random.nextInt(8);
    double spread = Math.pow(10, -random.nextInt(13));
    return switch (seed % 5) {
      case 0 -> GramCase.tree(random, fronts, 4, 4, (i, j) -> 1);
      case 1 -> GramCase.tree(random, fronts, 4, 4, (i, j) -> 1 + random.nextInt(5));
      case 2 -> GramCase.tree(random, fronts, 4, 4, (i, j) -> random.nextGaussian());
      case 3 ->
          GramCase.tree(
              random, fronts, 4, 4, (i, j) -> random.nextGaussian() * Math.pow(spread, j / 30.0));
      default ->
          GramCase.tree(
              random, fronts, 4, 4, (i, j) -> random.nextGaussian() * (i % 7 == 0 ? spread : 1));
    };
  }

  @Test
  void whatIsAcceptedIsAsGoodAsReflectors() {
    int accepted = 0;
    int dropped = 0;
    int refused = 0;
    double[] worst = new double[3];
    for (int seed : Sampling.numbers("sparqr.gram.trees", 4_000).toArray()) {
      GramCase c = kind(seed, new Random(seed));
      GramQr qr = factor(c, Crew.ALONE);
      if (!qr.isAccepted()) {
        refused++;
        continue;
      }
      int held = IntStream.range(0, c.shape.fronts()).map(k -> qr.kept(k).length).sum();
      if (held < c.n) {
        dropped++;
        assertThat(qr.droppedNorm()).as("seed %d", seed).isLessThanOrEqualTo(TOLERANCE * c.n);
        continue;
      }
      accepted++;
      GramCase.Truth truth = c.truth(qr);
      double[] errors = {truth.backwardError(), truth.rhsError(), truth.squaresError()};
      for (int k = 0; k < errors.length; k++) {
        assertThat(errors[k])
            .as("seed %d: %d of R, Q'b, squares", seed, k)
            .isLessThanOrEqualTo(MEASURED * GramQr.allowed(c.n));
        worst[k] = Math.max(worst[k], errors[k] / Tolerances.EPS);
      }
    }
    System.out.printf(
        "trees by their Gram matrix: %d accepted, %d with dependent columns, %d refused; largest"
            + " errors of R, Q'b, squares in eps: %.2f, %.2f, %.2f%n",
        accepted, dropped, refused, worst[0], worst[1], worst[2]);
    assertThat(accepted).isGreaterThan((accepted + refused + dropped) / 2);
  }

  /** The same rows as one front: the same triangle, up to rounding. */
  @Test
  void aTreeIsWorthOneFront() {
    for (int seed : Sampling.numbers(20, 4).toArray()) {
      var random = new Random(seed);
      GramCase c = GramCase.tree(random, 40, 12, 10, (i, j) -> random.nextGaussian());
      GramQr tree = factor(c, PARALLEL);
      GramQr whole =
          GramQr.factor(
              KERNELS, c.whole(), GramShape.single(c.n, c.n), 1, TOLERANCE, part -> {}, PARALLEL);
      assertThat(tree.refused()).as("seed %d", seed).isEmpty();
      assertThat(whole.refused()).as("seed %d", seed).isEmpty();
      double norm = whole.residualSquares()[0];
      assertThat(Math.abs(tree.residualSquares()[0] - norm))
          .as("seed %d: what Q leaves of b", seed)
          .isLessThan(Tolerances.REORDERED * c.n * norm);
    }
  }

  @Test
  void theBitsDoNotDependOnThreads() {
    for (int seed : Sampling.numbers(40, 4).toArray()) {
      var random = new Random(seed);
      GramCase c = GramCase.tree(random, 60, 20, 30, (i, j) -> random.nextGaussian());
      assertThat(new GramChunks(c.shape).chunk.length).isGreaterThan(3);
      GramQr alone = factor(c, Crew.ALONE);
      GramQr many = factor(c, PARALLEL);
      assertThat(many.refused()).isEqualTo(alone.refused());
      for (int k = 0; alone.isAccepted() && k < c.shape.fronts(); k++) {
        assertThat(GramCase.entries(many, k))
            .as("seed %d, front %d", seed, k)
            .isEqualTo(GramCase.entries(alone, k));
      }
      assertThat(many.residualSquares()).isEqualTo(alone.residualSquares());
    }
  }
}
