/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

import io.sparqr.backend.tuning.TuningBench;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.lowrank.PursuitSite;
import io.sparqr.numeric.tall.DenseFactorization;
import io.sparqr.partition.DeviceModel;
import io.sparqr.symbolic.Tuning;
import java.util.List;
import java.util.Optional;

/** Service interface of a backend ({@link java.util.ServiceLoader}). */
public interface QrBackendProvider {

  /** The backend's name in options and reports: "cpu" or "cuda". */
  String name();

  /**
   * Empty if the backend can be used in this JVM; otherwise the one-line reason why not. Never
   * throws.
   */
  Optional<String> unavailable();

  /**
   * A factorizer bound to a device.
   *
   * @param device device ordinal; ignored by the CPU
   * @throws io.sparqr.error.BackendUnavailableException if {@link #unavailable()} gives a reason
   */
  SubtreeFactorizer create(int device);

  /**
   * A factorizer whose tasks own several devices.
   *
   * @param devices ordinals, all different, at least one; a backend that knows no tasks on several
   *     takes the first
   * @throws io.sparqr.error.BackendUnavailableException as for {@link #create(int)}
   */
  default SubtreeFactorizer create(List<Integer> devices) {
    return create(devices.get(0));
  }

  /**
   * Opens what a task on a device takes before it can begin, and holds it. A first task need not
   * wait for that if it is done beside earlier work; without it, the task does the same itself.
   *
   * @throws io.sparqr.error.BackendUnavailableException as for {@link #create(int)}
   */
  default OpenDevice open(int device) {
    return () -> {};
  }

  /** Number of devices; 0 for the CPU. */
  int devices();

  /**
   * Arithmetic intensity (flops / bytes of the fronts) below which AUTO keeps a problem on the CPU.
   */
  double minimumIntensity();

  /** The model of a device of this machine, for the cut of the tree; empty for the CPU. */
  default Optional<DeviceModel> device(int device) {
    return Optional.empty();
  }

  /** A device and the kernels for it, in one line; empty for the CPU. */
  default String deviceText(int device) {
    return "";
  }

  /** What tunings of a device are kept by; empty if there is none, or it does not tell. */
  default Optional<DeviceKey> key(int device) {
    return Optional.empty();
  }

  /**
   * What measures tunings on a device, which is its owner's until it is closed.
   *
   * @param threads of the host, for transfers
   * @return empty if the backend has no device
   * @throws io.sparqr.error.BackendUnavailableException as for {@link #create(int)}
   */
  default Optional<TuningBench> bench(int device, int threads) {
    return Optional.empty();
  }

  /** Device memory currently held by this JVM; does not query a device. */
  default long deviceBytesInUse() {
    return 0;
  }

  /**
   * QR of dense matrices on a device.
   *
   * @param rows m, at least n
   * @param columns n, at least 1
   * @param keepQ whether Q will be asked for
   * @param threads of the host, for transfers
   * @param tuning how the device's work is cut
   * @return empty if the backend has no device
   * @throws io.sparqr.error.BackendUnavailableException as for {@link #create(int)}
   */
  default Optional<DenseFactorization> dense(
      int device, int rows, int columns, boolean keepQ, int threads, Tuning tuning) {
    return Optional.empty();
  }

  /**
   * Iterations of Robust PCA on a device.
   *
   * @param rows m rows of n values, m at least n
   * @param threads of the host, for transfers
   * @return empty if the backend has no device, or none for so many columns
   * @throws io.sparqr.error.InsufficientMemoryException if a device has not the memory
   */
  default Optional<PursuitSite> pursuit(int device, double[][] rows, int threads) {
    return Optional.empty();
  }

  /**
   * From now on devices of this JVM that were opened stay open, or no longer: a fact of the
   * configuration, told before the first solve, by which {@link #minimumFlops} may go.
   */
  default void keepOpen(boolean keep) {}

  /** Flops below which AUTO keeps a problem of any intensity on the CPU. */
  default double minimumFlops() {
    return 0;
  }
}
