/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.partition.DeviceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The backends of this JVM by name, and the choice among them. */
public final class Backends {

  private static final Logger LOG = LoggerFactory.getLogger(Backends.class);

  /** Flops a byte below which AUTO stays on the CPU. */
  static final String MINIMUM_INTENSITY = "spark.sparqr.cuda.minimumIntensity";

  /** Flops below which AUTO stays on the CPU. */
  static final String MINIMUM_FLOPS = "spark.sparqr.cuda.minimumFlops";

  private static final Map<String, Boolean> LOGGED = new ConcurrentHashMap<>();

  private Backends() {}

  /**
   * What was chosen.
   *
   * @param provider the backend
   * @param device ordinal, -1 for a CPU
   * @param reason why; one line
   */
  public record Chosen(QrBackendProvider provider, int device, String reason) {
    /** Whether it computes on a device. */
    public boolean onDevice() {
      return device >= 0;
    }
  }

  /**
   * Chooses for a task of this JVM.
   *
   * @param intensity flops / bytes of the fronts
   * @param flops of the factorization
   * @param device which of that many devices the task may use, if any
   * @throws BackendUnavailableException if CUDA is required and not there, or there is no CPU
   *     backend on the class path
   */
  public static Chosen choose(
      BackendChoice choice, double intensity, double flops, IntFunction<OptionalInt> device) {
    if (choice == BackendChoice.CPU) {
      return new Chosen(cpu(), -1, "asked for");
    }
    Optional<QrBackendProvider> cuda = find("cuda");
    String why = unusable(cuda);
    OptionalInt mine = why == null ? device.apply(cuda.get().devices()) : OptionalInt.empty();
    if (why == null && mine.isEmpty()) {
      why =
          "Spark gave the task no GPU (spark.executor.resource.gpu.amount,"
              + " spark.task.resource.gpu.amount)";
    }
    if (choice == BackendChoice.REQUIRE_CUDA) {
      if (why != null) {
        throw new BackendUnavailableException("CUDA is required: " + why, "cuda");
      }
      return new Chosen(cuda.get(), mine.getAsInt(), "required");
    }
    if (why == null) {
      why = tooLittle(cuda.get(), intensity, flops);
    }
    if (why == null) {
      String reason = String.format(Locale.ROOT, "arithmetic intensity %.1f", intensity);
      return new Chosen(cuda.get(), mine.getAsInt(), reason);
    }
    if (LOGGED.putIfAbsent(why, true) == null) {
      LOG.info("sparse QR on the CPU: {}", why);
    }
    return new Chosen(cpu(), -1, why);
  }

  /** Devices of this JVM. */
  static List<DeviceModel> devices() {
    Optional<QrBackendProvider> cuda = find("cuda");
    var list = new ArrayList<DeviceModel>();
    for (int d = 0; unusable(cuda) == null && d < cuda.get().devices(); d++) {
      list.add(cuda.get().device(d).orElseGet(DeviceModel::reference));
    }
    return list;
  }

  /** Device memory that this JVM holds at the moment. */
  public static long deviceBytesInUse() {
    return find("cuda").map(QrBackendProvider::deviceBytesInUse).orElse(0L);
  }

  /** Whether a problem is one for GPUs. */
  public static DeviceUse deviceUse(BackendChoice choice, double intensity, double flops) {
    Optional<QrBackendProvider> cuda =
        choice == BackendChoice.CPU ? Optional.empty() : find("cuda");
    if (cuda.isPresent() && choice == BackendChoice.REQUIRE_CUDA) {
      return DeviceUse.REQUIRED;
    }
    boolean enough = cuda.isPresent() && tooLittle(cuda.get(), intensity, flops) == null;
    return enough ? DeviceUse.WHERE_THERE : DeviceUse.NONE;
  }

  /** Why a problem stays on the CPU, null if it does not. */
  static String tooLittle(QrBackendProvider cuda, double intensity, double flops) {
    double leastIntensity = setting(MINIMUM_INTENSITY, cuda.minimumIntensity());
    if (intensity < leastIntensity) {
      return String.format(
          Locale.ROOT,
          "arithmetic intensity %.1f flops a byte is below the device's threshold %.1f",
          intensity,
          leastIntensity);
    }
    double leastFlops = setting(MINIMUM_FLOPS, cuda.minimumFlops());
    return flops >= leastFlops
        ? null
        : String.format(
            Locale.ROOT, "%.1e flops are below the device's threshold %.1e", flops, leastFlops);
  }

  /** A number of the Spark configuration, where there is one. */
  private static double setting(String key, double otherwise) {
    SparkEnv env = SparkEnv.get();
    String value = env == null ? null : env.conf().get(key, null);
    try {
      return value == null ? otherwise : Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(key + " = " + value + ": no number", e);
    }
  }

  private static String unusable(Optional<QrBackendProvider> cuda) {
    if (cuda.isEmpty()) {
      return "no CUDA backend in this build";
    }
    Optional<String> reason = cuda.get().unavailable();
    if (reason.isPresent()) {
      return reason.get();
    }
    return cuda.get().devices() == 0 ? "no CUDA device" : null;
  }

  /** A backend on the host's cores. */
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
