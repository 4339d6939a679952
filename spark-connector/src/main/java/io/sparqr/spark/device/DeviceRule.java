/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.configuration.Key;
import io.sparqr.configuration.Keys;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.internals.SparkProcess;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.DeviceVerdict.Refuse;
import io.sparqr.spark.plan.DeviceVerdict.Use;
import java.util.Locale;
import java.util.Optional;

/**
 * The driver's rule for running a problem on GPUs: the caller's choice, the availability of
 * devices, and the threshold of work. Read once per solve, so that every use gets the same answer.
 */
public final class DeviceRule {

  private final Optional<DeviceVerdict> settled;
  private final double leastIntensity;
  private final double leastFlops;

  private DeviceRule(Optional<DeviceVerdict> settled, double leastIntensity, double leastFlops) {
    this.settled = settled;
    this.leastIntensity = leastIntensity;
    this.leastFlops = leastFlops;
  }

  /**
   * The rule of a solve, whose driver knows all devices if it shares one JVM with the tasks.
   *
   * @throws BackendUnavailableException if CUDA is required and the driver knows that there is none
   * @throws IllegalArgumentException if a threshold of the Spark configuration is not a number
   */
  public static DeviceRule of(BackendChoice choice, Engine engine) {
    return of(choice, engine.oneJvm());
  }

  /**
   * The rule of a prediction.
   *
   * @param known whether the devices of this JVM are all that there are; if not, the threshold
   *     alone decides
   */
  public static DeviceRule of(BackendChoice choice, boolean known) {
    return choice == BackendChoice.CPU
        ? settled(new Refuse("asked for"))
        : of(choice, known, Backends.cuda());
  }

  static DeviceRule of(BackendChoice choice, boolean known, Backends.Cuda cuda) {
    Optional<String> obstacle = known ? cuda.obstacle() : Optional.empty();
    if (choice == BackendChoice.REQUIRE_CUDA) {
      obstacle.ifPresent(Backends::cudaIsRequired);
      return settled(new Use(true, "required"));
    }
    if (obstacle.isPresent() || cuda.provider().isEmpty()) {
      return settled(new Refuse(obstacle.or(cuda::obstacle).orElseThrow()));
    }
    QrBackendProvider provider = cuda.provider().get();
    return new DeviceRule(
        Optional.empty(),
        setting(Keys.MINIMUM_INTENSITY, provider.minimumIntensity()),
        setting(Keys.MINIMUM_FLOPS, provider.minimumFlops()));
  }

  private static DeviceRule settled(DeviceVerdict verdict) {
    return new DeviceRule(Optional.of(verdict), 0, 0);
  }

  /** The decision, if it does not depend on the problem. */
  public Optional<DeviceVerdict> settled() {
    return settled;
  }

  /**
   * The decision for a factorization.
   *
   * @param flops of the factorization
   * @param intensity flops per byte of its fronts
   */
  public DeviceVerdict verdict(double flops, double intensity) {
    return settled.orElseGet(() -> byWork(flops, intensity));
  }

  private DeviceVerdict byWork(double flops, double intensity) {
    if (intensity < leastIntensity) {
      return new Refuse(
          String.format(
              Locale.ROOT,
              "arithmetic intensity %.1f flops a byte is below the device's threshold %.1f",
              intensity,
              leastIntensity));
    }
    if (flops < leastFlops) {
      return new Refuse(
          String.format(
              Locale.ROOT, "%.1e flops are below the device's threshold %.1e", flops, leastFlops));
    }
    return new Use(false, String.format(Locale.ROOT, "arithmetic intensity %.1f", intensity));
  }

  /** A number of the Spark configuration, if set. */
  private static double setting(Key<Double> key, double otherwise) {
    return key.find(name -> SparkProcess.setting(name).orElse(null)).orElse(otherwise);
  }
}
