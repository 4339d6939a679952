/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The campaign's oracles against slower arithmetic, and values by hand. */
@Tag("numbers")
class OracleTest {

  private static final long SEED = Long.getLong("test.seed", 20261126L);

  private final Random random = new Random(SEED);

  /** A double of any exponent up to the spread, down to the least ones. */
  private double any(int spread) {
    return Math.scalb(
        2 * random.nextDouble() - 1, Math.min(random.nextInt(2 * spread) - spread, 1000));
  }

  @Test
  void sumsOfProductsAreExact() {
    for (int k = 0; k < 2000; k++) {
      int spread = new int[] {3, 60, 1070}[k % 3];
      var sum = new ExactSum();
      BigDecimal exact = BigDecimal.ZERO;
      for (int i = random.nextInt(8); i >= 0; i--) {
        double x = any(spread);
        double y = any(spread);
        sum.add(x, y);
        sum.add(-y);
        exact =
            exact.add(new BigDecimal(x).multiply(new BigDecimal(y))).subtract(new BigDecimal(y));
        if (i % 3 == 0 && Double.isFinite(x * y)) {
          // leaves what the product is beside its rounded value
          sum.add(-(x * y));
          exact = exact.subtract(new BigDecimal(x * y));
        }
      }
      Scaled value = sum.value();
      var two = new BigDecimal(2);
      BigDecimal power =
          value.exponent() < 0
              ? BigDecimal.ONE.divide(two.pow(-value.exponent()))
              : two.pow(value.exponent());
      BigDecimal off = new BigDecimal(value.mantissa()).multiply(power).subtract(exact).abs();
      assertThat(off)
          .as("seed %d, sum %d", SEED, k)
          .isLessThanOrEqualTo(
              exact.abs().multiply(new BigDecimal(0x1p-52), MathContext.DECIMAL64));
    }
  }

  private static CsrMatrix matrix(double[]... rows) {
    return Family.sparse(rows, rows[0].length);
  }

  @Test
  void ranksModuloPrimesAreExact() {
    ModularRank prime = ModularRank.ofSeed(SEED);
    assertThat(prime.rank(matrix(new double[] {1, 1}, new double[] {1, 0x1p61}))).isEqualTo(2);
    assertThat(prime.rank(matrix(new double[] {1, 3}, new double[] {1, Math.nextUp(3)})))
        .isEqualTo(2);
    assertThat(prime.rank(matrix(new double[] {0x1p-1074, 0x1.8p1000}, new double[] {0, 0})))
        .isEqualTo(1);
    // 0.1 + 0.2 is not 0.3
    assertThat(prime.rank(matrix(new double[] {0.1, 0.2, 0.3}, new double[] {1, 2, 3})))
        .isEqualTo(2);
    assertThat(prime.rank(matrix(new double[] {0.5, 0.25, 0.75}, new double[] {2, 1, 3})))
        .isEqualTo(1);
  }

  @Test
  void networksHaveTheirRank() {
    ModularRank prime = ModularRank.ofSeed(SEED);
    for (int k = 0; k < 300; k++) {
      Networks.Network n =
          k % 2 == 0
              ? Networks.levelling(3 + random.nextInt(20), 4, random)
              : Networks.poses(2 + random.nextInt(10), 4, true, random);
      assertThat(prime.rank(n.a())).as("seed %d, network %d", SEED, k).isEqualTo(n.rank());
    }
  }

