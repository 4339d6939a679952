/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.symbolic.Tuning;
import java.util.Random;
import java.util.function.ToDoubleBiFunction;

/** A device whose times are known, with a clock that only measurements move. */
final class TunedDevice implements TuningBench {

  /** What a measurement takes on this clock, whatever it measures. */
  static final double COST = 0.01;

  private final ToDoubleBiFunction<Workload, Tuning> times;
  private final double noise;
  private final Random random;
  private long nanos;
  int measurements;

  /**
   * @param times true times, by that of the constants
   * @param noise a time measured is up to this share longer, and one in eight three times as long
   */
  TunedDevice(ToDoubleBiFunction<Workload, Tuning> times, double noise, long seed) {
    this.times = times;
    this.noise = noise;
    random = new Random(seed);
  }

  long nanos() {
    return nanos;
  }

  double time(Workload workload, Tuning tuning) {
    return times.applyAsDouble(workload, tuning);
  }

  @Override
  public double seconds(Workload workload, Tuning tuning) {
    measurements++;
    nanos += Math.round(1e9 * COST);
    double spike = noise > 0 && random.nextInt(8) == 0 ? 3 : 1;
    return time(workload, tuning) * (1 + noise * random.nextDouble()) * spike;
  }

  @Override
  public double flops(Workload workload) {
    return 1e9;
  }

  @Override
  public String describe(Workload workload) {
    return workload.words();
  }

  @Override
  public void close() {}

  TuningOutcome tuned(double seconds) {
    return new TuningSearch(this, this::nanos, seconds).run();
  }
}
