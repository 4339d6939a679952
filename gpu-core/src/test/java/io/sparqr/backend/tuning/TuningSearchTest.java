/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.Tuning;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TuningSearchTest {

  private static final long SEED = Long.getLong("test.seed", 20261130L);

  private static final double MUCH_TIME = 1000;

  /** How much slower than the constants a tuning is at worst. */
  private static double worst(TunedDevice device, Tuning tuning) {
    double worst = 0;
    for (Workload w : Workload.values()) {
      worst = Math.max(worst, device.time(w, tuning) / device.time(w, Tuning.constants()));
    }
    return worst;
  }

  @Test
  void whatIsFasterIsFound() {
    var best = new TileBundles(6, 8, 8, 3);
    var device =
        new TunedDevice(
            (w, t) -> {
              TileBundles b = t.tiles().bundles();
              return switch (w) {
                case TALL -> 1 + 0.05 * Math.abs(b.tall() - 6);
                case SQUARE -> 1 + 0.1 * Math.abs(b.others() - 3);
                case SMALL -> t.tiles().smallFrontColumns() == 96 ? 0.8 : 1;
                case CHUNKS -> t.chunkDoubles() == 1 << 23 ? 0.9 : 1;
                default -> 1;
              };
            },
            0,
            SEED);
    TuningOutcome found = device.tuned(MUCH_TIME);
    assertThat(found.tuning())
        .isEqualTo(
            Tuning.constants()
                .with(best)
                .withSmallFronts(Tuning.constants().tiles().smallFrontDoubles(), 96)
                .withChunk(1 << 23));
    assertThat(found.ended()).isTrue();
    assertThat(found.steps().stream().filter(TuningOutcome.Step::accepted)).hasSize(4);
    assertThat(found.ratios()).containsOnlyKeys(Workload.values());
    assertThat(found.toText()).contains("accepted", "tall 6, narrow 8, much left 8, others 3");
  }

  /** A value that is faster on its class and slower on the mesh, and one that gains too little. */
  @Test
  void aLossElsewhereAndAGainWithinTheNoiseAreRefused() {
    var device =
        new TunedDevice(
            (w, t) -> {
              boolean tall = t.tiles().bundles().tall() != 8;
              boolean wide = t.applyTiles() != 8;
              return switch (w) {
                case TALL -> tall ? 0.5 : 1;
                case TREE -> tall ? 1.02 : 1;
                case SQUARE -> wide ? 0.98 : 1;
                default -> 1;
              };
            },
            0,
            SEED);
    TuningOutcome found = device.tuned(MUCH_TIME);
    assertThat(found.tuning()).isEqualTo(Tuning.constants());
    assertThat(found.ratios()).isEmpty();
    assertThat(found.ended()).isTrue();
    assertThat(found.toText()).contains("the constants stay");
  }

  /** On a device where nothing matters, and on some where all else costs, whatever is measured. */
  @Test
  void noiseBringsInNothingSlower() {
    int constants = 0;
    for (int k = 0; k < 300; k++) {
      long seed = SEED + k;
      double loss = new double[] {0, 0.005, 0.02, 0.05}[k % 4];
      var device =
          new TunedDevice((w, t) -> t.equals(Tuning.constants()) ? 1 : 1 + loss, 0.2, seed);
      TuningOutcome found = device.tuned(60);
      // What costs nothing is as good as the constants.
      assertThat(worst(device, found.tuning()))
          .as("seed %d, loss %s", seed, loss)
          .isLessThanOrEqualTo(loss < Duel.NOISE ? 1 + Duel.NOISE : 1);
      constants += found.tuning().equals(Tuning.constants()) ? 1 : 0;
    }
    assertThat(constants).isGreaterThan(290);
  }

  /** Whatever the device is like: gains and losses by chance for each value, and noise. */
  @Test
  void noTuningIsSlowerThanTheConstantsOnRandomDevices() {
    int tuned = 0;
    for (int k = 0; k < 200; k++) {
      long seed = SEED + k;
      var device =
          new TunedDevice(
              (w, t) -> {
                if (t.equals(Tuning.constants())) {
                  return 1;
                }
                var chance = new Random(seed * 31 + w.ordinal() * 7919L + t.hashCode());
                return chance.nextInt(4) > 0 ? 1 : 0.85 + 0.3 * chance.nextDouble();
              },
              0.02,
              seed);
      TuningOutcome found = device.tuned(60);
      assertThat(worst(device, found.tuning())).as("seed %d", seed).isLessThan(1 + 2 * Duel.NOISE);
      tuned += found.tuning().equals(Tuning.constants()) ? 0 : 1;
    }
    assertThat(tuned).isGreaterThan(20);
  }

  /** Two changes that are good alone and bad together: the last one is undone. */
  @Test
  void whatIsBadTogetherIsUndone() {
    var device =
        new TunedDevice(
            (w, t) -> {
              boolean one = t.tiles().bundles().tall() == 4;
              boolean other = t.chunkDoubles() == 1 << 20;
              return switch (w) {
                case TALL -> one ? 0.8 : 1;
                case CHUNKS -> other ? 0.9 : 1;
                case SMALL -> one && other ? 1.3 : 1;
                default -> 1;
              };
            },
            0,
            SEED);
    TuningOutcome found = device.tuned(MUCH_TIME);
    assertThat(found.tuning()).isEqualTo(Tuning.constants().with(new TileBundles(4, 8, 8, 4)));
    assertThat(found.steps().stream().filter(TuningOutcome.Step::accepted))
        .singleElement()
        .extracting(TuningOutcome.Step::value)
        .isEqualTo("4");
  }

  @Test
  void withoutTimeTheConstantsStay() {
    for (double seconds : new double[] {0.001, 0.5, 3, 10}) {
      var device =
          new TunedDevice(
              (w, t) -> t.tiles().bundles().tall() == 8 ? 1 : 0.5 + 0.01 * w.ordinal(), 0, SEED);
      TuningOutcome found = device.tuned(seconds);
      assertThat(1e-9 * device.nanos())
          .as("of %s", seconds)
          .isLessThanOrEqualTo(1.5 * seconds + 4 * TunedDevice.COST);
      assertThat(found.ended()).isFalse();
      assertThat(found.toText()).contains("more seconds");
      assertThat(worst(device, found.tuning())).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void theTablesAreGflopsAndPipeliningIsCompared() {
    var device =
        new TunedDevice(
            (w, t) -> (t.pipelining() ? 1 : 1.25) * t.tiles().bundles().largest() * t.applyTiles(),
            0,
            SEED);
    TuningOutcome found = device.tuned(MUCH_TIME);
    assertThat(found.tables()).hasSize(2);
    TuningOutcome.Table table = found.tables().get(1);
    assertThat(table.workload()).isEqualTo("square front");
    for (int h = 0; h < table.heights().length; h++) {
      for (int w = 0; w < table.widths().length; w++) {
        assertThat(table.gflops()[h][w]).isEqualTo(1.0 / (table.heights()[h] * table.widths()[w]));
      }
    }
    assertThat(found.pipelining())
        .containsOnlyKeys(Workload.TALL, Workload.NARROW, Workload.SQUARE, Workload.TREE)
        .containsValue(1 / 1.25);
    assertThat(found.toText()).contains("it pays").doesNotContain("it costs");
  }

  @Test
  void theSameMeasurementsGiveTheSameOutcome() {
    List<String> texts =
        List.of(0, 1).stream()
            .map(k -> new TunedDevice((w, t) -> 1 + (t.hashCode() & 15) * 0.02, 0.1, SEED))
            .map(device -> device.tuned(20).toText())
            .toList();
    assertThat(texts.get(0)).isEqualTo(texts.get(1));
  }
}