  @Test
  void leastResidualByHand() {
    // Points (0, 1), (1, 2), (2, 4): residuals 1/6, -1/3, 1/6; a third column that depends.
    CsrMatrix a = matrix(new double[] {1, 0, 2}, new double[] {1, 1, 1}, new double[] {1, 2, 0});
    int[] independent = ModularRank.ofSeed(1).independentColumns(a);
    assertThat(independent).containsExactly(0, 1);
    double[] b = {1, 2, 4};
    Scaled exact = ExactLeastSquares.norm(a, independent, b).orElseThrow();
    assertThat(exact.value()).isCloseTo(Math.sqrt(1.0 / 6), within(Tolerances.roundings(2, 0.5)));
    double[] x = DenseSvd.equilibrated(a).solve(b, 2);
    double[] ones = {1, 1, 1};
    assertThat(ExactResidual.norm(a, x, b, ones).value())
        .isCloseTo(exact.value(), within(Tolerances.roundings(8, 1)));
    Scaled[] r = ExactResidual.of(a, new double[3], b);
    // A'b = (7, 10, 4), ||A||_F = sqrt(13), ||b|| = sqrt(21)
    assertThat(ExactResidual.gradient(a, r))
        .isCloseTo(Math.sqrt(165.0 / 13 / 21), within(Tolerances.roundings(4, 1)));
  }

  /** Two right views of the least residual, of matrices that have nothing to do with each other. */
  @Test
  void exactAndDenseResidualsAgree() {
    int compared = 0;
    for (int k = 0; k < 200; k++) {
      CampaignProblem p = CampaignProblem.draw(GapFamilies.all().get(k % 2 * 6), SEED, k);
      RankOracle oracle = RankOracle.of(p.a(), p.kind());
      var exact = ExactLeastSquares.norm(p.a(), oracle.independent(), p.b()[0]);
      if (exact.isEmpty() || oracle.clear() != oracle.exact()) {
        continue;
      }
      double[] x = oracle.equilibrated().solve(p.b()[0], oracle.clear());
      Scaled dense = ExactResidual.norm(p.a(), x, p.b()[0], p.ones());
      double size = ExactResidual.size(p.a(), x, p.b()[0], p.ones()).value();
      assertThat(dense.value())
          .as("seed %d, %s", SEED, p)
          .isGreaterThanOrEqualTo(exact.get().value() * (1 - Tolerances.roundings(8, 1)))
          .isCloseTo(
              exact.get().value(), within(Tolerances.SOLUTION * (exact.get().value() + size)));
      compared++;
    }
    assertThat(compared).isGreaterThan(100);
  }

  /** Four edges on three nodes with unequal weights: the rank is 2. */
  @Test
  void ranksThatAreClearAndNot() {
    CsrMatrix network =
        matrix(
            new double[] {-0.48367107398766973, 0.48367107398766973, 0},
            new double[] {0, -0.01618092285693911, 0.01618092285693911},
            new double[] {-44.48030550245613, 0, 44.48030550245613},
            new double[] {0, 0.06749479370294646, -0.06749479370294646});
    assertThat(RankOracle.of(network, Family.Kind.NETWORK).clear()).isEqualTo(2);
    double[] b = {1.198, 0.988, 0.11, -0.889};
    double[] x = DenseSvd.equilibrated(network).solve(b, 2);
    double norm = ExactResidual.norm(network, x, b, new double[] {1, 1, 1, 1}).value();
    assertThat(norm).isCloseTo(1.462754, within(Tolerances.decimals(6)));
    double[][] cos = new double[16][16];
    for (int i = 0; i < 16; i++) {
      for (int j = 0; j < 16; j++) {
        cos[i][j] = Math.cos(i * j / 14.0);
      }
    }
    RankOracle none = RankOracle.of(matrix(cos), Family.Kind.NO_GAP);
    assertThat(none.clear()).isEqualTo(-1);
    assertThat(none.exact()).isEqualTo(16);
    assertThat(none.wrong(16)).isFalse();
    assertThat(none.wrong(5)).isTrue();
  }

  @Test
  void singularValuesByHand() {
    CsrMatrix a = matrix(new double[] {3, 0}, new double[] {0, -4}, new double[] {0, 0});
    assertThat(DenseSvd.plain(a).sigma())
        .containsExactly(new double[] {1, 0.75}, within(Tolerances.roundings(4, 1)));
    assertThat(DenseSvd.equilibrated(a).condition(2))
        .isCloseTo(1.5, within(Tolerances.roundings(4, 1)));
    assertThat(DenseSvd.plain(a).solve(new double[] {3, 4, 5}, 2))
        .containsExactly(new double[] {1, -1}, within(Tolerances.roundings(4, 1)));
  }
}
