/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.symbolic.TileFlops;
import io.sparqr.symbolic.TileModel;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The flops that the symbolic analysis predicts are the sum of the scheduler's operations. */
class TileFlopsTest {

  private static final long SEED = Long.getLong("test.seed", 42L);

  @Test
  void aTileIsOneTile() {
    assertThat(TileModel.TILE).isEqualTo(TaskLayout.TILE);
  }

  @Test
  void theSchedulersCountIsForetoldToTheFlop() {
    for (int it : Sampling.numbers("test.iters", 3000).toArray()) {
      var random = new Random(SEED + it);
      int fn = 1 + random.nextInt(1 + random.nextInt(1500));
      int fm = 1 + random.nextInt(1 + random.nextInt(random.nextInt(8) == 0 ? 40_000 : 2500));
      int rhs = random.nextInt(random.nextInt(4) == 0 ? 80 : 3);
      var options =
          SchedulerOptions.defaults()
              .withBundle(2 + random.nextInt(7))
              .withSmallFronts(random.nextBoolean() ? 0 : 8192, 64);
      long[] stair = staircase(random, fm, fn);
      assertThat(TileFlops.of(stair, fm, fn, options.tileModel(), rhs))
          .as("seed %d, iteration %d: %d x (%d + %d), %s", SEED, it, fm, fn, rhs, options)
          .isEqualTo(scheduled(stair, fm, fn, rhs, options));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 6, 8})
  void manyTilesAreForetoldWithinThreePercent(int bundle) {
    var options = SchedulerOptions.defaults().withBundle(bundle).withSmallFronts(0, 0);
    List<int[]> shapes =
        List.of(
            new int[] {1_800_000, 5000}, new int[] {93_000, 93_000}, new int[] {300_000, 64_000});
    for (int[] shape : Sampling.of(shapes).toList()) {
      int fm = shape[0];
      int fn = shape[1];
      long[] stair = new long[fn];
      Arrays.fill(stair, fm);
      double done = scheduled(stair, fm, fn, 1, options);
      double foretold = TileFlops.of(stair, fm, fn, options.tileModel(), 1);
      assertThat(foretold / done).as("%d x %d", fm, fn).isBetween(0.97, 1.0);
    }
  }

  /** Rows that begin at random columns, many of them at few columns, or all at the first. */
  private static long[] staircase(Random random, int fm, int fn) {
    long[] stair = new long[fn];
    int kind = random.nextInt(4);
    int steps = 1 + random.nextInt(20);
    for (int i = 0; i < fm; i++) {
      int k =
          switch (kind) {
            case 0 -> 0;
            case 1 -> random.nextInt(fn);
            case 2 -> (int) ((long) random.nextInt(steps) * fn / steps);
            default -> (int) (fn * Math.pow(random.nextDouble(), 4));
          };
      stair[k]++;
    }
    for (int k = 1; k < fn; k++) {
      stair[k] += stair[k - 1];
    }
    return stair;
  }

  /** As the stage builder does for a front of that staircase. */
  private static double scheduled(long[] stair, int fm, int fn, int rhs, SchedulerOptions options) {
    var s = new StageFronts(1, 0, rhs, false);
    s.fm[0] = fm;
    s.fn[0] = fn;
    s.fp[0] = fn;
    s.parent[0] = -1;
    if (!options.small(fm, fn, rhs)) {
      int rowTiles = TaskLayout.tiles(fm);
      int[] left = new int[rowTiles];
      int k = 0;
      for (int i = 0; i < rowTiles; i++) {
        while (stair[k] <= (long) i * TaskLayout.TILE) {
          k++;
        }
        left[i] = k / TaskLayout.TILE;
      }
      int pivotTiles = Math.min(rowTiles, TaskLayout.tiles(fn));
      s.rounds[0] =
          BucketScheduler.schedule(
              left,
              pivotTiles,
              s.columnTiles(0),
              options.bundles(left, pivotTiles, s.columnTiles(0)),
              true,
              false);
    }
    return SparseScheduler.schedule(s, options, 1).flops();
  }
}
