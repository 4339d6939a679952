/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.Arrays;
import java.util.Random;

/** Random trees of fronts with random sizes and staircases, structure only. */
final class RandomStages {

  final StageFronts stage;
  final SchedulerOptions options;

  /** Whether there is a plan for dead columns. */
  boolean drops;

  /** size fronts; clipped leftmost column tiles of each tiled front. */
  final int[][] left;

  RandomStages(long seed, int fronts, int maxTiles) {
    var random = new Random(seed);
    options =
        new SchedulerOptions(
            2 + random.nextInt(7),
            random.nextInt(4) > 0,
            random.nextBoolean() ? 0 : 4096,
            64,
            1 + random.nextInt(40),
            1 + random.nextInt(5),
            1 + random.nextInt(500),
            1 + random.nextInt(40),
            1 + random.nextInt(100));
    int blocks = random.nextInt(4);
    stage = new StageFronts(fronts, blocks, random.nextInt(4), seed % 3 == 0);
    left = new int[fronts][];
    for (int b = 0; b < blocks; b++) {
      stage.blockParent[b] = random.nextInt(fronts);
      stage.blockCn[b] = 1 + random.nextInt(90);
      stage.blockCm[b] = random.nextInt(stage.blockCn[b] + 1);
    }
    for (int f = 0; f < fronts; f++) {
      front(f, random, maxTiles);
    }
  }

  /** The same with a plan for dead columns. */
  RandomStages withDrops() {
    stage.planDrops();
    drops = true;
    return this;
  }

  private void front(int f, Random random, int maxTiles) {
    StageFronts s = stage;
    s.fm[f] = random.nextInt(1 + random.nextInt(TaskLayout.TILE * maxTiles));
    s.fn[f] = 1 + random.nextInt(1 + random.nextInt(TaskLayout.TILE * maxTiles));
    s.fp[f] = 1 + random.nextInt(s.fn[f]);
    s.cm[f] = StageFronts.contributionRows(s.fm[f], s.fn[f], s.fp[f]);
    boolean root = f == s.fronts - 1 || random.nextInt(8) == 0;
    s.parent[f] = root ? -1 : f + 1 + random.nextInt(Math.min(3, s.fronts - 1 - f));
    s.outRows[f] = Math.min(s.fm[f], s.fp[f]) + (root ? s.cm[f] : 0);
    long rows = s.outRows[f];
    s.outStart[f + 1] = s.outStart[f] + rows * s.fn[f] - rows * (rows - 1) / 2 + rows * s.rhs;
    s.sStart[f + 1] = s.sStart[f] + random.nextInt(2000);
    if (s.fm[f] == 0 || options.small(s.fm[f], s.fn[f], s.rhs)) {
      return;
    }
    int rowTiles = TaskLayout.tiles(s.fm[f]);
    left[f] = new int[rowTiles];
    if (random.nextInt(3) > 0) {
      for (int i = 0; i < rowTiles; i++) {
        left[f][i] = random.nextInt(TaskLayout.tiles(s.fn[f]));
      }
      Arrays.sort(left[f]);
    }
    int[] bundles = new int[Math.min(rowTiles, TaskLayout.tiles(s.fn[f]))];
    Arrays.setAll(bundles, c -> 2 + random.nextInt(options.bundle() - 1));
    s.rounds[f] =
        BucketScheduler.schedule(
            left[f],
            Math.min(rowTiles, TaskLayout.tiles(s.fn[f])),
            s.columnTiles(f),
            bundles,
            options.pipelining(),
            s.keepQ);
    for (int i = 0; i < rowTiles; i++) {
      left[f][i] = Math.min(left[f][i], i);
    }
  }
}
