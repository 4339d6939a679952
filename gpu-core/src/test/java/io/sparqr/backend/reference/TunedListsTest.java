/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A tuning changes the lists, not what they compute. */
class TunedListsTest {

  private static final long SEED = Long.getLong("test.seed", 20261130L);

  private static final int MULTIPROCESSORS = 3;

  private static List<Tuning> tunings() {
    Tuning constants = Tuning.constants();
    return List.of(
        constants,
        constants.with(new TileBundles(2, 8, 5, 3)).withSmallFronts(600, 24),
        constants.with(new TileBundles(8, 2, 2, 8)).withSmallFronts(0, 0).withApply(1, 1),
        constants.with(TileBundles.of(6)).withPipelining(false).withApply(64, 2),
        constants.with(TileBundles.of(3)).withSmallFronts(Tuning.MOST_SMALL_DOUBLES, 256));
  }

  private static SchedulerOptions options(Tuning tuning) {
    return SchedulerOptions.of(tuning, MULTIPROCESSORS);
  }

  @Test
  void everyTuningGivesHeathsRUpToRounding() {
    var random = new Random(SEED);
    for (var a :
        List.of(
            Gallery.generate("gen:cells2d20"),
            TestMatrices.dense(420, 30, random),
            TestMatrices.dense(330, 320, random))) {
      var c = new StagedFactorizationTest.Case(a);
      SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
      double limit = Tolerances.of(a.rows(), a.columns(), Tolerances.frobenius(a));
      var tasks = new HashSet<Long>();
      for (Tuning tuning : tunings()) {
        try (var factorizer = new ReferenceSubtreeFactorizer(options(tuning))) {
          SubtreeFactor actual = c.run(factorizer, 0);
          tasks.add(actual.summary().tasks());
          for (int f = 0; f < expected.fronts().size(); f++) {
            Tolerances.requireClose(
                TestMatrices.rowsOfR(actual.fronts().get(f)),
                TestMatrices.rowsOfR(expected.fronts().get(f)),
                limit,
                "seed %d, %s, front %d".formatted(SEED, tuning, f));
          }
        }
      }
      assertThat(tasks).as("the lists differ").hasSizeGreaterThan(2);
    }
  }

  @Test
  void theSameTuningGivesTheSameBits() {
    var c = new StagedFactorizationTest.Case(Gallery.generate("gen:cells2d20"));
    for (Tuning tuning : tunings()) {
      try (var one = new ReferenceSubtreeFactorizer(options(tuning));
          var other = new ReferenceSubtreeFactorizer(options(tuning))) {
        SubtreeFactor whole = c.run(one, 0);
        long half = whole.summary().peakDeviceBytes() / 2;
        DeviceBits.assertSameRows(c.run(other, half), whole, tuning.toString());
      }
    }
  }

  @Test
  void theClassOfAColumnTileChoosesItsBundle() {
    TileModel model = TileModel.device().with(new TileBundles(2, 3, 4, 5));
    assertThat(model.bundle(80, 10, 12, 0, 80)).as("tall").isEqualTo(2);
    assertThat(model.bundle(64, 8, 8, 0, 64)).as("tall and narrow").isEqualTo(2);
    assertThat(model.bundle(63, 8, 8, 0, 63)).as("narrow").isEqualTo(3);
    assertThat(model.bundle(128, 128, 128, 0, 128)).as("much left").isEqualTo(4);
    assertThat(model.bundle(128, 128, 128, 127, 128)).as("the end").isEqualTo(5);
    assertThat(model.bundles().largest()).isEqualTo(5);
  }

  @Test
  void theConstantsAreWhatTheyWere() {
    assertThat(SchedulerOptions.of(Tuning.constants(), 132))
        .isEqualTo(new SchedulerOptions(8, true, 8192, 64, 528, 8, 16384, 8, 1024));
    assertThat(TileBundles.of(8)).isEqualTo(new TileBundles(8, 8, 8, 4));
    assertThat(TileBundles.of(3)).isEqualTo(new TileBundles(3, 3, 3, 3));
  }

  /** The ranges of a tuning are those of the kernels. */
  @Test
  void outOfRangeIsRefused() {
    assertThat(TileBundles.MOST).isEqualTo(TaskLayout.MAX_BUNDLE);
    assertThat(Tuning.MOST_SMALL_COLUMNS).isEqualTo(TaskLayout.MAX_SMALL_COLUMNS);
    for (int size : new int[] {-1, 0, 1, 9}) {
      assertThatThrownBy(() -> new TileBundles(4, 4, size, 4))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("bundle size %d is not in 2 .. 8".formatted(size));
    }
    Tuning t = Tuning.constants();
    for (Runnable wrong :
        List.<Runnable>of(
            () -> t.withApply(0, 8),
            () -> t.withApply(4, 65),
            () -> t.withSmallFronts(8192, 257),
            () -> t.withSmallFronts(-1, 64),
            () -> t.withSmallFronts(1 << 17, 64),
            () -> t.withChunk(1),
            () -> t.withChunk(Integer.MAX_VALUE))) {
      assertThatThrownBy(wrong::run).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
