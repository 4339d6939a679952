/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.jvm.JvmPart;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.partition.DeviceModel;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The backends of this JVM by name, and the choice of one for a task. */
public final class Backends {

  private static final Logger LOG = LoggerFactory.getLogger(Backends.class);

  private static final String NO_GPU_GIVEN =
      "Spark gave the task no GPU (spark.executor.resource.gpu.amount,"
          + " spark.task.resource.gpu.amount)";

  /** Reasons why a task computes on the CPU that the log has already. */
  private static final JvmPart<Set<String>> LOGGED =
      JvmPart.of("logged reasons", ConcurrentHashMap::newKeySet);

  private Backends() {}

  /**
   * The choice.
   *
   * @param provider the backend
   * @param devices ordinals of the devices that the task owns; none for a CPU
   * @param reason the reason, in one line
   */
  public record Chosen(QrBackendProvider provider, List<Integer> devices, String reason) {
    /** Whether it computes on a device. */
    public boolean onDevice() {
      return !devices.isEmpty();
    }
  }

  /**
   * The CUDA backend of this JVM.
   *
   * @param provider empty if there is none on the class path
   */
  record Cuda(Optional<QrBackendProvider> provider) {

    /** The reason why it cannot compute here; empty if it can. */
    Optional<String> obstacle() {
      if (provider.isEmpty()) {
        return Optional.of("no CUDA backend in this build");
      }
      Optional<String> reason = provider.get().unavailable();
      return reason.isEmpty() && provider.get().devices() == 0
          ? Optional.of("no CUDA device")
          : reason;
    }
  }

  static Cuda cuda() {
    return new Cuda(find("cuda"));
  }

  /**
   * Whether the devices of this JVM stay open once they are, for smaller problems to be worth them.
   * Told at the start and at the end of an application.
   */
  public static void keepOpen(boolean keep) {
    find("cuda").ifPresent(provider -> provider.keepOpen(keep));
  }

  /** Throws the error that CUDA is required but unavailable. */
  static void cudaIsRequired(String obstacle) {
    throw new BackendUnavailableException("CUDA is required: " + obstacle, "cuda");
  }

  /**
   * The backend for a task in this JVM.
   *
   * @param verdict the decision for the problem
   * @param devices given the number of devices, returns those that the task may use
   * @throws BackendUnavailableException if a device is required but unavailable, or there is no CPU
   *     backend on the class path
   */
  public static Chosen choose(DeviceVerdict verdict, IntFunction<List<Integer>> devices) {
    return choose(verdict, cuda(), devices);
  }

  static Chosen choose(DeviceVerdict verdict, Cuda cuda, IntFunction<List<Integer>> devices) {
    if (!verdict.use()) {
      return onHost(verdict.reason());
    }
    Optional<String> obstacle = cuda.obstacle();
    List<Integer> mine =
        obstacle.isEmpty() ? devices.apply(cuda.provider.get().devices()) : List.of();
    if (!mine.isEmpty()) {
      return new Chosen(cuda.provider.get(), mine, verdict.reason());
    }
    String why = obstacle.orElse(NO_GPU_GIVEN);
    if (verdict.required()) {
      cudaIsRequired(why);
    }
    return onHost(why);
  }

  private static Chosen onHost(String why) {
    if (LOGGED.get().add(why)) {
      LOG.info("sparse QR on the CPU: {}", why);
    }
    return new Chosen(cpu(), List.of(), why);
  }

  /** Devices of this JVM. */
  public static List<DeviceModel> devices() {
    Cuda cuda = cuda();
    if (cuda.obstacle().isPresent()) {
      return List.of();
    }
    var list = new ArrayList<DeviceModel>();
    for (int d = 0; d < cuda.provider.get().devices(); d++) {
      list.add(cuda.provider.get().device(d).orElseGet(DeviceModel::reference));
    }
    return list;
  }

  /** Why no device of this JVM can be used, in one line; empty if one can. */
  public static Optional<String> cudaObstacle() {
    return cuda().obstacle();
  }

  /** The devices of this JVM and the kernels for each, a line each. */
  public static List<String> deviceTexts() {
    Cuda cuda = cuda();
    var list = new ArrayList<String>();
    if (cuda.obstacle().isEmpty()) {
      for (int d = 0; d < cuda.provider.get().devices(); d++) {
        list.add(cuda.provider.get().deviceText(d));
      }
    }
    return list;
  }

  /** Device memory currently held by this JVM, in bytes. */
  public static long deviceBytesInUse() {
    return find("cuda").map(QrBackendProvider::deviceBytesInUse).orElse(0L);
  }

  /** A backend on the host's CPU cores. */
  public static SubtreeFactorizer host() {
    return cpu().create(0);
  }

  private static QrBackendProvider cpu() {
    return find("cpu")
        .orElseThrow(
            () -> new BackendUnavailableException("no CPU backend on the class path", "cpu"));
  }

  private static Optional<QrBackendProvider> find(String name) {
    var loader =
        ServiceLoader.load(QrBackendProvider.class, QrBackendProvider.class.getClassLoader());
    var it = loader.iterator();
    while (true) {
      try {
        if (!it.hasNext()) {
          return Optional.empty();
        }
        QrBackendProvider p = it.next();
        if (p.name().equals(name)) {
          return Optional.of(p);
        }
      } catch (LinkageError | java.util.ServiceConfigurationError e) {
        LOG.debug("a backend that cannot be loaded", e);
      }
    }
  }
}
