/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A device of this JVM for a dense matrix that the driver holds, without a task of Spark. */
public final class LocalDevice {

  private static final Logger LOG = LoggerFactory.getLogger(LocalDevice.class);

  /** Below so many flops the first use of a device takes longer than cores do. */
  private static final double LEAST_FLOPS = 2e10;

  private LocalDevice() {}

  /**
   * Work on a device.
   *
   * @param <T> of its result
   */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does it.
     *
     * @return empty if the backend does not do this at all
     */
    Optional<T> on(QrBackendProvider provider, int device);
  }

  /**
   * Does a work on a device, if one is asked for, or there is one and it pays; else on the host.
   * The log has the choice and its reason. Others wait for the device meanwhile.
   *
   * @param flops of the work
   * @param what it is, for the log
   * @throws io.sparqr.error.BackendUnavailableException if a device is required and cannot be used
   */
  public static <T> T run(
      BackendChoice choice, double flops, String what, Work<T> work, Supplier<T> host) {
    return run(verdict(choice, flops), Backends.cuda(), what, work, host);
  }

  static <T> T run(
      DeviceVerdict verdict, Backends.Cuda cuda, String what, Work<T> work, Supplier<T> host) {
    Backends.Chosen chosen = Backends.choose(verdict, cuda, n -> n == 0 ? List.of() : List.of(0));
    String why = chosen.reason();
    if (chosen.onDevice()) {
      int device = chosen.devices().get(0);
      DeviceLease lease = DeviceLease.acquire(null, chosen.devices());
      try {
        Optional<T> done = work.on(chosen.provider(), device);
        if (done.isPresent()) {
          LOG.info("{} on {}: {}", what, chosen.provider().deviceText(device), why);
          return done.get();
        }
        why = "no kernels for such a matrix";
      } catch (InsufficientMemoryException e) {
        why = String.valueOf(e.getMessage());
        if (verdict.required()) {
          throw e;
        }
      } finally {
        lease.close();
      }
      if (verdict.required()) {
        Backends.cudaIsRequired(why);
      }
    }
    LOG.info("{} on the host: {}", what, why);
    return host.get();
  }

  /** Later calls for what a device holds: it is theirs for the time of a call. */
  public static final class Turns {
    private final List<Integer> devices;

    private Turns(List<Integer> devices) {
      this.devices = devices;
    }

    /** Does a work when it is its turn. */
    public <T> T of(Supplier<T> work) {
      if (devices.isEmpty()) {
        return work.get();
      }
      DeviceLease lease = DeviceLease.acquire(null, devices);
      try {
        return work.get();
      } finally {
        lease.close();
      }
    }
  }

  /** Of a device. */
  public static Turns turns(int device) {
    return new Turns(List.of(device));
  }

  /** Of the host, which nobody waits for. */
  public static Turns turns() {
    return new Turns(List.of());
  }

  static DeviceVerdict verdict(BackendChoice choice, double flops) {
    return switch (choice) {
      case CPU -> new DeviceVerdict.Refuse("asked for");
      case REQUIRE_CUDA -> new DeviceVerdict.Use(true, "asked for");
      case AUTO ->
          flops < LEAST_FLOPS
              ? new DeviceVerdict.Refuse("%.1f Gflop".formatted(1e-9 * flops))
              : new DeviceVerdict.Use(false, "%.1f Gflop".formatted(1e-9 * flops));
    };
  }
}
